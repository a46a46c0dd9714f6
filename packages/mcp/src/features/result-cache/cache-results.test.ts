import { createTool } from '@quiver/core/tools';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPClient } from '../../client/index.js';
import { errorOf } from '../../../test/error-of.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { callServer, type Answered } from '../../../test/clients/fetch-caller.ts';
import { openSession, rpc, send, toRequest } from '../../../test/clients/wire.ts';
import { MCPServer } from '../../server/mcp-server.js';
import { cacheResults, type CacheResultsOptions } from './cache-results.js';

const logger = { debug() {}, info() {}, warn() {}, error() {} };

const readOnly = { description: 'd', mcp: { annotations: { readOnlyHint: true } } };

/** A server whose tools count their runs. */
function createServer(options: CacheResultsOptions, now?: () => number) {
  const counts = { runs: 0, release: () => {} };
  const run = async (result: unknown): Promise<never> => {
    counts.runs += 1;
    return result as never;
  };
  const inputSchema = z.looseObject({});
  const server = new MCPServer({
    name: 'n',
    version: '1',
    logger,
    tools: {
      read: createTool({ ...readOnly, id: 'read', inputSchema, execute: () => run('text') }),
      write: toolOf('write', { inputSchema }, () => run('text')),
      typed: createTool({
        ...readOnly,
        id: 'typed',
        outputSchema: z.object({ day: z.string().transform((day) => new Date(day)) }),
        execute: () => run({ day: '2026-01-01' }),
      }),
      wrong: createTool({
        ...readOnly,
        id: 'wrong',
        execute: () => run({ content: [{ type: 'text', text: 'no' }], isError: true }),
      }),
      fail: createTool({ ...readOnly, id: 'fail', execute: () => run(Promise.reject(new Error('disk full'))) }),
      circular: createTool({ ...readOnly, id: 'circular', execute: () => run({ value: 1n }) }),
      gated: createTool({
        ...readOnly,
        id: 'gated',
        execute: () => run(new Promise<string>((resolve) => (counts.release = () => resolve('text')))),
      }),
    },
  }).use(cacheResults(options, now));
  return { server, counts };
}

const ada = { scopes: ['a', 'b'], extra: { sub: 'ada' } };

function call(server: MCPServer, name: string, args: object = {}, authInfo: object = ada): Promise<Answered> {
  return callServer(server, 'modern', 'tools/call', { name, arguments: args }, { authInfo });
}

