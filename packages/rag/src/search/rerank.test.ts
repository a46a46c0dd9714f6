import { describe, expect, it } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import type { VectorMatch } from '../store/index.js';
import { rerank, rerankWithScorer, selectByReranker } from './rerank.js';
import type { RelevanceScorer } from './score-texts.js';

const match = (id: string, score: number, document = id): VectorMatch => ({ id, score, document, metadata: {} });
const results = [match('a', 0.9), match('b', 0.8), match('c', 0.7), match('d', 0.6)];
const relevance: Record<string, number> = { a: 0.1, b: 0.2, c: 1, d: 0.9 };
const scorer: RelevanceScorer = { getRelevanceScore: async (_query, text) => relevance[text] ?? 0 };

describe('rerank', () => {
  it('adds relevance, score and position with the documented weights', async () => {
    const ranked = await rerank(results, 'q', scorer, { topK: 4 });
    expect(ranked.map(({ result, score }) => [result.id, score])).toEqual([
      ['c', expect.closeTo(0.4 * 1 + 0.4 * 0.7 + 0.2 * 0.5)],
      ['d', expect.closeTo(0.4 * 0.9 + 0.4 * 0.6 + 0.2 * 0.25)],
      ['a', expect.closeTo(0.4 * 0.1 + 0.4 * 0.9 + 0.2 * 1)],
      ['b', expect.closeTo(0.4 * 0.2 + 0.4 * 0.8 + 0.2 * 0.75)],
    ]);
    expect(ranked[0]?.details).toEqual({ semantic: 1, vector: 0.7, position: 0.5 });
  });

  it('resolves no model when there is no text to score', async () => {
    expect(await selectByReranker({ model: 'nobody/model' }, 'q', [], { topK: 3 })).toEqual([]);
    expect(await rerank([], 'q', 'nobody/model')).toEqual([]);
    expect(await rerank([match('a', 0.9, '')], 'q', 'nobody/model')).toMatchObject([{ details: { semantic: 0 } }]);
  });

  it('rejects with the abort reason before it resolves a model', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(rerank(results, 'q', 'nobody/model', { signal })).rejects.toThrow('enough');
  });

  it('returns three results by default', async () => {
    expect(await rerank(results, 'q', scorer)).toHaveLength(3);
  });

  it('fills and normalizes partial weights', async () => {
    const [best] = await rerank(results, 'q', scorer, { weights: { semantic: 1.4 } });
    expect(best).toMatchObject({ result: { id: 'c' }, score: expect.closeTo(0.7 * 1 + 0.2 * 0.7 + 0.1 * 0.5) });
    const bySearch = await rerank(results, 'q', scorer, { weights: { semantic: 0, vector: 1, position: 0 } });
    expect(bySearch.map(({ result }) => result.id)).toEqual(['a', 'b', 'c']);
  });

  it.each([{ semantic: -1 }, { semantic: Number.NaN }, { semantic: 0, vector: 0, position: 0 }, { other: 1 }])(
    'refuses weights such as %j',
    async (weights) => {
      await expectError(rerank(results, 'q', scorer, { weights }), 'OPTIONS_INVALID');
    },
  );

  it('takes the query vector into account as documented', async () => {
    const plain = await rerank(results, 'q', scorer);
    const [long] = await rerank(results, 'q', scorer, { queryEmbedding: [0, 12, -5, 1, 0, 0.5, 2] });
    expect(long?.score).toBeCloseTo((plain[0]?.score as number) * 1.1);
    expect(long?.details.queryAnalysis).toMatchObject({ dominantFeatures: [1, 2, 6, 3, 5] });
    const [middle] = await rerankWithScorer({ results, query: 'q', scorer, options: { queryEmbedding: [6] } });
    expect(middle?.score).toBeCloseTo((plain[0]?.score as number) * 1.05);
  });

  it('ends when the signal fires, although a scorer receives no signal', async () => {
    const controller = new AbortController();
    const stalled: RelevanceScorer = {
      getRelevanceScore: () => {
        setTimeout(() => controller.abort(new Error('enough')));
        return new Promise(() => undefined);
      },
    };
    await expect(rerank(results, 'q', stalled, { signal: controller.signal })).rejects.toThrow('enough');
  });

  it('rejects an invalid topK', async () => {
    for (const topK of [0, -1, 1.5, Number.NaN])
      await expectError(rerank(results, 'q', scorer, { topK }), 'OPTIONS_INVALID');
  });

  it('takes results of other stores, which may have no metadata', async () => {
    const bare = { id: 'a', score: 0.9, document: 'a' } as VectorMatch;
    expect(await rerank([bare, { id: 'n', score: 0.1 } as VectorMatch], 'q', scorer)).toMatchObject([
      { result: bare, details: { semantic: 0.1 } },
      { result: { id: 'n' }, details: { semantic: 0 } },
    ]);
  });

  it('rejects results without a score', async () => {
    for (const score of [Number.NaN, undefined as unknown as number])
      await expectError(rerank([...results, match('x', score)], 'q', scorer), 'OPTIONS_INVALID', "'x'");
  });

  it('has nothing to ask about no results', async () => {
    expect(await rerank([], 'q', { getRelevanceScore: () => Promise.reject(new Error('asked')) })).toEqual([]);
  });

  it('keeps the order of the search where scores are equal', async () => {
    const equal = ['x', 'y', 'z'].map((id) => match(id, 0.5));
    const same: RelevanceScorer = { getRelevanceScore: async () => 0.5 };
    const ranked = await rerank(equal, 'q', same, { weights: { position: 0 } });
    expect(ranked.map(({ result }) => result.id)).toEqual(['x', 'y', 'z']);
  });

  it('reads the text from metadata and does not score results without text', async () => {
    const asked: string[] = [];
    const noting: RelevanceScorer = { getRelevanceScore: async (_query, text) => asked.push(text) };
    const bare = { id: 'bare', score: 1, metadata: {} };
    await rerank([{ id: 't', score: 1, metadata: { text: 'from metadata' } }, bare], 'q', noting);
    expect(asked).toEqual(['from metadata']);
  });

  it('ranks results without a relevance by the other parts, and reports the error', async () => {
    const flaky: RelevanceScorer = {
      getRelevanceScore: async (query, text) => {
        if (text === 'b') throw new Error('429 slow down');
        return scorer.getRelevanceScore(query, text);
      },
    };
    const ranked = await rerank(results, 'q', flaky, { topK: 4 });
    const unjudged = ranked.find(({ result }) => result.id === 'b');
    expect(unjudged).toMatchObject({
      score: expect.closeTo((0.4 * 0.8 + 0.2 * 0.75) / 0.6),
      details: { error: '429 slow down' },
    });
  });

  it('fails when nothing could be judged', async () => {
    const cause = new Error('no access');
    const down: RelevanceScorer = { getRelevanceScore: () => Promise.reject(cause) };
    await expect(rerank(results, 'q', down)).rejects.toMatchObject({ code: 'RERANK_FAILED', cause });
    await expectError(rerank(results, 'q', {} as RelevanceScorer), 'OPTIONS_INVALID');
  });

  it('asks a scorer four questions at once, and none after an abort', async () => {
    let running = 0;
    let most = 0;
    let asked = 0;
    const abort = new AbortController();
    const slow: RelevanceScorer = {
      getRelevanceScore: async () => {
        most = Math.max(most, (running += 1));
        if ((asked += 1) === 12) abort.abort(new Error('enough'));
        await new Promise((resolve) => setTimeout(resolve, 1));
        running -= 1;
        return 1;
      },
    };
    const many = Array.from({ length: 100 }, (_, n) => match(`m${n}`, 0.5));
    await expect(rerank(many, 'q', slow, { signal: abort.signal })).rejects.toThrow('enough');
    expect(most).toBe(4);
    expect(asked).toBeLessThan(20);
  });
});
