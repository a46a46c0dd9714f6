// Cache of embeddings in Redis 6 or newer, for cacheEmbeddings(): one string per vector, its 32-bit numbers (little-endian) in base64.
import type { EmbeddingCache } from '@quiver/rag';

/** The called part of a client of `@redis/client`; with `ioredis`, call `client.call(...command)`. */
export interface RedisClient {
  sendCommand(command: string[]): Promise<unknown>;
}

/** @param ttl - seconds after which a vector is forgotten; default never */
export function redisEmbeddingCache(client: RedisClient, prefix = 'quiver:embedding:', ttl?: number): EmbeddingCache {
  const expiry = ttl === undefined ? [] : ['EX', String(ttl)];
  return {
    async get(keys) {
      const values = await client.sendCommand(['MGET', ...keys.map((key) => prefix + key)]);
      return (values as (string | null)[]).map((value) => (value === null ? undefined : toVector(value)));
    },
    async set(keys, vectors) {
      const entries = keys.map((key, place) => [prefix + key, toText(vectors[place] as Float32Array)]);
      await Promise.all(entries.map((entry) => client.sendCommand(['SET', ...entry, ...expiry])));
    },
  };
}

function toText(vector: Float32Array): string {
  const bytes = Buffer.alloc(4 * vector.length);
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, 4 * place);
  return bytes.toString('base64');
}

/** `cacheEmbeddings` embeds a text again whose vector is damaged, which is empty here. */
function toVector(value: string): Float32Array {
  const bytes = Buffer.from(value, 'base64');
  const length = bytes.length % 4 === 0 ? bytes.length / 4 : 0;
  return Float32Array.from({ length }, (_, place) => bytes.readFloatLE(4 * place));
}
