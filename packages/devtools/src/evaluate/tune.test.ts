import { describe, expect, it } from 'vitest';
import { createLexicalEmbedder, MDocument } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import type { RetrievalCase } from '@quiver/rag/evaluate';
import { expectError } from '../../../../scripts/test-error.ts';
import { tune, type TuneOptions } from './tune.js';

const embedder = createLexicalEmbedder({ dimension: 256 });
const words = ['amber', 'birch', 'coral', 'dusk', 'ember', 'fjord', 'grove', 'heath', 'inlet', 'jetty'];
/** One document per word; sentence n of each says the same with another number. */
const documents = words.map((word) =>
  MDocument.fromText(
    Array.from(
      { length: 5 },
      (_, number) => `The ${word} of station ${number} weighs ${number + 3} tons in winter.`,
    ).join('\n\n'),
    { source: `${word}.txt` },
  ),
);
const cases: RetrievalCase[] = words.flatMap((word) =>
  Array.from({ length: 5 }, (_, number) => ({
    question: `What does the ${word} of station ${number} weigh?`,
    relevant: [{ quote: `The ${word} of station ${number} weighs ${number + 3} tons`, source: `${word}.txt` }],
  })),
);
const run = (options: Partial<TuneOptions> = {}): ReturnType<typeof tune> =>
  tune({
    documents,
    cases,
    vectorStore: new LocalVector(),
    model: embedder,
    grid: { chunkSize: [60, 400] },
    metric: 'recallAt5',
    ...options,
  });

describe('tune', () => {
  it('measures every combination, and the winner alone with the cases that are held out', async () => {
    const store = new LocalVector();
    const seen = new Set<string>();
    const grid = {
      chunkSize: [60, 400],
      mode: ['keyword', 'hybrid'],
      fusion: [{ vector: 0 }, { vector: 1 }],
      topK: [1, 5],
    } as const;
    const {
      winner,
      heldOut,
      candidates,
      cases: counts,
    } = await run({
      vectorStore: store,
      grid,
      onProgress: ({ configuration }) => seen.add(configuration),
    });
    expect(candidates).toHaveLength(2 * 3 * 2);
    expect(seen.size).toBe(12);
    expect(counts).toEqual({ tuning: 35, heldOut: 15 });
    expect(heldOut.questions).toHaveLength(15);
    expect(heldOut.metrics.recallAt5?.mean).toBeGreaterThan(0.9);
    expect(heldOut.topK).toBe(winner.topK);
    const means = candidates.map(({ value }) => value.mean);
    expect(means).toEqual(means.toSorted((a, b) => b - a));
    expect(await store.listIndexes()).toEqual([]);
  });

  it('prefers the shortest results among candidates that are equally good within the tolerance', async () => {
    const { candidates, winner } = await run({ grid: { chunkSize: [60, 400], topK: [1, 5] } });
    const best = candidates[0]?.value.mean as number;
    const equal = candidates.filter(({ value }) => value.mean >= best - 0.01);
    const shortest = Math.min(...equal.map(({ contextCharacters }) => contextCharacters));
    expect(equal.length).toBeGreaterThan(1);
    expect(equal.find(({ contextCharacters }) => contextCharacters === shortest)?.settings).toEqual(winner);
  });

  it('accepts vectorStore and model', async () => {
    const options = { documents, cases, grid: { chunkSize: [400] }, metric: 'recallAt5' } as const;
    const { winner } = await tune({ ...options, vectorStore: new LocalVector(), model: embedder });
    expect(winner).toEqual({ chunkSize: 400, mode: 'keyword', topK: 5 });
  });

  it('holds out the same cases again', async () => {
    const heldOut = async (): Promise<string[]> =>
      (await run({ grid: { chunkSize: [400] } })).heldOut.questions.map(({ question }) => question);
    expect(await heldOut()).toEqual(await heldOut());
  });

  it('refuses to choose with too few cases', async () => {
    await expectError(run({ cases: cases.slice(0, 42) }), 'CASES_TOO_FEW', 'not 29 and 13');
    await expectError(run({ heldOut: 0.1 }), 'CASES_TOO_FEW');
    for (const heldOut of [0, 1, Number.NaN]) await expectError(run({ heldOut }), 'CASES_TOO_FEW');
  });

  it('learns the weight of the vectors from 20 cases', async () => {
    /** Vectors that know nothing: keyword search is better with less of them. */
    const noise = {
      id: 'noise',
      embed: async (texts: readonly string[]) =>
        texts.map((text) => [Math.sin(text.length * 7), Math.cos(text.length)]),
    };
    const options = {
      cases: cases.slice(0, 20),
      model: noise,
      grid: { chunkSize: [60], mode: ['hybrid'] },
    } as const;
    const { winner, candidates, cases: counts } = await run({ ...options, metric: 'mrrAt10' });
    expect(candidates.map(({ settings }) => settings.fusion?.vector).toSorted()).toEqual([0.25, 0.5, 1, 2, 4]);
    expect(counts).toEqual({ tuning: 14, heldOut: 6 });
    const valueOf = (weight: number | undefined): number =>
      candidates.find(({ settings }) => settings.fusion?.vector === weight)?.value.mean ?? 0;
    expect(valueOf(winner.fusion?.vector)).toBeGreaterThanOrEqual(valueOf(4));
    expect(winner.fusion?.vector).toBeLessThanOrEqual(1);
    await expectError(run({ ...options, cases: cases.slice(0, 18) }), 'CASES_TOO_FEW');
  });

  it('makes cases from the documents when none are given, and says whether the vectors fit them', async () => {
    const { cases: counts, candidates, finding } = await run({ cases: undefined as never });
    expect(counts).toEqual({ tuning: 35, heldOut: 15 });
    expect(candidates).toHaveLength(2);
    expect(finding).toMatch(/^Keyword search finds \d+ of \d+ questions/);
  });

  it('rejects invalid options and an index that exists, which it keeps', async () => {
    for (const options of [
      { grid: {} },
      { grid: { chunkSize: [] } },
      { grid: undefined },
      { metric: 'recall' },
      { cases: [] },
      { documents: documents.values() },
      { vectorStore: undefined },
      { chunkSizes: [60] },
      { grid: { chunkSize: [60], modes: ['keyword'] } },
      { grid: { chunkSize: [60], mode: 'keyword' } },
    ])
      await expect(run(options as never), JSON.stringify(options)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(run({ grid: { chunkSize: [60], modes: ['keyword'] } as never })).rejects.toThrow(
      "tune has no option 'grid.modes'. Did you mean 'grid.mode'? The options of 'grid' are: chunkSize, mode, fusion, topK.",
    );
    const store = new LocalVector();
    await store.createIndex({ indexName: 'tune-60', dimension: 3 });
    await expectError(run({ vectorStore: store }), 'OPTIONS_INVALID');
    expect(await store.listIndexes()).toEqual(['tune-60']);
  });

  it('removes its indexes after an error, and when it is aborted', async () => {
    const store = new LocalVector();
    await expectError(
      run({ vectorStore: store, cases: cases.map((one) => ({ ...one, relevant: [{ id: 'x' }] })) }),
      'CASES_NOT_FOUND',
    );
    const stop = new AbortController();
    const reason = new Error('enough');
    const onProgress = (): void => stop.abort(reason);
    await expect(run({ vectorStore: store, onProgress, signal: stop.signal })).rejects.toBe(reason);
    expect(await store.listIndexes()).toEqual([]);
  });
});