describe('cacheResults', () => {
  test('returns results of read-only tools again until they are too old', async () => {
    let time = 0;
    const { server, counts } = createServer({ ttlMs: 1000 }, () => time);
    const first = await call(server, 'read', { a: 1 });
    expect((await call(server, 'read', { a: 1 })).json).toEqual(first.json);
    expect(counts.runs).toBe(1);
    time = 1000;
    await call(server, 'read', { a: 1 });
    expect(counts.runs).toBe(2);
    for (const name of ['write', 'write']) await call(server, name);
    expect(counts.runs).toBe(4);
  });

  test('returns structured content again that its schema would not accept twice', async () => {
    const { server, counts } = createServer({ ttlMs: 100_000 });
    const first = await call(server, 'typed');
    expect(first.result.structuredContent).toEqual({ day: '2026-01-01T00:00:00.000Z' });
    expect((await call(server, 'typed')).result).toEqual(first.result);
    expect(counts.runs).toBe(1);
  });

  test('never crosses callers', async () => {
    const callers = [
      ada,
      { ...ada, scopes: ['a'] },
      { ...ada, scopes: [] },
      { scopes: ['a', 'b'], extra: { sub: 'bob' } },
      { scopes: ['a', 'b'], extra: { sub: 'ada', iss: 'https://other' } },
      { scopes: ['a', 'b'], clientId: 'ada' },
      { scopes: ['a', 'b'], token: 'ada' },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(callers.length - 1), { maxLength: 20 }), async (order) => {
        const { server, counts } = createServer({ ttlMs: 100_000 });
        for (const index of order) await call(server, 'read', {}, callers[index]);
        expect(counts.runs).toBe(new Set(order).size);
      }),
      { numRuns: 20 },
    );
  });

  test('does not cache where callers cannot be distinguished, except within a session', async () => {
    const { server, counts } = createServer({ ttlMs: 100_000 });
    for (const era of ['legacy', 'modern'] as const)
      for (let each = 0; each < 2; each += 1) await callServer(server, era, 'tools/call', { name: 'read' });
    expect(counts.runs).toBe(4);
    const { url, close } = await server.listen();
    const headers = [await openSession(url), await openSession(url)];
    for (const index of [0, 1, 0, 1])
      await send(url, { headers: headers[index] as never, body: rpc('tools/call', { name: 'read' }) });
    expect(counts.runs).toBe(6);
    await close();
    const open = createServer({ ttlMs: 100_000, cacheScope: 'public' });
    for (const era of ['legacy', 'modern'] as const) await callServer(open.server, era, 'tools/call', { name: 'read' });
    await call(open.server, 'read');
    expect(open.counts.runs).toBe(1);
  });

  test('takes a further part of the key from a function', async () => {
    const { server, counts } = createServer({ ttlMs: 100_000, key: ({ headers }) => headers['x-tenant'] ?? '' });
    for (const tenant of ['a', 'b', 'a', 'b']) {
      const options = { authInfo: ada, headers: { 'x-tenant': tenant } };
      await callServer(server, 'modern', 'tools/call', { name: 'read' }, options);
    }
    expect(counts.runs).toBe(2);
  });

  test('refuses a key that all callers would share', async () => {
    const key = (async () => 'tenant') as unknown as NonNullable<CacheResultsOptions['key']>;
    const { server, counts } = createServer({ ttlMs: 100_000, key });
    expect((await call(server, 'read')).result).toMatchObject({ isError: true });
    expect(counts.runs).toBe(0);
  });

  test('does not cache a date, which is sent as JSON and not as a text', async () => {
    const date = toolOf('date', async () => new Date(0));
    const server = new MCPServer({ name: 'n', version: '1', tools: { date }, logger });
    server.use(cacheResults({ ttlMs: 100_000, tools: ['date'] }));
    const first = await call(server, 'date');
    expect((await call(server, 'date')).result).toEqual(first.result);
  });

  test('does not cache what depends on the user, in a session', async () => {
    let count = 0;
    const requestedSchema = { type: 'object', properties: { count: { type: 'number' } } } as const;
    const ask = toolOf(
      'ask',
      async (_input, { mcp }) => (await mcp.elicitation.sendRequest({ message: 'Name?', requestedSchema })).content,
    );
    const server = new MCPServer({ name: 'n', version: '1', tools: { ask }, logger });
    server.use(cacheResults({ ttlMs: 100_000, tools: ['ask'] }));
    await using client = new MCPClient({ id: 'cache', servers: { n: { server, protocol: 'legacy' } } });
    await client.elicitation.onRequest('n', async () => ({ action: 'accept', content: { count: (count += 1) } }));
    const texts: unknown[] = [];
    // Two of them at once: the second does not take the result of the first.
    const callAsk = async (): Promise<unknown> =>
      texts.push((await client.callTool({ serverName: 'n', name: 'ask' })).content);
    await Promise.all([callAsk(), callAsk()]);
    await callAsk();
    expect(new Set(texts.map((text) => JSON.stringify(text))).size).toBe(3);
  });

  test('caches no errors and no values without a JSON form', async () => {
    const { server, counts } = createServer({ ttlMs: 100_000 });
    for (const name of ['wrong', 'fail', 'circular', 'wrong', 'fail', 'circular'])
      expect((await call(server, name)).result.isError).toBe(true);
    expect(counts.runs).toBe(6);
  });

  test('runs equal calls at once one time', async () => {
    const { server, counts } = createServer({ ttlMs: 100_000 });
    const calls = [call(server, 'gated'), call(server, 'gated'), call(server, 'gated')];
    await expect.poll(() => counts.runs).toBe(1);
    counts.release();
    for (const { result } of await Promise.all(calls)) expect(result.content[0].text).toBe('text');
    expect(counts.runs).toBe(1);
  });

  test('runs a waiting call when the first one is canceled', async () => {
    const { server, counts } = createServer({ ttlMs: 100_000 });
    const controller = new AbortController();
    const options = { authInfo: ada, signal: controller.signal };
    const canceled = callServer(server, 'modern', 'tools/call', { name: 'gated' }, options).catch(() => {});
    await expect.poll(() => counts.runs).toBe(1);
    const waiting = call(server, 'gated');
    controller.abort();
    await canceled;
    await expect.poll(() => counts.runs).toBe(2);
    counts.release();
    expect((await waiting).result.content[0].text).toBe('text');
  });

  test('is bounded by entries and by characters', async () => {
    const few = createServer({ ttlMs: 100_000, maxEntries: 2 });
    for (const a of [1, 2, 1, 3, 1, 2]) await call(few.server, 'read', { a });
    // 2 was the least recently used when 3 came.
    expect(few.counts.runs).toBe(4);
    const small = createServer({ ttlMs: 100_000, maxCharacters: 300 });
    const huge = { text: 'x'.repeat(10_000) };
    for (const args of [{}, huge, huge, {}]) await call(small.server, 'read', args);
    expect(small.counts.runs).toBe(3);
  });

  test('answers calls whose arguments are nested too deeply for a key', async () => {
    const { server, counts } = createServer({ ttlMs: 100_000 });
    const depth = 100_000;
    const nested = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}}`;
    for (let each = 0; each < 2; each += 1) {
      const response = await server.fetch(toRequest({ body: nested }), { serverless: true, authInfo: ada });
      expect(await response.json()).toMatchObject({ result: { content: [{ text: 'text' }] } });
    }
    expect(counts.runs).toBe(2);
  });

  test('forgets the results of a tool that was replaced', async () => {
    const { server, counts } = createServer({ ttlMs: 100_000 });
    await call(server, 'read');
    await server.toolActions.add({ read: createTool({ ...readOnly, id: 'read', execute: async () => 'new' }) });
    expect((await call(server, 'read')).result.content[0].text).toBe('new');
    expect(counts.runs).toBe(1);
  });

  test.each([
    {},
    { ttlMs: 0 },
    { ttlMs: Number.NaN },
    { ttlMs: 1, maxEntries: 0 },
    { ttlMs: 1, maxCharacters: -1 },
    { ttlMs: 1, tools: 'read' },
    { ttlMs: 1, cacheScope: 'shared' },
    { ttlMs: 1, key: 'tenant' },
  ])('rejects the options %j', (options) => {
    expect(() => cacheResults(options as CacheResultsOptions)).toThrow(errorOf('OPTIONS_INVALID'));
  });
});
