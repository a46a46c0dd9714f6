import type { ServerResponse } from 'node:http';
import { createOpenAI as createOpenAI2 } from '@ai-sdk/openai-v2';
import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai-v3';
import { createOpenAI as createOpenAI4 } from '@ai-sdk/openai-v4';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LocalVector } from '../stores/local/index.js';
import { cacheEmbeddings, storeEmbeddingCache } from './cache-embeddings.js';
import type { EmbeddingUsage } from './embedder.js';
import { toEmbedder, type EmbedderInput } from './to-embedder.js';
import { serve } from '../http-server.fixture.js';
import { truncateEmbeddings } from './truncate-embeddings.js';

interface EmbeddingRequest {
  input: string[];
  dimensions?: number;
}

let requests: EmbeddingRequest[];
let answer: (request: EmbeddingRequest, response: ServerResponse) => void;

function sendVectors(response: ServerResponse, vectors: unknown[], tokens = 1): void {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({ object: 'list', model: 'm', data, usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  );
}

function sendError(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' });
  response.end(JSON.stringify({ error: { message: `status ${status}`, type: 'x', param: null, code: null } }));
}

const answerWith =
  (toVector: (text: string) => number[]): typeof answer =>
  ({ input }, response) =>
    sendVectors(response, input.map(toVector));

/** A server that speaks OpenAI's protocol; each test says how it answers. */
const baseURL = await serve((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (part: string) => (body += part));
  request.on('end', () => {
    const parsed = JSON.parse(body) as EmbeddingRequest;
    requests.push(parsed);
    answer(parsed, response);
  });
});

beforeEach(() => {
  requests = [];
  answer = answerWith((text) => [text.length, 1]);
});

afterEach(() => void vi.unstubAllEnvs());

const model = (): EmbedderInput => createOpenAI4({ apiKey: 'k', baseURL }).embedding('text-embedding-3-small');
const failure = (texts = ['a']): Promise<unknown> =>
  toEmbedder(model())
    .embed(texts)
    .catch((error: unknown) => error);

