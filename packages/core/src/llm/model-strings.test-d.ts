import type { EmbeddingModel as EmbeddingModel5, LanguageModel as LanguageModel5 } from 'ai-v5';
import type { EmbeddingModel as EmbeddingModel6, LanguageModel as LanguageModel6 } from 'ai-v6';
import type { EmbeddingModel as EmbeddingModel7, LanguageModel as LanguageModel7 } from 'ai-v7';
import { describe, expectTypeOf, it } from 'vitest';
import { ModelRouterEmbeddingModel, type ResolvedLanguageModel } from './index.js';

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

describe('types of resolveLanguageModel', () => {
  it('fit each AI SDK', () => {
    expectTypeOf<ResolvedLanguageModel>().toExtend<LanguageModel5>();
    expectTypeOf<ResolvedLanguageModel>().toExtend<LanguageModel6>();
    expectTypeOf<ResolvedLanguageModel>().toExtend<LanguageModel7>();
  });
});
