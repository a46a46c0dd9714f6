import { expect, it } from 'vitest';
import type { CustomEmbedder } from '../embedding/index.js';
import { retrieve } from '../retrieve/retrieve.js';
import { LocalVector } from '../stores/local/index.js';

const indexName = 'docs';
const queryVector = [1, 0];

/** The first record is near the query; the others are far from it, and 1° from each other. */
async function fill(count: number): Promise<LocalVector> {
  const store = new LocalVector();
  await store.createIndex({ indexName, dimension: 2 });
  const angles = Array.from({ length: count }, (_, at) => ((at === 0 ? 5 : 60 + at / 4) * Math.PI) / 180);
  await store.upsert({
    indexName,
    ids: angles.map((_, at) => `r${at}`),
    vectors: angles.map((angle) => [Math.cos(angle), Math.sin(angle)]),
    documents: angles.map((_, at) => (at === 0 ? 'Write logs in a file that rotates.' : `Text ${at} of a bridge.`)),
    metadata: angles.map((_, at) => ({ title: `Document ${at}` })),
  });
  return store;
}

const embedder = (hybridWeight?: number): CustomEmbedder => ({
  id: 'two-dimensions',
  dimension: 2,
  ...(hybridWeight !== undefined && { hybridWeight }),
  embed: async (texts) => texts.map(() => queryVector),
});
const question = 'output that grows: rotate files';

it.each(['vector', 'hybrid'] as const)('rates the lead of a vector, in the mode %s', async (mode) => {
  const vectorStore = await fill(60);
  const found = await vectorStore.query({ indexName, mode, queryVector, queryText: question, topK: 40 });
  const similarities = found.map(({ score }) => score);
  const [first, second] = found;
  expect(first?.id).toBe('r0');
  expect(first?.standsOut).toBeGreaterThan(4);
  expect(second?.standsOut).toBeLessThan(3);
  expect(found.filter(({ standsOut }) => standsOut !== undefined)).toHaveLength(19);
  if (mode === 'vector') {
    const [best, tenth, twentieth, last] = [0, 9, 19, 39].map((at) => similarities[at] as number) as [
      number,
      number,
      number,
      number,
    ];
    expect(first?.standsOut).toBeCloseTo((best - twentieth) / Math.max(tenth - twentieth, twentieth - last));
  }
  const [few] = await (await fill(39)).query({ indexName, mode, queryVector, queryText: question, topK: 40 });
  expect(few).not.toHaveProperty('standsOut');
});

it('adds it to the confidence of embedders whose vectors have a meaning, and of no others', async () => {
  const ask = (vectorStore: LocalVector, mode: 'keyword' | 'vector' | 'hybrid', hybridWeight?: number) => {
    const fusion = { vector: 1 };
    return retrieve({ vectorStore, indexName, model: embedder(hybridWeight), question, mode, fusion, topK: 1 });
  };
  const [large, small] = [await fill(60), await fill(39)];
  const [words] = (await ask(large, 'keyword')).matches;
  for (const mode of ['vector', 'hybrid'] as const) {
    const [meaning] = (await ask(large, mode)).matches;
    expect(meaning?.confidence).toBeGreaterThan((words?.confidence as number) + 0.2);
    expect(meaning).not.toHaveProperty('standsOut');
    for (const same of [await ask(large, mode, 0), await ask(small, mode)])
      expect(same.matches[0]).toMatchObject({ id: 'r0', confidence: words?.confidence });
  }
  const options = { vectorStore: large, indexName, question, mode: 'hybrid', minConfidence: 0.5 } as const;
  expect(await retrieve({ ...options, model: embedder() })).not.toHaveProperty('nothingFound');
  const rejected = await retrieve({ ...options, model: embedder(0) });
  expect(rejected).toMatchObject({ matches: [], nothingFound: true, nearestTopics: ['Document 0'] });
});
