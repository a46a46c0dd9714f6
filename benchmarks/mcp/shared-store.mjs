// Operations per second of shared stores:
//   node mcp/shared-store.mjs [--operations 2000] [--rounds 5] [--parallel 16]
// Needs QUIVER_POSTGRES_URL and QUIVER_REDIS_URL for the stores in servers. Every round runs all stores in turn; the median is printed.
// Values have 500 characters. "publish" ends when the listener of another store object has received the message.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { PostgresStore } from '@quiver/mcp/pg';
import { RedisStore } from '@quiver/mcp/redis';
import { InMemoryStore } from '@quiver/mcp/server';
import { readFlags } from '../read-flags.mjs';
import { median, table, timed } from '../statistics.mjs';

const values = readFlags({
  operations: { type: 'string', default: '2000' },
  rounds: { type: 'string', default: '5' },
  parallel: { type: 'string', default: '16' },
});
const operations = Number(values.operations);
const value = 'x'.repeat(500);
const run = randomUUID();

/** Each opens two store objects over one state. */
const stores = {
  memory: async () => {
    const store = new InMemoryStore();
    return { pair: [store, store], close: () => store.close() };
  },
};
const { QUIVER_POSTGRES_URL: connectionString, QUIVER_REDIS_URL: url } = process.env;
if (connectionString) {
  const schemaName = `benchmark_${run.replaceAll('-', '').slice(0, 16)}`;
  stores.PostgreSQL = async () => {
    const pair = [0, 1].map(() => new PostgresStore({ connectionString, schemaName }));
    return { pair, close: () => Promise.all(pair.map((store) => store.close())) };
  };
  const { Client } = fromMcp('pg');
  stores.PostgreSQL.cleanUp = async () => {
    const client = new Client({ connectionString });
    await client.connect();
    await client.query(`DROP SCHEMA "${schemaName}" CASCADE`);
    await client.end();
  };
}
if (url) {
  const clients = await Promise.all([0, 1].map(() => fromMcp('@redis/client').createClient({ url }).connect()));
  stores.Redis = async () => {
    const pair = clients.map((client) => new RedisStore({ client, keyPrefix: `benchmark:${run}:` }));
    return { pair, close: () => Promise.all(pair.map((store) => store.close())) };
  };
  stores.Redis.cleanUp = async () => {
    for await (const keys of clients[0].scanIterator({ MATCH: `benchmark:${run}:*`, COUNT: 1000 }))
      if (keys.length > 0) await clients[0].del(keys);
    for (const client of clients) client.destroy();
  };
}

/** Each returns a function that runs one operation of one of the parallel callers. */
const cases = {
  get: async ([store]) => {
    await store.put('record', value);
    return () => store.get('record');
  },
  'put with version': async ([store]) => {
    const versions = [];
    return async (caller) => {
      const written = await store.put(`record ${caller}`, value, { version: versions[caller], ttlMs: 60_000 });
      if (!written) throw new Error('A write was refused.');
      versions[caller] = written;
    };
  },
  append:
    async ([store]) =>
    (caller) =>
      store.append(`log ${caller}`, value, { maxEntries: 100, ttlMs: 60_000 }),
  publish: async ([sender, receiver]) => {
    const waiting = new Map();
    await receiver.subscribe('channel', (message) => {
      waiting.get(message.slice(0, 3))?.();
    });
    return (caller) => {
      const id = String(caller).padStart(3, '0');
      const received = new Promise((resolve) => waiting.set(id, resolve));
      return Promise.all([sender.publish('channel', id + value), received]);
    };
  },
  take:
    async ([store]) =>
    (caller) =>
      store.take(`bucket ${caller}`, 1, { capacity: 1e9, perSecond: 1e9 }),
};

const results = new Map();
for (let round = 0; round < Number(values.rounds); round += 1)
  for (const [name, open] of Object.entries(stores)) {
    const { pair, close } = await open();
    for (const [title, prepare] of Object.entries(cases))
      for (const parallel of [1, Number(values.parallel)]) {
        const operate = await prepare(pair);
        await operate(0);
        const perCaller = Math.ceil(operations / parallel);
        const lane = async (_, caller) => {
          for (let count = 0; count < perCaller; count += 1) await operate(caller);
        };
        const { elapsed } = await timed(() => Promise.all(Array.from({ length: parallel }, lane)));
        const perSecond = (perCaller * parallel * 1000) / elapsed;
        const key = `${title}|${parallel}|${name}`;
        results.set(key, [...(results.get(key) ?? []), perSecond]);
      }
    await close();
  }
for (const { cleanUp } of Object.values(stores)) await cleanUp?.();

console.log(`${operations} operations, ${values.rounds} rounds, load ${loadavg()[0].toFixed(1)}\n`);
const rows = Object.keys(cases).flatMap((title) =>
  [1, Number(values.parallel)].map((parallel) => {
    const of = (name) => Math.round(median(results.get(`${title}|${parallel}|${name}`))).toLocaleString('en-US');
    return [title, parallel, ...Object.keys(stores).map(of)];
  }),
);
console.log(table(['operations per second', 'callers', ...Object.keys(stores)], rows));

/** Loads a development dependency of the package. */
function fromMcp(name) {
  return createRequire(new URL('../../packages/mcp/package.json', import.meta.url))(name);
}
