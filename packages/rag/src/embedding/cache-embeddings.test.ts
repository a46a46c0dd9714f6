import { afterEach, describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { LocalVector } from '../stores/local/index.js';
import { PgVector } from '../stores/pg/index.js';
import { cacheEmbeddings, storeEmbeddingCache, type EmbeddingCache } from './cache-embeddings.js';
import type { Embedder } from './embedder.js';

const postgresUrl = readTestVariable('QUIVER_POSTGRES_URL');
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** An embedder whose vectors do not have length 1. */
function countingEmbedder(id = 'provider/model'): Embedder & { texts: string[] } {
  const texts: string[] = [];
  return {
    id,
    texts,
    async embed(batch, { purpose } = {}) {
      texts.push(...batch);
      return batch.map((text) => Float32Array.of(text.length / 3, purpose === 'query' ? -2 : 0.1, 7));
    },
  };
}

const kinds: Readonly<Record<string, () => Promise<EmbeddingCache>>> = {
  files: async () => storeEmbeddingCache({ vectorStore: new LocalVector() }),
  ...(postgresUrl && {
    PostgreSQL: async () => {
      const store = new PgVector({ connectionString: postgresUrl });
      const indexName = `cache_${crypto.randomUUID().replaceAll('-', '')}`;
      closers.push(async () => {
        await store.deleteIndex({ indexName });
        await store.disconnect();
      });
      return storeEmbeddingCache({ vectorStore: store, indexName });
    },
  }),
};

describe.each(Object.keys(kinds))('a cache of embeddings in %s', (kind) => {
  const create = (): Promise<EmbeddingCache> => kinds[kind]!();

  it('embeds each text once and returns the same vectors', async () => {
    const cache = await create();
    const model = countingEmbedder();
    const embedder = cacheEmbeddings(model, { cache });
    const first = await embedder.embed(['a', 'bb', 'a'], { purpose: 'document' });
    expect(first).toEqual([
      Float32Array.of(1 / 3, 0.1, 7),
      Float32Array.of(2 / 3, 0.1, 7),
      Float32Array.of(1 / 3, 0.1, 7),
    ]);
    expect(await embedder.embed(['bb', 'ccc'], { purpose: 'document' })).toEqual([
      first[1],
      Float32Array.of(1, 0.1, 7),
    ]);
    expect(model.texts).toEqual(['a', 'bb', 'ccc']);
    expect(embedder).toMatchObject({
      id: 'provider/model',
      dimension: 3,
      usage: { requests: 0, tokens: 0, cached: 1 },
    });
  });

  it('separates models, provider options and purposes', async () => {
    const cache = await create();
    const [one, other] = [countingEmbedder(), countingEmbedder('provider/other')];
    const embedders = [
      cacheEmbeddings(one, { cache }),
      cacheEmbeddings(one, { cache, providerOptions: { provider: { dimensions: 3 } } }),
      cacheEmbeddings(other, { cache }),
    ];
    for (const embedder of embedders) await embedder.embed(['a'], { purpose: 'document' });
    const [query] = await embedders[0]!.embed(['a'], { purpose: 'query' });
    expect(query).toEqual(Float32Array.of(1 / 3, -2, 7));
    expect([one.texts.length, other.texts.length]).toEqual([3, 1]);
  });
});

describe('cacheEmbeddings', () => {
  it('embeds a damaged entry again', async () => {
    const model = countingEmbedder();
    for (const damaged of [[], [Number.NaN, 0, 1]]) {
      const cache: EmbeddingCache = { get: async (keys) => keys.map(() => damaged), set: async () => undefined };
      expect(await cacheEmbeddings(model, { cache }).embed(['a'])).toEqual([Float32Array.of(1 / 3, 0.1, 7)]);
    }
    expect(model.texts).toEqual(['a', 'a']);
  });

  it('does not ask for no texts, and passes on the error of the cache', async () => {
    const cache: EmbeddingCache = { get: () => Promise.reject(new Error('down')), set: async () => undefined };
    const embedder = cacheEmbeddings(countingEmbedder(), { cache });
    expect(await embedder.embed([])).toEqual([]);
    await expect(embedder.embed(['a'])).rejects.toThrow('down');
  });

  it('stops before the cache when the signal has aborted', async () => {
    const cache: EmbeddingCache = { get: async () => [], set: async () => undefined };
    await expect(
      cacheEmbeddings(countingEmbedder(), { cache }).embed(['a'], { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
  });
});

describe('storeEmbeddingCache', () => {
  it('creates its index again when it was deleted', async () => {
    const store = new LocalVector();
    const model = countingEmbedder();
    const embedder = cacheEmbeddings(model, { cache: storeEmbeddingCache({ vectorStore: store }) });
    await embedder.embed(['a']);
    await store.deleteIndex({ indexName: 'embedding_cache' });
    for (const _ of [1, 2]) await embedder.embed(['a']);
    expect(model.texts).toEqual(['a', 'a']);
  });
});