describe('an AI SDK embedding model', () => {
  test.each([
    ['5', (): EmbedderInput => createOpenAI2({ apiKey: 'k', baseURL }).embedding('text-embedding-3-small')],
    ['6', (): EmbedderInput => createOpenAI3({ apiKey: 'k', baseURL }).embedding('text-embedding-3-small')],
    ['7', model],
  ])('of AI SDK %s embeds texts in order', async (_version, create) => {
    const embedder = toEmbedder(create());
    expect(embedder.dimension).toBeUndefined();
    expect(await embedder.embed(['a', 'bbb'], { purpose: 'query' })).toEqual([
      Float32Array.of(1, 1),
      Float32Array.of(3, 1),
    ]);
    expect(embedder).toMatchObject({ id: 'openai/text-embedding-3-small', dimension: 2 });
  });

  test('named by a string is the same model', async () => {
    vi.stubEnv('OPENAI_BASE_URL', baseURL);
    vi.stubEnv('OPENAI_API_KEY', 'k');
    const embedder = toEmbedder(' openai/text-embedding-3-small\t');
    expect(embedder.id).toBe(toEmbedder(model()).id);
    expect(await embedder.embed(['abc'])).toEqual([Float32Array.of(3, 1)]);
  });

  test('gets as many texts at once as it takes, and answers keep their order', async () => {
    const inOrder = answerWith((text) => [Number(text), 1]);
    answer = (...given) => setTimeout(() => inOrder(...given), requests.length === 1 ? 50 : 0);
    const texts = Array.from({ length: 5000 }, (_, index) => String(index));
    const vectors = await toEmbedder(model()).embed(texts);
    expect(requests.map(({ input }) => input.length).sort()).toEqual([2048, 2048, 904]);
    expect(vectors.map(([first]) => first)).toEqual(texts.map(Number));
  });

  test('gets no more than 300,000 bytes at once, unless one text is longer', async () => {
    const texts = ['a'.repeat(200_000), 'b'.repeat(100_000), 'c', 'é'.repeat(200_000), 'd'];
    await toEmbedder(model()).embed(texts);
    const sizes = requests.map(({ input }) => input.map((text) => text.length));
    expect(sizes.toSorted(([a = 0], [b = 0]) => a - b)).toEqual([[1], [1], [200_000, 100_000], [200_000]]);
  });

  test('is asked four times at once at most, by all calls together', async () => {
    let running = 0;
    let most = 0;
    const embedder = toEmbedder(
      modelThat(async (text) => {
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setTimeout(resolve, 1));
        running -= 1;
        return [text.length];
      }),
    );
    const calls = await Promise.all(['a', 'bb', 'ccc'].map((text) => embedder.embed(Array(5).fill(text))));
    expect(calls.map((vectors) => vectors.map(([first]) => first))).toEqual([1, 2, 3].map((n) => Array(5).fill(n)));
    expect(most).toBe(4);
  });

  test('gets the options of its provider', async () => {
    await toEmbedder(model(), { providerOptions: { openai: { dimensions: 2 } } }).embed(['a']);
    expect(requests[0]).toMatchObject({ dimensions: 2 });
  });

  test('is called again after a transient error, twice at most', async () => {
    answer = (_request, response) => (requests.length < 3 ? sendError(response, 429) : sendVectors(response, [[1]]));
    expect(await toEmbedder(model()).embed(['a'])).toEqual([Float32Array.of(1)]);
    requests = [];
    answer = (_request, response) => sendError(response, 503);
    expect(await failure()).toMatchObject({ code: 'EMBEDDING_FAILED', cause: { statusCode: 503 } });
    expect(requests).toHaveLength(3);
  });

  test('is not called again after a permanent error', async () => {
    answer = (_request, response) => sendError(response, 401);
    expect(await failure()).toMatchObject({
      code: 'EMBEDDING_FAILED',
      message: expect.stringContaining('status 401') as string,
    });
    expect(requests).toHaveLength(1);
  });

  test('is refused when it answers with too few vectors', async () => {
    answer = (_request, response) => sendVectors(response, [[1, 2]]);
    expect(await failure(['a', 'b'])).toMatchObject({
      code: 'EMBEDDING_INVALID',
      message: expect.stringContaining('given 2 texts and answered with 1 vectors'),
    });
  });

  test('has the dimension of its last vectors, so that a wrong first response does not stay', async () => {
    const embedder = toEmbedder(model());
    await embedder.embed(['a']);
    answer = (_request, response) => sendVectors(response, [[1, 2, 3]]);
    expect(await embedder.embed(['a'])).toEqual([Float32Array.of(1, 2, 3)]);
    expect(embedder.dimension).toBe(3);
  });

  /** A model that takes one text at a time; only what it is asked matters. */
  function modelThat(
    doEmbed: (text: string, signal: AbortSignal) => Promise<number[]>,
    parallel = true,
  ): EmbedderInput {
    return {
      specificationVersion: 'v3',
      provider: 'p',
      modelId: 'm',
      maxEmbeddingsPerCall: 1,
      supportsParallelCalls: parallel,
      doEmbed: async ({ values: [text = ''], abortSignal }: { values: string[]; abortSignal: AbortSignal }) => ({
        embeddings: [await doEmbed(text, abortSignal)],
      }),
    } as EmbedderInput;
  }

  test('receives an abort when another request of the call has failed', async () => {
    let stopped: unknown;
    const embedder = toEmbedder(
      modelThat((text, signal) => {
        if (text === 'bad') return Promise.reject(new Error('no'));
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped = signal.reason;
            reject(signal.reason as Error);
          });
        });
      }),
    );
    await expect(embedder.embed(['good', 'bad', 'later'])).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
    expect(stopped).toMatchObject({ message: 'no' });
  });

  test('does not delay an aborted call while it is busy', async () => {
    const signals: AbortSignal[] = [];
    const embedder = toEmbedder(
      modelThat((_text, signal) => (signals.push(signal), new Promise(() => undefined)), false),
    );
    const controller = new AbortController();
    const reason = new Error('enough');
    const running = embedder.embed(['a'], { signal: controller.signal });
    const queued = embedder.embed(['b'], { signal: controller.signal });
    setTimeout(() => controller.abort(reason));
    await expect(running).rejects.toBe(reason);
    await expect(queued).rejects.toBe(reason);
    expect(signals.map((signal) => signal.reason as unknown)).toEqual([reason]);
  });

  test('is inspected again after the inspection failed', async () => {
    let asked = 0;
    const unready = {
      ...(modelThat(async () => [1]) as object),
      get supportsParallelCalls() {
        asked += 1;
        return asked === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve(true);
      },
    } as unknown as EmbedderInput;
    const embedder = toEmbedder(unready);
    await expect(embedder.embed(['a'])).rejects.toThrow('not yet');
    expect(await embedder.embed(['a'])).toEqual([Float32Array.of(1)]);
  });

  test('is not called without texts', async () => {
    expect(await toEmbedder(model()).embed([])).toEqual([]);
    expect(requests).toEqual([]);
  });
});

