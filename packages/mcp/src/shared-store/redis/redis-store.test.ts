import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { createClient } from '@redis/client';
import { describeSharedStore } from '@quiver/devtools/stores';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { errorOf } from '../../../test/error-of.ts';
import { eventually } from '../../../test/eventually.ts';
import { startFaultProxy } from '../../../test/stores/fault-proxy.ts';
import { scratchFolder } from '../../../test/scratch-folder.ts';
import { RedisStore, type RedisStoreOptions } from './index.js';
import type { IoredisClient, NodeRedisClient } from './redis-client.js';

const url = readTestVariable('QUIVER_REDIS_URL');

const keyPrefix = `test:${randomUUID()}:`;

interface TestClient {
  readonly client: NodeRedisClient | IoredisClient;
  close(): void;
}

/** Opens a client that reconnects quickly, by a URL or the path of a socket. */
const kinds: Record<string, (address: string) => Promise<TestClient>> = {
  '@redis/client': async (address) => {
    const client = address.startsWith('/')
      ? createClient({ socket: { path: address, reconnectStrategy: 20 } })
      : createClient({ url: address, socket: { reconnectStrategy: 20 } });
    client.on('error', () => {});
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  ioredis: async (address) => {
    const client = new Redis(address, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    client.on('error', () => {});
    return { client, close: () => client.disconnect() };
  },
};

describe.skipIf(!url).each(Object.entries(kinds))('RedisStore with %s', (kind, connect) => {
  const clients: TestClient[] = [];
  const stores: RedisStore[] = [];
  const open = async (options: Partial<RedisStoreOptions> = {}, address: string = url ?? ''): Promise<RedisStore> => {
    const client = await connect(address);
    clients.push(client);
    const store = new RedisStore({ client: client.client, keyPrefix: `${keyPrefix}${kind}:own:`, ...options });
    stores.push(store);
    return store;
  };
  const startProxy = (): ReturnType<typeof startFaultProxy> => startFaultProxy(Number(new URL(url ?? '').port || 6379));
  const addressOf = (port: number): string => {
    const address = new URL(url ?? '');
    address.port = String(port);
    return address.href;
  };

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    for (const { close } of clients.splice(0)) close();
  });

  let shared: TestClient;
  beforeAll(async () => {
    shared = await connect(url ?? '');
  });
  afterAll(async () => {
    shared.close();
    const client = new Redis(url ?? '');
    const keys = await client.keys(`${keyPrefix}${kind}:*`);
    if (keys.length > 0) await client.del(keys);
    client.disconnect();
  });

  describeSharedStore({
    name: 'RedisStore',
    create: () => new RedisStore({ client: shared.client, keyPrefix: `${keyPrefix}${kind}:*[a]?:` }),
    createUnavailable: async () => {
      const proxy = await startProxy();
      const store = await open({ timeout: 300 }, addressOf(proxy.port));
      await eventually(() => store.get('x'));
      await proxy.close();
      return store;
    },
  });

  it('refills a bucket from the new time of a server whose clock was set back', async () => {
    const store = await open();
    const bucket = { capacity: 2, perSecond: 1_000 };
    expect(await store.take('back', 2, { ...bucket, perSecond: 1e-3 })).toBe(0);
    const raw = new Redis(url ?? '');
    await raw.hset(`${keyPrefix}${kind}:own:bucket:back`, 'time', Date.now() + 3_600_000);
    raw.disconnect();
    await eventually(async () => expect(await store.take('back', 2, bucket)).toBe(0));
  });

  it('leaves the client of the application open, without listeners of its own', async () => {
    const client = shared.client as unknown as { listenerCount(event: string): number };
    const before = client.listenerCount('error');
    const store = new RedisStore({ client: shared.client });
    await store.subscribe('channel', () => {});
    await store.close();
    expect(client.listenerCount('error')).toBe(before);
    const next = new RedisStore({ client: shared.client, keyPrefix: `${keyPrefix}${kind}:next:` });
    expect(await next.put('x', 'x')).toBeGreaterThan(0);
    await next.close();
  });

  it('receives messages again after its connection was interrupted, and reports that some may have been missed', async () => {
    const proxy = await startProxy();
    const listener = await open({}, addressOf(proxy.port));
    const sender = await open();
    const received: string[] = [];
    const onGap = vi.fn(() => received.push('gap'));
    await listener.subscribe('channel', (message) => received.push(message), onGap);
    expect(onGap).not.toHaveBeenCalled();
    proxy.setFault({ kind: 'reset' });
    await sender.publish('channel', 'lost');
    // The client connects again.
    await eventually(() => expect(proxy.passed).toBeGreaterThan(0));
    proxy.setFault({ kind: 'none' });
    await eventually(() => expect(onGap).toHaveBeenCalled());
    await sender.publish('channel', 'found');
    await eventually(() => expect(received.at(-1)).toBe('found'));
    expect(received).not.toContain('lost');
    expect(await listener.put('x', 'x')).toBeGreaterThan(0);
  });

  it('subscribes when the server is back, and closes while it is away', async () => {
    const proxy = await startProxy();
    const store = await open({ timeout: 300 }, addressOf(proxy.port));
    const abandoned = await open({ timeout: 300 }, addressOf(proxy.port));
    await eventually(() => Promise.all([store.get('x'), abandoned.get('x')]));
    proxy.setFault({ kind: 'half-open' });
    for (const each of [store, abandoned])
      await expect(each.subscribe('channel', () => {})).rejects.toMatchObject({ code: 'SHARED_STORE_UNAVAILABLE' });
    const pending = abandoned.subscribe('channel', () => {});
    await abandoned.close();
    await expect(pending).rejects.toMatchObject({
      code: expect.stringMatching(/^SHARED_STORE_(CLOSED|UNAV)/) as string,
    });
    proxy.setFault({ kind: 'none' });
    const received: string[] = [];
    await eventually(() => store.subscribe('channel', (message) => received.push(message)));
    const sender = await open();
    await sender.publish('channel', 'one');
    await eventually(() => expect(received).toEqual(['one']));
  });

  it('gives a full server as the reason', async ({ skip }) => {
    if (spawnSync('redis-server', ['--version']).error) skip('redis-server is not installed');
    const socket = `${scratchFolder()}/redis.sock`;
    const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', ''], { stdio: 'ignore' });
    try {
      await eventually(() => access(socket));
      const store = await open({}, socket);
      await eventually(() => store.put('x', 'before'));
      spawnSync('redis-cli', ['-s', socket, 'CONFIG', 'SET', 'maxmemory', '1']);
      const full = { code: 'SHARED_STORE_FULL' };
      await expect(store.put('y', 'y')).rejects.toMatchObject(full);
      await expect(store.append('y', 'y')).rejects.toMatchObject(full);
      await expect(store.take('y', 1, { capacity: 1, perSecond: 1 })).rejects.toMatchObject(full);
      expect((await store.get('x'))?.value).toBe('before');
      expect(await store.get('y')).toBeUndefined();
    } finally {
      server.kill('SIGKILL');
    }
  });
});

