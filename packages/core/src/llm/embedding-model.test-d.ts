import type { EmbeddingModel as EmbeddingModel5 } from 'ai-v5';
import type { EmbeddingModel as EmbeddingModel6 } from 'ai-v6';
import type { EmbeddingModel as EmbeddingModel7 } from 'ai-v7';
import { describe, it } from 'vitest';
import { ModelRouterEmbeddingModel } from './index.js';

describe('types of ModelRouterEmbeddingModel', () => {
  it('fits each AI SDK', () => {
    const model = new ModelRouterEmbeddingModel('openai/text-embedding-3-small');
    const models: [EmbeddingModel5<string>, EmbeddingModel6, EmbeddingModel7] = [model, model, model];
    void models;
    const newer: EmbeddingModel6 = new ModelRouterEmbeddingModel('openai/x', { specificationVersion: 'v3' });
    const newest: EmbeddingModel7 = new ModelRouterEmbeddingModel('openai/x', { specificationVersion: 'v4' });
    void [newer, newest];
  });
});