test('prefixes precede queries and documents, belong to the id, and take room', async () => {
  const prefixes = { query: 'search_query: ', document: 'search_document: ' };
  const embedder = toEmbedder(model(), { prefixes, maxInputTokens: 100 });
  await embedder.embed(['a'], { purpose: 'query' });
  await embedder.embed(['b'], { purpose: 'document' });
  await embedder.embed(['c']);
  expect(requests.map(({ input }) => input)).toEqual([['search_query: a'], ['search_document: b'], ['c']]);
  expect(embedder.id).toContain('search_document');
  expect(embedder.maxInputTokens).toBeLessThan(95);
  expect(() => toEmbedder(model(), { prefixes: { passage: 'passage: ' } as never })).toThrow('passage');
});

describe('the number of tokens that an embedder reads', () => {
  test('is that of the provider, unless an option states another', () => {
    const small = createOpenAI4({ apiKey: 'k', baseURL }).embedding('text-embedding-3-small');
    expect(toEmbedder(small).maxInputTokens).toBe(8192);
    expect(toEmbedder('cohere/embed-english-v3.0').maxInputTokens).toBe(512);
    expect(toEmbedder('cohere/embed-english-v3.0', { maxInputTokens: 256 }).maxInputTokens).toBe(256);
    expect(toEmbedder('ollama/nomic-embed-text').maxInputTokens).toBeUndefined();
    expect(toEmbedder('constructor').maxInputTokens).toBeUndefined();
  });

  test('is kept by wrappers, and stated by a custom embedder or for it', () => {
    const own = { id: 'own', maxInputTokens: 128, embed: async () => [] };
    const cache = storeEmbeddingCache({ vectorStore: new LocalVector() });
    for (const embedder of [toEmbedder(own), cacheEmbeddings(own, { cache }), truncateEmbeddings(own, 2)])
      expect(embedder.maxInputTokens).toBe(128);
    expect(toEmbedder(own, { maxInputTokens: 64 }).maxInputTokens).toBe(64);
    for (const maxInputTokens of [0, 15, 1.5, Number.NaN])
      expect(() => toEmbedder({ ...own, maxInputTokens })).toThrow('maxInputTokens');
  });

  test('decides which texts count as cut, by the tokens that the model reported', async () => {
    const tokensOf = (text: string): number => text.split(' ').length;
    answer = ({ input }, response) => {
      const total = input.reduce((sum, text) => sum + tokensOf(text), 0);
      sendVectors(
        response,
        input.map(() => [1]),
        total,
      );
    };
    const embedder = toEmbedder(model(), { maxInputTokens: 50 });
    await embedder.embed(['a word '.repeat(10), 'short']);
    expect(embedder.usage).not.toHaveProperty('cut');
    await embedder.embed(['short', 'a word '.repeat(40), 'some more']);
    expect(embedder.usage).toMatchObject({ cut: 1 });
  });

  test('is what the error of a refused text advises to state', async () => {
    answer = (_, response) => sendError(response, 400);
    const long = 'too long '.repeat(100);
    expect(await failure(['a', long])).toMatchObject({
      code: 'EMBEDDING_FAILED',
      message: expect.stringMatching(/has 900 characters and begins with "too long .*maxInputTokens/),
    });
    answer = (_, response) => sendError(response, 401);
    expect(await failure(['a', long])).not.toMatchObject({ message: expect.stringContaining('maxInputTokens') });
  });
});

describe('a custom embedder', () => {
  /** Its vectors count the texts that it was given. */
  class Counting {
    readonly id = 'counting';
    readonly hybridWeight = 0.5;
    #requests = 0;
    get usage(): EmbeddingUsage {
      return { requests: this.#requests, tokens: 0 };
    }
    async embed(texts: readonly string[]): Promise<number[][]> {
      this.#requests += 1;
      return texts.map(({ length }) => [length, 1]);
    }
  }

  test('returns lists of numbers, and keeps its other members', async () => {
    const embedder = toEmbedder(new Counting());
    expect(await embedder.embed(['a', 'bcd'])).toEqual([Float32Array.of(1, 1), Float32Array.of(3, 1)]);
    expect(embedder).toMatchObject({ id: 'counting', hybridWeight: 0.5, usage: { requests: 1, tokens: 0 } });
    expect(embedder.dimension).toBeUndefined();
  });

  test.each([
    ['too few vectors', [[1, 2]], undefined, /given 2 texts and answered with 1 vectors/],
    ['vectors of two lengths', [[1, 2], [1]], undefined, /1 numbers where 2 were expected/],
    ['another dimension than its own', [[1], [1]], 2, /1 numbers where 2 were expected/],
    ['no numbers', [['a'], ['b']], undefined, /not finite/],
    ['numbers as texts', [['1'], ['2']], undefined, /not finite/],
    ['numbers that are too large', [[1], [1e300]], undefined, /not finite/],
    ['NaN as JSON writes it', [[1], [null]], undefined, /not finite/],
    ['no vector', [null, null], undefined, /0 numbers/],
    ['empty vectors', [[], []], undefined, /0 numbers/],
    ['nothing', undefined, undefined, /no list of vectors/],
  ])('is refused when it answers with %s', async (_name, vectors, dimension, message) => {
    const embed = async (): Promise<number[][]> => vectors as number[][];
    await expect(toEmbedder({ id: 'own', dimension, embed }).embed(['a', 'b'])).rejects.toMatchObject({
      code: 'EMBEDDING_INVALID',
      message: expect.stringMatching(message) as string,
    });
  });
});

test('rejects other values', async () => {
  for (const input of [undefined, null, 5, {}, ' ', { id: 'x' }, { doEmbed: () => undefined }]) {
    expect(() => toEmbedder(input as unknown as EmbedderInput)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }),
    );
  }
  await expect(toEmbedder('gpt').embed(['a'])).rejects.toMatchObject({ code: 'MODEL_STRING_INVALID' });
});

