import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAI as createOpenAI2 } from '@ai-sdk/openai-v2';
import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai-v3';
import { createOpenAI as createOpenAI4 } from '@ai-sdk/openai-v4';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { VectorMatch } from '../store/index.js';
import { rerank, rerankWithScorer, type RelevanceScorer, type RerankingModel } from './index.js';

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

  it('returns three results by default', async () => {
    expect(await rerank(results, 'q', scorer)).toHaveLength(3);
  });

  it('fills and normalises partial weights', async () => {
    const [best] = await rerank(results, 'q', scorer, { weights: { semantic: 1.4 } });
    expect(best).toMatchObject({ result: { id: 'c' }, score: expect.closeTo(0.7 * 1 + 0.2 * 0.7 + 0.1 * 0.5) });
    const bySearch = await rerank(results, 'q', scorer, { weights: { semantic: 0, vector: 1, position: 0 } });
    expect(bySearch.map(({ result }) => result.id)).toEqual(['a', 'b', 'c']);
  });

  it.each([{ semantic: -1 }, { semantic: Number.NaN }, { semantic: 0, vector: 0, position: 0 }, { other: 1 }])(
    'refuses weights such as %j',
    async (weights) => {
      await expect(rerank(results, 'q', scorer, { weights })).rejects.toMatchObject({ code: 'RERANK_WEIGHTS_INVALID' });
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

  it('keeps the order of the search where scores are equal', async () => {
    const equal = ['x', 'y', 'z'].map((id) => match(id, 0.5));
    const same: RelevanceScorer = { getRelevanceScore: async () => 0.5 };
    const ranked = await rerank(equal, 'q', same, { weights: { position: 0 } });
    expect(ranked.map(({ result }) => result.id)).toEqual(['x', 'y', 'z']);
  });

  it('reads the text from metadata and asks nothing about results without one', async () => {
    const asked: string[] = [];
    const noting: RelevanceScorer = { getRelevanceScore: async (_query, text) => asked.push(text) };
    const bare = { id: 'bare', score: 1, metadata: {} };
    await rerank([{ id: 't', score: 1, metadata: { text: 'from metadata' } }, bare], 'q', noting);
    expect(asked).toEqual(['from metadata']);
  });

  it('ranks results that could not be judged by the other parts, and says so', async () => {
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
    await expect(rerank(results, 'q', {} as RelevanceScorer)).rejects.toMatchObject({ code: 'RERANK_MODEL_INVALID' });
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

  it('asks a reranking model once for the whole list', async () => {
    const calls: number[] = [];
    const model: RerankingModel = {
      modelId: 'rerank-v3.5',
      doRerank: async ({ documents }) => {
        calls.push(documents.values.length);
        const ranking = documents.values.map((text, index) => ({ index, relevanceScore: relevance[text] ?? 0 }));
        return { ranking: ranking.toSorted((a, b) => b.relevanceScore - a.relevanceScore) };
      },
    };
    expect((await rerank(results, 'q', model)).map(({ result }) => result.id)).toEqual(['c', 'd', 'a']);
    expect(calls).toEqual([4]);
  });
});

describe('a language model as judge', () => {
  let server: Server;
  let baseURL: string;
  let requests: { passages: { passage: number; text: string }[]; query: string }[];
  let answer: (passages: { passage: number; text: string }[]) => string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        const { messages } = JSON.parse(body) as { messages: { content: string | { text: string }[] }[] };
        const content = messages.at(-1)?.content ?? '';
        const question = JSON.parse(
          typeof content === 'string' ? content : (content[0]?.text ?? ''),
        ) as (typeof requests)[0];
        requests.push(question);
        const message = { role: 'assistant', content: answer(question.passages) };
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({
            id: 'x',
            object: 'chat.completion',
            created: 1,
            model: 'm',
            choices: [{ index: 0, message, finish_reason: 'stop' }],
            usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          }),
        );
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    requests = [];
    answer = (passages) =>
      JSON.stringify({ scores: passages.map(({ passage, text }) => ({ passage, score: relevance[text] ?? 0 })) });
  });

  it.each([
    ['5', () => createOpenAI2({ apiKey: 'k', baseURL }).chat('gpt-4o')],
    ['6', () => createOpenAI3({ apiKey: 'k', baseURL }).chat('gpt-4o')],
    ['7', () => createOpenAI4({ apiKey: 'k', baseURL }).chat('gpt-4o')],
  ])('of AI SDK %s is asked once for twenty results', async (_version, create) => {
    const twenty = [...results, ...Array.from({ length: 16 }, (_, n) => match(`m${n}`, 0.5))];
    const ranked = await rerank(twenty, 'which?', create());
    expect(ranked.map(({ result }) => result.id)).toEqual(['c', 'd', 'a']);
    expect(requests).toMatchObject([{ query: 'which?', passages: { length: 20 } }]);
  });

  it('may wrap its answer in prose, and may leave passages out', async () => {
    answer = () => 'Here:\n```json\n{"scores":[{"passage":3,"score":1},{"passage":99,"score":1}]}\n```';
    const ranked = await rerank(results, 'q', createOpenAI4({ apiKey: 'k', baseURL }).chat('gpt-4o'), { topK: 4 });
    expect(ranked.filter(({ details }) => details.error === undefined).map(({ result }) => result.id)).toEqual(['c']);
  });

  it('that does not answer with scores fails the call', async () => {
    answer = () => 'I would rather not.';
    const failing = rerank(results, 'q', createOpenAI4({ apiKey: 'k', baseURL }).chat('gpt-4o'));
    await expect(failing).rejects.toMatchObject({
      code: 'RERANK_FAILED',
      message: expect.stringContaining('rather not'),
    });
  });
});
