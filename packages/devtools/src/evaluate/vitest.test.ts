import { beforeAll, describe, expect, it } from 'vitest';
import { LocalVector } from '@quiver/rag/local';
import type { RetrievalCase } from '@quiver/rag/evaluate';
import { retrievalMatchers } from './vitest.js';

expect.extend(retrievalMatchers);

const store = new LocalVector();
const index = { vectorStore: store, indexName: 'docs', mode: 'keyword' } as const;
const cases: RetrievalCase[] = [
  { question: 'Who sails a brig?', relevant: [{ quote: 'A brig has two masts' }] },
  { question: 'Where does the cat sleep?', relevant: [{ quote: 'The dog barks' }] },
];

beforeAll(async () => {
  await store.createIndex({ indexName: 'docs', dimension: 1 });
  await store.upsert({
    indexName: 'docs',
    vectors: [[1], [1], [1]],
    documents: ['A brig has two masts.', 'The cat sleeps all day.', 'The dog barks.'],
    metadata: [{ source: 'ships.md' }, { source: 'cat.md' }, { source: 'dog.md' }],
  });
});

describe('toReach', () => {
  it('accepts retrieval that reaches the minimum of every metric', async () => {
    await expect(index).toReach(cases.slice(0, 1), { recallAt5: 1, mrrAt10: 1 });
    await expect(index).toReach(cases, { recallAt5: 0.5 });
    await expect(index).not.toReach(cases, { recallAt5: 0.6 });
  });

  it('accepts a function', async () => {
    const retrieve = async (): Promise<{ text: string }[]> => [{ text: 'A brig has two masts.' }];
    await expect({ vectorStore: store, indexName: 'docs', retrieve }).toReach(cases.slice(0, 1), { recallAt1: 1 });
  });

  it('names the missed questions, what they need, and what was found instead', async () => {
    const { pass, message } = await retrievalMatchers.toReach(index, cases, { recallAt5: 0.85, hitRateAt5: 0.2 });
    expect(pass).toBe(false);
    expect(message()).toBe(
      [
        "Expected 'docs' to reach recallAt5 0.85 (it is 0.500), hitRateAt5 0.2 (it is 0.500).",
        '',
        'Where does the cat sleep?',
        '  missed: the quote “The dog barks”',
        '  1. ✗ cat.md: The cat sleeps all day.',
      ].join('\n'),
    );
  });

  it('limits the questions of its message', async () => {
    const many = Array.from({ length: 14 }, (_, number) => ({
      question: `xyz ${number}`,
      relevant: [{ quote: 'brig' }],
    }));
    const { message } = await retrievalMatchers.toReach(index, many, { recallAt5: 0.5 });
    expect(message()).toContain('found: nothing');
    expect(message()).toMatch(/and 4 more questions$/);
  });

  it('rejects an invalid minimum and anything that is not an index', async () => {
    const code = { code: 'OPTIONS_INVALID' };
    await expect(retrievalMatchers.toReach(index, cases, {})).rejects.toMatchObject(code);
    await expect(retrievalMatchers.toReach(index, cases, { recallAt5: 85 })).rejects.toMatchObject(code);
    await expect(retrievalMatchers.toReach(index, cases, { recallAt5: Number.NaN })).rejects.toMatchObject(code);
    await expect(retrievalMatchers.toReach('docs', cases, { recallAt5: 0.8 })).rejects.toMatchObject({
      ...code,
      message: expect.stringContaining("evaluateRetrieval needs 'vectorStore'"),
    });
    await expect(
      retrievalMatchers.toReach({ ...index, reranking: {} }, cases, { recallAt5: 0.8 }),
    ).rejects.toMatchObject({
      ...code,
      message: expect.stringContaining("The configuration 'docs' has no option 'reranking'. Did you mean 'reranker'?"),
    });
    await expect(retrievalMatchers.toReach(index, [], { recallAt5: 0.8 })).rejects.toMatchObject(code);
  });
});
