import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cacheEmbeddings } from '@quiver/rag';
import { createClient } from '@redis/client';
import { redisEmbeddingCache } from '../src/redis-embedding-cache.ts';

const { QUIVER_REDIS_URL: url = '' } = process.env;

describe('a cache of embeddings in Redis', { skip: !url && 'QUIVER_REDIS_URL is not set' }, () => {
  test('embeds each text once, forgets vectors after their time, and embeds a text with a damaged value again', async () => {
    const client = createClient({ url });
    await client.connect();
    const prefix = `test:${crypto.randomUUID()}:`;
    try {
      const cache = redisEmbeddingCache(client, prefix, 100);
      const embedded: string[] = [];
      const model = {
        id: 'model',
        embed: async (texts: readonly string[]) => {
          embedded.push(...texts);
          return texts.map((text) => Float32Array.from({ length: 65_536 }, (_, place) => place / 7 + text.length));
        },
      };
      const embedder = cacheEmbeddings(model, { cache });
      const first = await embedder.embed(['a', 'bb', 'a']);
      assert.deepEqual(await embedder.embed(['a', 'bb', 'a']), first);
      assert.deepEqual(embedded, ['a', 'bb']);
      const [key = ''] = await client.keys(`${prefix}*`);
      assert.ok((await client.ttl(key)) > 90);
      await client.set(key, '%%%');
      assert.deepEqual(await embedder.embed(['a', 'bb']), first.slice(0, 2));
      assert.equal(embedded.length, 3);
    } finally {
      await client.del(await client.keys(`${prefix}*`));
      await client.close();
    }
  });
});
