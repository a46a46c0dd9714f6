import { QuiverError } from '@quiver/core';
import { createTool } from '@quiver/core/tools';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { callServer, type Answered } from '../../../test/clients/fetch-caller.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import type { SharedStore } from '../../shared-store/shared-store.js';
import { MCPServer } from '../../server/mcp-server.js';
import { rateLimit, type RateLimitOptions } from './rate-limit.js';

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const tools = Object.fromEntries(
  ['search', 'count'].map((id) => [id, createTool({ id, description: 'd', execute: async () => 'done' })]),
);

function createServer(options: RateLimitOptions, now?: () => number, sharedStore?: SharedStore): MCPServer {
  const server = new MCPServer({ name: 'n', version: '1', tools, logger, ...(sharedStore && { sharedStore }) });
  return server.use(rateLimit(options, now));
}

const ada = { extra: { sub: 'ada' } };
const bob = { extra: { sub: 'bob' } };
const textOf = ({ result }: Answered): string => result.content[0].text;

describe.each(['legacy', 'modern'] as const)('rateLimit in the %s era', (era) => {
  const call = (server: MCPServer, authInfo?: object, name = 'search'): Promise<Answered> =>
    callServer(server, era, 'tools/call', { name }, { authInfo });

  test('names the wait in an error result, and counts callers and tools apart', async () => {
    let time = 0;
    const server = createServer({ capacity: 2, perMinute: 20 }, () => time);
    expect(textOf(await call(server, ada))).toBe('done');
    expect(textOf(await call(server, ada))).toBe('done');
    const refused = await call(server, ada);
    expect(refused.status).toBe(200);
    expect(refused.result).toMatchObject({ isError: true });
    expect(textOf(refused)).toBe(
      'Error: Too many calls of the tool search: the limit is 2 at once and 20 per minute. Try again in 3 seconds.',
    );
    expect(textOf(await call(server, bob))).toBe('done');
    expect(textOf(await call(server, ada, 'count'))).toBe('done');
    expect(textOf(await call(server))).toBe('done');
    time += 3000;
    expect(textOf(await call(server, ada))).toBe('done');
  });

  test('refuses whole requests with status 429 and Retry-After', async () => {
    const server = createServer({ capacity: 1, perSecond: 0.5, counts: 'requests' }, () => 0);
    expect((await callServer(server, era, 'tools/list', {}, { authInfo: ada })).status).toBe(200);
    const refused = await call(server, ada);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
    expect(refused.json.error).toMatchObject({
      code: -32000,
      message: 'Too many requests: the limit is 1 at once and 0.5 per second. Try again in 2 seconds.',
    });
    expect((await callServer(server, era, 'tools/list', {}, { authInfo: bob })).status).toBe(200);
  });
});