it.skipIf(!url)('receives messages without the offline queue and the resubscription of ioredis', async () => {
  const client = new Redis(url ?? '', { enableOfflineQueue: false, autoResubscribe: false });
  await once(client, 'ready');
  const store = new RedisStore({ client, keyPrefix: `${keyPrefix}options:` });
  try {
    const received: string[] = [];
    const duplicate = vi.spyOn(client, 'duplicate');
    await store.subscribe('channel', (message) => received.push(message));
    await store.publish('channel', 'one');
    await eventually(() => expect(received).toEqual(['one']));
    for (const { value } of duplicate.mock.results) (value as Redis).disconnect(true);
    await eventually(async () => {
      await store.publish('channel', 'two');
      expect(received).toContain('two');
    });
  } finally {
    await store.close();
    client.disconnect();
  }
});

it.each<[string, unknown]>([
  ['no client', { client: undefined }],
  ['a URL in place of a client', { client: 'redis://localhost' }],
  ['an ioredis client with a key prefix', { client: { call() {}, on() {}, options: { keyPrefix: 'x:' } } }],
  ['a negative timeout', { client: { call() {}, on() {} }, timeout: -1 }],
  ['a key prefix that is not text', { client: { call() {}, on() {} }, keyPrefix: 1 }],
])('RedisStore rejects %s', (_kind, options) => {
  expect(() => new RedisStore(options as RedisStoreOptions)).toThrow(errorOf('OPTIONS_INVALID'));
});
