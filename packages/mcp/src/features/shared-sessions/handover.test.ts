import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readTestVariable } from '../../../../../scripts/test-variable.ts';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { afterTest } from '../../../test/after-test.ts';
import { messagesOf, readEvents, type EventReader } from '../../../test/clients/event-reader.ts';
import { openSharedStore } from '../../../test/stores/shared-tasks.ts';
import { initializeParams, openSession, rpc, send, toRequest } from '../../../test/clients/wire.ts';
import { ask } from '../../../test/servers/example-tools.ts';
import { MCPClient } from '../../client/index.js';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { MCPServer } from '../../server/mcp-server.js';

type OpenedStore = Awaited<ReturnType<typeof openSharedStore>>;

const services = {
  PostgreSQL: readTestVariable('QUIVER_POSTGRES_URL'),
  Redis: readTestVariable('QUIVER_REDIS_URL'),
};
const name = `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
const memory = new InMemoryStore();
const stores: [string, () => Promise<OpenedStore>, boolean][] = [
  ['memory', async () => ({ store: memory, close: async () => {} }), true],
  ...Object.entries(services).map(([service, url = '']): [string, () => Promise<OpenedStore>, boolean] => [
    service,
    () => openSharedStore(url, name),
    url !== '',
  ]),
];

/** A server over HTTP with its own connection to the store, and the calls that it runs. */
interface Instance {
  readonly server: MCPServer;
  readonly url: string;
  readonly store: OpenedStore;
  readonly runs: string[];
}

for (const [service, open, isAvailable] of stores) {
  describe.skipIf(!isAvailable)(`an instance that closes, with ${service}`, () => {
    let a: Instance;
    let b: Instance;
    let finish: Map<string, () => void>;

    async function start(): Promise<Instance> {
      const store = await open();
      const runs: string[] = [];
      const tools = {
        wait: toolOf('wait', { inputSchema: z.object({ key: z.string() }) }, async ({ key }, { mcp }) => {
          await mcp.log('info', 'started');
          runs.push(key);
          await new Promise<void>((resolve) => finish.set(key, resolve));
          return 'done';
        }),
        ask,
        report: toolOf(
          'report',
          {
            inputSchema: z.object({ key: z.string() }),
            mcp: { task: { mode: 'required', resume: true, pollIntervalMs: 20 } },
          },
          async ({ key }, { abortSignal }) => {
            runs.push(key);
            await new Promise<void>((resolve, reject) => {
              finish.set(`${key} ${runs === b?.runs ? 'b' : 'a'}`, resolve);
              abortSignal?.addEventListener('abort', () => reject(abortSignal.reason as Error));
            });
            return `reported ${key}`;
          },
        ),
      };
      const server = new MCPServer({ name, version: '1.0.0', sharedStore: store.store, tools });
      const { url } = await server.listen();
      return { server, url, store, runs };
    }

    beforeEach(async () => {
      finish = new Map();
      a = await start();
      b = await start();
    });
    afterEach(async () => {
      for (const end of finish.values()) end();
      await Promise.all([a, b].map(({ server }) => server.close({ grace: 0 })));
      for (const key of await b.store.store.keys('')) await b.store.store.delete(key);
      await Promise.all([a, b].map(({ store }) => store.close()));
      if (service !== 'PostgreSQL') return;
      const pool = new Pool({ connectionString: services.PostgreSQL });
      await pool.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`);
      await pool.end();
    });

    async function streamCall(headers: Record<string, string>, tool: string, args: object = {}): Promise<EventReader> {
      const body = rpc('tools/call', { name: tool, arguments: args }, 7);
      const stream = await readEvents(a.url, { method: 'POST', headers, body });
      await expect.poll(() => messagesOf(stream).length).toBe(1);
      return stream;
    }

    const interrupted = { id: 7, error: { code: -32603, data: { code: 'REQUEST_INTERRUPTED' } } };

    test('answers a call with an error, on its stream and to clients that resume elsewhere', async () => {
      const session = await openSession(a.url, {}, { elicitation: {} });
      const staying = await streamCall(session, 'wait', { key: '1' });
      const broken = await streamCall(await openSession(a.url, {}, { elicitation: {} }), 'wait', { key: '2' });
      broken.destroy();
      const lastEventId = String(broken.events.at(-1)?.id);
      const other = { 'mcp-session-id': lastEventId.slice(0, lastEventId.indexOf('/')) };
      const resume = { headers: { ...session, ...other, 'last-event-id': lastEventId } };
      const resumed = await readEvents(b.url, resume);
      await a.server.close({ grace: 0 });
      for (const stream of [staying, resumed]) {
        await stream.ended;
        expect(messagesOf(stream).at(-1)).toMatchObject(interrupted);
      }
      // Also to those that come later.
      const late = await readEvents(b.url, resume);
      await late.ended;
      expect(messagesOf(late)).toMatchObject([interrupted]);
    });

    test('receives the response of a user through another instance, and its session continues there', async () => {
      const session = await openSession(a.url, {}, { elicitation: {} });
      const stream = await streamCall(session, 'ask');
      const closing = a.server.close();
      // The listener closes at once.
      await expect(async () => {
        for (;;) await send(a.url, { headers: session, body: rpc('ping') });
      }).rejects.toThrow(/ECONNREFUSED|hang up|ECONNRESET/);
      const result = { action: 'accept', content: { name: 'Ada' } };
      const answer = { headers: session, body: { jsonrpc: '2.0', id: messagesOf(stream)[0].id, result } };
      expect((await send(b.url, answer)).status).toBe(202);
      await stream.ended;
      expect(messagesOf(stream).at(-1)).toMatchObject({ id: 7, result: { content: [{ text: 'Hello Ada' }] } });
      await closing;
      expect((await send(b.url, { headers: session, body: rpc('ping') })).json).toMatchObject({ result: {} });
    });

    test('opens sessions, unless it refuses them for other instances', async () => {
      const body = rpc('initialize', initializeParams);
      await a.server.drain();
      const { headers, status } = await send(a.url, { body });
      expect([status, headers.connection]).toEqual([200, 'close']);
      const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
      expect((await send(b.url, { headers: session, body: rpc('ping') })).status).toBe(200);
      const refusing = await a.server.fetch(toRequest({ body }), { refuseSessionsWhileDraining: true });
      expect([refusing.status, refusing.headers.get('retry-after')]).toEqual([503, '5']);
      await a.server.close();
      await b.server.drain();
      // No other instance is left.
      const alone = await b.server.fetch(toRequest({ body }), { refuseSessionsWhileDraining: true });
      expect(alone.status).toBe(200);
    });

    test('leaves a task to another instance, which runs it without a request', async () => {
      const [first, second] = [a, b].map(
        ({ url }, index) => new MCPClient({ id: `${service} ${index}`, servers: { it: { url, protocol: 'modern' } } }),
      ) as [MCPClient, MCPClient];
      afterTest(
        () => first.disconnect(),
        () => second.disconnect(),
      );
      const handle = await first.tasks.start({ serverName: 'it', name: 'report', args: { key: 'x' } });
      expect(a.server.health().tasks).toBe(1);
      await a.server.close({ grace: 0 });
      await expect.poll(() => b.runs).toEqual(['x']);
      finish.get('x b')?.();
      expect((await second.tasks.result(handle)).content).toEqual([{ type: 'text', text: 'reported x' }]);
      expect([a.runs, b.runs]).toEqual([['x'], ['x']]);
    });
  });
}