describe('rateLimit', () => {
  test('serves a caller again soon after the clock was set back', async () => {
    let time = 1e12;
    const server = createServer({ capacity: 3, perSecond: 1 }, () => time);
    for (let count = 0; count < 3; count += 1) expect(await call(server, ada, 'search')).toBe(true);
    time -= 3_600_000;
    expect(await call(server, ada, 'search')).toBe(false);
    time += 1_000;
    expect(await call(server, ada, 'search')).toBe(true);
    expect(await call(server, ada, 'search')).toBe(false);
  });

  const call = async (server: MCPServer, authInfo: object, name: string): Promise<boolean> =>
    (await callServer(server, 'modern', 'tools/call', { name }, { authInfo })).result.isError !== true;

  test('counts all callers, all tools, or the named tools together', async () => {
    const shared = createServer({ capacity: 1, perSecond: 1, perCaller: false, perTool: false }, () => 0);
    expect([await call(shared, ada, 'search'), await call(shared, bob, 'count')]).toEqual([true, false]);
    const named = createServer({ capacity: 1, perSecond: 1, tools: ['search'] }, () => 0);
    const calls = ['search', 'search', 'count', 'count'];
    const accepted: boolean[] = [];
    for (const name of calls) accepted.push(await call(named, ada, name));
    expect(accepted).toEqual([true, false, true, true]);
  });

  test('takes the key of a caller from a function', async () => {
    const server = createServer(
      { capacity: 1, perSecond: 1, key: ({ headers }) => headers['x-tenant'] ?? '' },
      () => 0,
    );
    const statuses: unknown[] = [];
    for (const tenant of ['a', 'b', 'a']) {
      const options = { headers: { 'x-tenant': tenant } };
      statuses.push((await callServer(server, 'modern', 'tools/call', { name: 'search' }, options)).result.isError);
    }
    expect(statuses).toEqual([undefined, undefined, true]);
  });

  test('refuses a key that all callers would share', async () => {
    const key = (async () => 'tenant') as unknown as NonNullable<RateLimitOptions['key']>;
    const server = createServer({ capacity: 1, perSecond: 1, key });
    const { result } = await callServer(server, 'modern', 'tools/call', { name: 'search' });
    expect(result.content[0].text).toContain('must return a string');
  });

  test('does not show clients where the shared store is', async () => {
    class UnavailableStore extends InMemoryStore {
      override take(): Promise<number> {
        return Promise.reject(new QuiverError('SHARED_STORE_UNAVAILABLE', 'connect ECONNREFUSED 10.1.2.3:5432'));
      }
    }
    for (const counts of ['calls', 'requests'] as const) {
      const server = createServer({ capacity: 1, perSecond: 1, counts }, undefined, new UnavailableStore());
      const { json } = await callServer(server, 'modern', 'tools/call', { name: 'search' });
      expect(JSON.stringify(json)).toMatch(/share is unavailable(?!.*10\.1\.2\.3)/);
      await server.close();
    }
  });

  test('is shared by the servers of one store, which never sees a token', async () => {
    const keys: string[] = [];
    class RecordingStore extends InMemoryStore {
      override take(...[key, amount, bucket]: Parameters<InMemoryStore['take']>): Promise<number> {
        keys.push(key);
        return super.take(key, amount, bucket);
      }
    }
    const store = new RecordingStore(() => 0);
    const options = { capacity: 1, perSecond: 1 };
    const [first, second] = [createServer(options, undefined, store), createServer(options, undefined, store)];
    const token = { token: 'secret-token' };
    expect([await call(first, token, 'search'), await call(second, token, 'search')]).toEqual([true, false]);
    expect(keys[0]).toMatch(/^rate\/[\w+/=]+$/);
    expect(new Set(keys).size).toBe(1);
    await Promise.all([first.close(), second.close()]);
  });

  test('ends calls with an error while the shared store is down', async () => {
    const store = new InMemoryStore();
    const server = createServer({ capacity: 1, perSecond: 1 }, undefined, store);
    await store.close();
    expect(await call(server, ada, 'search')).toBe(false);
  });

  test('uses a bounded memory for any number of callers', async () => {
    const store = new InMemoryStore(() => 0);
    const bucket = { capacity: 1, perSecond: 1e-6 };
    expect(await store.take('first', 1, bucket)).toBe(0);
    expect(await store.take('first', 1, bucket)).toBeGreaterThan(0);
    for (let caller = 0; caller < 100_000; caller += 1) await store.take(`caller ${caller}`, 1, bucket);
    // Evicted, so it is full.
    expect(await store.take('first', 1, bucket)).toBe(0);
  });

  test('accepts long identities and names', async () => {
    const server = createServer({ capacity: 1, perSecond: 1 }, () => 0);
    const token = { token: 'x'.repeat(5000) };
    expect([await call(server, token, 'search'), await call(server, token, 'search')]).toEqual([true, false]);
  });

  test.each([
    {},
    { capacity: 1 },
    { capacity: 1, perSecond: 1, perMinute: 1 },
    { capacity: 0, perSecond: 1 },
    { capacity: Number.NaN, perSecond: 1 },
    { capacity: 1, perSecond: 0 },
    { capacity: 1, perSecond: Infinity },
    // No store has such a bucket: every call would fail.
    { capacity: 1, perSecond: 1e-7 },
    { capacity: 1, perMinute: 1e-5 },
    { capacity: 1e13, perSecond: 1 },
    { capacity: 1, perMinute: '60' },
    { capacity: 1, perSecond: 1, counts: 'bytes' },
    { capacity: 1, perSecond: 1, counts: 'requests', perTool: true },
    { capacity: 1, perSecond: 1, tools: 'search' },
    { capacity: 1, perSecond: 1, key: 'x-tenant' },
  ])('rejects the options %j', (options) => {
    expect(() => rateLimit(options as unknown as RateLimitOptions)).toThrow(errorOf('OPTIONS_INVALID'));
  });
});