describe('options of embedders and their caches', () => {
  test.each<[string, unknown, (options: never) => unknown]>([
    [
      "toEmbedder has no option 'rateLimit.rpm'. The options of 'rateLimit' are: requestsPerMinute,",
      { rateLimit: { rpm: 1 } },
      (o) => toEmbedder('p/m', o),
    ],
    ...[0, -1, Number.NaN, '5'].map((limit): [string, unknown, (options: never) => unknown] => [
      "toEmbedder: 'rateLimit.requestsPerMinute' must be a number of at least 1, not ",
      { rateLimit: { requestsPerMinute: limit } },
      (o) => toEmbedder('p/m', o),
    ]),
    [
      "cacheEmbeddings needs 'cache': a cache, such as storeEmbeddingCache({ vectorStore }).",
      {},
      (o) => cacheEmbeddings('p/m', o),
    ],
    [
      "cacheEmbeddings: 'cache' must be a cache, such as",
      { cache: new Map([]).keys() },
      (o) => cacheEmbeddings('p/m', o),
    ],
    ["storeEmbeddingCache needs 'vectorStore': a vector store", {}, storeEmbeddingCache],
  ])('are rejected: %s', (message, options, create) => {
    const error = expect.objectContaining({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(message) as string,
    }) as Error;
    expect(() => create(options as never)).toThrow(error);
  });
});

describe('what an embedder uses', () => {
  test('is counted in requests and tokens, with the price', async () => {
    const embedder = toEmbedder(model(), { pricePerMillion: 20_000 });
    expect(embedder.usage).toEqual({ requests: 0, tokens: 0, cost: 0 });
    await embedder.embed(['a', 'b']);
    await embedder.embed(['c']);
    expect(embedder.usage).toEqual({ requests: 2, tokens: 2, cost: 0.04 });
  });

  test('stays within the limit of a minute by smaller requests', async () => {
    const countTokens = (text: string): number => text.length;
    const rateLimit = { tokensPerMinute: 4, countTokens };
    const texts = ['ab', 'cd', 'ef'];
    const controller = new AbortController();
    answer = (...given) => {
      answerWith(() => [1])(...given);
      if (requests.length === 1) setTimeout(() => controller.abort(new Error('enough')));
    };
    // The second request would wait for half a minute.
    await expect(toEmbedder(model(), { rateLimit }).embed(texts, { signal: controller.signal })).rejects.toThrow(
      'enough',
    );
    expect(requests.map(({ input }) => input)).toEqual([['ab', 'cd']]);
  });
});
