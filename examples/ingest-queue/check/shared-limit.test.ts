import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SharedStore } from '@quiver/mcp';
import { PostgresStore } from '@quiver/mcp/pg';
import { RedisStore } from '@quiver/mcp/redis';
import { toEmbedder } from '@quiver/rag';
import { createClient } from '@redis/client';
import { Client } from 'pg';
import { limitRequests, type SharedBuckets } from '../src/shared-limit.ts';

const { QUIVER_POSTGRES_URL: postgresUrl = '', QUIVER_REDIS_URL: redisUrl = '' } = process.env;
const run = `limit_${process.pid}_${Date.now()}`;

describe('a limit in a shared store', () => {
  test(
    'counts the requests of all workers in Redis',
    { skip: !redisUrl && 'QUIVER_REDIS_URL is not set' },
    async () => {
      const client = createClient({ url: redisUrl });
      await client.connect();
      try {
        await checkLimit(() => new RedisStore({ client, keyPrefix: `${run}:` }));
      } finally {
        await client.del(await client.keys(`${run}:*`));
        await client.close();
      }
    },
  );

  test('counts them in PostgreSQL', { skip: !postgresUrl && 'QUIVER_POSTGRES_URL is not set' }, async () => {
    try {
      await checkLimit(() => new PostgresStore({ connectionString: postgresUrl, schemaName: run }));
    } finally {
      const database = new Client({ connectionString: postgresUrl });
      await database.connect();
      await database.query(`DROP SCHEMA IF EXISTS "${run}" CASCADE`);
      await database.end();
    }
  });
});

const perMinute = 6;

/** Two workers: six requests may be sent at once, and one more every ten seconds. Each has more than six, so that both have to wait. */
async function checkLimit(open: () => SharedStore): Promise<void> {
  const start = performance.now();
  let sent = 0;
  const stop = new AbortController();
  const stores = [open(), open()];
  const isWaiting = stores.map((store) => {
    let resolve: () => void = () => undefined;
    const promise = new Promise<void>((done) => (resolve = done));
    const shared: SharedBuckets = {
      async take(...request) {
        const delay = await store.take(...request);
        if (delay > 0) resolve();
        return delay;
      },
    };
    const model = {
      specificationVersion: 'v3' as const,
      provider: 'test',
      modelId: 'model',
      maxEmbeddingsPerCall: 1,
      supportsParallelCalls: true,
      async doEmbed() {
        sent += 1;
        return { embeddings: [[1, 0]], warnings: [] };
      },
    };
    const embedder = toEmbedder(limitRequests(model, shared, { requests: perMinute, tokens: 1e6 }));
    for (let n = 0; n < 8; n += 1) embedder.embed([`text ${n}`], { signal: stop.signal }).catch(() => undefined);
    return promise;
  });
  await Promise.all(isWaiting);
  const refilled = ((performance.now() - start) / 60_000) * perMinute;
  assert.ok(sent >= perMinute && sent <= perMinute + refilled, `${sent} requests were sent`);
  stop.abort();
  for (const store of stores) await store.close();
}
