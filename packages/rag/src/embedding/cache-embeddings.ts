import { isQuiverError } from '@quiver/core';
import { checkOptions, type OptionChecks, stringValue, valueThat, required } from '@quiver/core/internal';
import { canonicalJson, contentHash } from '../document/content-hash.js';
import { storeValue } from '../store/options.js';
import type { VectorStore } from '../store/vector-store.js';
import type { Embedder } from './embedder.js';
import { modelEmbedderChecks, toEmbedder, type EmbedderInput, type ModelEmbedderOptions } from './to-embedder.js';

/** Vectors by a key of 32 hexadecimal digits. */
export interface EmbeddingCache {
  /** Returns one vector per key, `undefined` where there is none. */
  get(
    keys: readonly string[],
    options: { signal?: AbortSignal | undefined },
  ): Promise<readonly (ArrayLike<number> | undefined)[]>;
  set(
    keys: readonly string[],
    vectors: readonly Float32Array[],
    options: { signal?: AbortSignal | undefined },
  ): Promise<void>;
}

/** Options of `cacheEmbeddings()`. */
export interface CacheEmbeddingsOptions extends ModelEmbedderOptions {
  /** Storage of the embeddings. */
  cache: EmbeddingCache;
}

const cacheChecks: OptionChecks<CacheEmbeddingsOptions> = {
  cache: required(
    valueThat((value) => {
      const { get, set } = (value ?? {}) as Partial<EmbeddingCache>;
      return typeof get === 'function' && typeof set === 'function';
    }, 'a cache, such as storeEmbeddingCache({ vectorStore })'),
  ),
  ...modelEmbedderChecks,
};

/**
 * Returns an embedder that embeds each text once. A key is made from the embedder's id, its provider options, the purpose and the text: another model,
 * another dimension of the provider and another purpose have vectors of their own.
 *
 * @throws `OPTIONS_INVALID` for an unknown option or an invalid value; from `embed`: what the embedder and the cache throw
 * @example
 * const cache = storeEmbeddingCache({ vectorStore: new LocalVector({ path: './embedding-cache' }) });
 * const embedder = cacheEmbeddings('openai/text-embedding-3-small', { cache });
 */
export function cacheEmbeddings(input: EmbedderInput, given: CacheEmbeddingsOptions): Embedder {
  checkOptions('cacheEmbeddings', given, cacheChecks);
  const { cache, ...options } = given;
  const embedder = toEmbedder(input, options);
  const scope = canonicalJson(options.providerOptions ?? {});
  let dimension: number | undefined;
  let hits = 0;
  return {
    id: embedder.id,
    hybridWeight: embedder.hybridWeight,
    maxInputTokens: embedder.maxInputTokens,
    get dimension() {
      return embedder.dimension ?? dimension;
    },
    get usage() {
      return { ...(embedder.usage ?? { requests: 0, tokens: 0 }), cached: hits };
    },
    async embed(texts, { signal, purpose } = {}) {
      signal?.throwIfAborted();
      const end = { signal };
      const keys = texts.map((text) => contentHash('embedding', embedder.id, scope, purpose ?? '', text));
      const known = new Map<string, Float32Array>();
      const unique = [...new Set(keys)];
      for (const [place, vector] of (unique.length > 0 ? await cache.get(unique, end) : []).entries()) {
        const valid = vector && toValid(vector, embedder.dimension);
        if (valid) known.set(unique[place]!, valid);
      }
      hits += keys.filter((key) => known.has(key)).length;
      const missing = new Map(keys.flatMap((key, place) => (known.has(key) ? [] : [[key, texts[place]!] as const])));
      if (missing.size > 0) {
        const vectors = await embedder.embed([...missing.values()], { ...end, purpose });
        await cache.set([...missing.keys()], vectors, end);
        for (const [place, key] of [...missing.keys()].entries()) known.set(key, vectors[place]!);
      }
      const vectors = keys.map((key) => known.get(key)!);
      dimension ??= vectors[0]?.length;
      return vectors;
    },
  };
}

/** A damaged entry is embedded again. */
function toValid(values: ArrayLike<number>, dimension: number | undefined): Float32Array | undefined {
  const vector = Float32Array.from(values);
  const isValid = vector.length > 0 && (dimension === undefined || vector.length === dimension);
  return isValid && vector.every(Number.isFinite) ? vector : undefined;
}

/** Options of `storeEmbeddingCache()`. */
export interface StoreEmbeddingCacheOptions {
  /** Store of the vectors. */
  vectorStore: VectorStore;
  /** Index of the vectors. One index has vectors of one dimension: use another for another model. Default `embedding_cache`. */
  indexName?: string;
}

const storeCacheChecks: OptionChecks<StoreEmbeddingCacheOptions> = {
  vectorStore: storeValue,
  indexName: stringValue,
};

/**
 * Returns a cache in a vector store: in files with `LocalVector`, in PostgreSQL with `PgVector`, or in yours. A missing index is created. In PostgreSQL,
 * create it without a search index first: `createIndex({ indexName, dimension, metric: 'dotproduct', indexConfig: { type: 'flat' } })`.
 *
 * @throws `OPTIONS_INVALID` for an unknown option or an invalid value; from its methods: errors of the store
 */
export function storeEmbeddingCache(options: StoreEmbeddingCacheOptions): EmbeddingCache {
  checkOptions('storeEmbeddingCache', options, storeCacheChecks);
  const { vectorStore: store, indexName = 'embedding_cache' } = options;
  let exists = false;
  return {
    async get(keys, end) {
      exists ||= (await store.listIndexes(end)).includes(indexName);
      if (!exists) return keys.map(() => undefined);
      const records = await store.get({ indexName, ids: keys, includeVector: true, ...end }).catch((error: unknown) => {
        if (!isQuiverError(error, 'VECTOR_INDEX_NOT_FOUND')) throw error;
        // Deleted in the meantime.
        exists = false;
        return [];
      });
      const vectors = new Map(records.map(({ id, vector }) => [id, vector]));
      return keys.map((key) => vectors.get(key));
    },
    async set(ids, vectors, end) {
      // `dotproduct`: a store may scale vectors to length 1 for the cosine.
      if (!exists) await store.createIndex({ indexName, dimension: vectors[0]!.length, metric: 'dotproduct', ...end });
      exists = true;
      await store.upsert({ indexName, ids, vectors, ...end });
    },
  };
}
