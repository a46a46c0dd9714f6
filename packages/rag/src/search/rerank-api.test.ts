import type { IncomingHttpHeaders } from 'node:http';
import { json } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { VectorMatch } from '../store/vector-store.js';
import { createReranker, type RerankProvider } from './rerank-api.js';
import { serve } from '../http-server.fixture.js';
import { rerank } from './rerank.js';

let requests: { path: string | undefined; headers: IncomingHttpHeaders; body: unknown }[];
let statuses: number[];
let answer: ((path: string | undefined) => string) | undefined;

/** A server that speaks the rerank APIs: the relevance of a text is its length divided by 10. */
const url = await serve((request, response) => {
  void json(request).then((body) => {
    requests.push({ path: request.url, headers: request.headers, body });
    const status = statuses.shift() ?? 200;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' });
    if (status !== 200) return response.end('{"detail":"refused"}');
    const { documents } = body as { documents: string[] };
    const ranking = documents.map((text, index) => ({ index, relevance_score: text.length / 10 })).toReversed();
    const member = request.url?.includes('voyage') ? { data: ranking } : { results: ranking };
    return response.end(answer?.(request.url) ?? JSON.stringify(member));
  });
});
beforeEach(() => {
  requests = [];
  statuses = [];
  answer = undefined;
});

const match = (id: string, score: number): VectorMatch => ({ id, score, document: id, metadata: {} });
const results = [match('a', 0.9), match('bbbb', 0.8), match('cc', 0.7)];
const weights = { semantic: 1, vector: 0, position: 0 };
const create = (provider: RerankProvider = 'cohere'): ReturnType<typeof createReranker> =>
  createReranker({ provider, model: 'm', apiKey: 'key', url: `${url}/${provider}` });

describe('createReranker', () => {
  it.each<RerankProvider>(['cohere', 'voyage', 'jina', 'zeroentropy'])(
    'ranks with one request to %s',
    async (provider) => {
      const ranked = await rerank(results, 'which?', create(provider), { weights });
      expect(ranked.map(({ result, score }) => [result.id, score])).toEqual([
        ['bbbb', 0.4],
        ['cc', 0.2],
        ['a', 0.1],
      ]);
      expect(requests).toHaveLength(1);
      expect(requests[0]).toMatchObject({
        headers: { authorization: 'Bearer key' },
        body: { model: 'm', query: 'which?', documents: ['a', 'bbbb', 'cc'] },
      });
    },
  );

  it('repeats a request after a transient status, and no other', async () => {
    statuses = [429, 503];
    expect(await rerank(results, 'which?', create())).toHaveLength(3);
    expect(requests).toHaveLength(3);
    statuses = [401];
    await expect(rerank(results, 'which?', create())).rejects.toMatchObject({
      code: 'RERANK_FAILED',
      cause: { code: 'RERANK_REQUEST_FAILED', details: { status: 401 }, message: expect.stringContaining('refused') },
    });
    expect(requests).toHaveLength(4);
  });

  it.each(['no JSON', 'null', '{"results":{}}'])('reports the answer %s', async (text) => {
    answer = () => text;
    await expect(rerank(results, 'which?', create())).rejects.toMatchObject({
      cause: { code: 'RERANK_ANSWER_INVALID' },
    });
  });

  it('reports texts without a score', async () => {
    answer = () => '{"results":[{"index":1,"relevance_score":0.5},null,{"index":0,"relevance_score":"high"}]}';
    const ranked = await rerank(results, 'which?', create());
    expect(ranked.map(({ result, details }) => [result.id, details.error !== undefined]).toSorted()).toEqual([
      ['a', true],
      ['bbbb', false],
      ['cc', true],
    ]);
  });

  it('reports an answer that breaks off as a transient error', async () => {
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error('reset')) });
    const fetch = vi.fn(async () => new Response(broken));
    const model = createReranker({ provider: 'jina', model: 'm', apiKey: 'key', fetch });
    await expect(model.doRerank({ query: 'which?', documents: { type: 'text', values: ['a'] } })).rejects.toMatchObject(
      { code: 'RERANK_REQUEST_FAILED', isRetryable: true },
    );
  });

  it('keeps a key that no header can contain out of the message', () => {
    const create = (): unknown => createReranker({ provider: 'jina', model: 'm', apiKey: 'sec\nret' });
    expect(create).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(create).toThrow(expect.objectContaining({ message: expect.not.stringContaining('sec') }));
  });

  it('reads the key from the environment, and needs provider, model and key', () => {
    const options = { provider: 'voyage' as const, model: 'rerank-2.5' };
    vi.stubEnv('VOYAGE_API_KEY', '');
    expect(() => createReranker(options)).toThrow('VOYAGE_API_KEY');
    vi.stubEnv('VOYAGE_API_KEY', 'secret');
    expect(createReranker(options)).toMatchObject({ modelId: 'rerank-2.5' });
    vi.unstubAllEnvs();
    expect(() => createReranker({ ...options, provider: 'toString' as never })).toThrow("one of 'cohere', 'voyage'");
    expect(() => createReranker({ ...options, model: '' })).toThrow("'model' must be");
  });
});

describe('a function that scores a list', () => {
  it('receives all texts at once', async () => {
    const calls: unknown[] = [];
    const crossEncoder = async (query: string, texts: readonly string[]): Promise<number[]> => {
      calls.push([query, texts]);
      return texts.map((text) => text.length / 10);
    };
    const ranked = await rerank(results, 'which?', crossEncoder, { weights });
    expect(ranked.map(({ result }) => result.id)).toEqual(['bbbb', 'cc', 'a']);
    expect(calls).toEqual([['which?', ['a', 'bbbb', 'cc']]]);
  });
});

describe('the budget of a reranker', () => {
  it('keeps the order of the search when the model takes longer', async () => {
    const never = (): Promise<number[]> => new Promise(() => undefined);
    for (const options of [{}, { weights }]) {
      const ranked = await rerank(results, 'which?', never, { ...options, budget: 1 });
      expect(ranked.map(({ result }) => result.id)).toEqual(['a', 'bbbb', 'cc']);
      expect(ranked[0]?.details.error).toBe('The model did not score the results within 1 ms.');
    }
  });

  it('keeps a process alive that waits for nothing else, and not for longer than the model takes', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    let answer = (_scores: number[]): void => undefined;
    const before = timers();
    const ranked = rerank(results, 'which?', () => new Promise((resolve) => (answer = resolve)), { budget: 60_000 });
    expect(timers()).toBe(before + 1);
    answer([1, 1, 1]);
    await ranked;
    expect(timers()).toBe(before);
  });

  it('keeps an order that is not that of the scores, as of diverse results', async () => {
    const never = (): Promise<number[]> => new Promise(() => undefined);
    const diverse = [match('a', 0.5), match('b', 0.9), match('c', 0.4)];
    const ranked = await rerank(diverse, 'which?', never, { budget: 1 });
    expect(ranked.map(({ result }) => result.id)).toEqual(['a', 'b', 'c']);
  });

  it('does not hide another error or the abort of the caller', async () => {
    const failing = (): Promise<number[]> => Promise.reject(new Error('broken'));
    await expect(rerank(results, 'which?', failing, { budget: 1e12 })).rejects.toMatchObject({ code: 'RERANK_FAILED' });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(rerank(results, 'which?', failing, { budget: 1e12, signal })).rejects.toThrow('enough');
    await expect(rerank(results, 'which?', failing, { budget: 0 })).rejects.toThrow('budget');
  });
});
