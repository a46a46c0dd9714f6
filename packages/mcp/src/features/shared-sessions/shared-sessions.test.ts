import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { messagesOf, readEvents, type EventReader } from '../../../test/clients/event-reader.ts';
import { eventually } from '../../../test/eventually.ts';
import {
  initializeParams,
  openSession as openWireSession,
  rpc,
  send,
  type WireAnswer,
  toRequest,
} from '../../../test/clients/wire.ts';
import { ask } from '../../../test/servers/example-tools.ts';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import type { SharedStore } from '../../shared-store/shared-store.js';
import { MCPServer } from '../../server/mcp-server.js';
import type { MCPServerConfig } from '../../server/features.js';
import type { ListenOptions } from '../../server/http/listen.js';

/** Calls that run until the test lets them continue. */
let gates: Map<string, () => void>;
let aborted: string[];

const tools = {
  whoAmI: toolOf('whoAmI', async (_input, { mcp }) => mcp.extra?.sessionId ?? 'none'),
  ask,
  wait: toolOf('wait', { inputSchema: z.object({ gate: z.string() }) }, async ({ gate }, { mcp }) => {
    mcp.extra?.signal?.addEventListener('abort', () => aborted.push(gate));
    await mcp.log('info', 'started');
    await new Promise<void>((resolve) => {
      gates.set(gate, resolve);
      mcp.extra?.signal?.addEventListener('abort', () => resolve());
    });
    await mcp.log('info', 'continued');
    return `done ${gate}`;
  }),
};

const resources = {
  listResources: async () => [{ uri: 'file:///a', name: 'a' }],
  getResourceContent: async () => ({ text: 'a' }),
};

const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let store: InMemoryStore;
let running: MCPServer[];

beforeEach(() => {
  store = new InMemoryStore();
  running = [];
  gates = new Map();
  aborted = [];
});
afterEach(async () => {
  for (const open of gates.values()) open();
  vi.useRealTimers();
  vi.restoreAllMocks();
  await Promise.all(running.map((server) => server.close({ grace: 100 })));
  vi.clearAllMocks();
});

async function startInstance(config: Partial<MCPServerConfig> = {}, options: ListenOptions = {}) {
  const sharedStore: SharedStore = store;
  const server = new MCPServer({ name: 'Shared', version: '1', tools, resources, logger, sharedStore, ...config });
  running.push(server);
  const { url } = await server.listen({ shutdownGrace: 100, ...options });
  return { server, url };
}

/** Two instances, and a session that the first has opened. */
async function startShared(config?: Partial<MCPServerConfig>, options?: ListenOptions) {
  const [a, b] = [await startInstance(config, options), await startInstance(config, options)];
  return { a, b, session: await openSession(a.url) };
}

function openSession(url: string, capabilities: object = { elicitation: {} }): Promise<Record<string, string>> {
  return openWireSession(url, {}, capabilities);
}

function call(url: string, headers: Record<string, string>, name: string, args: object = {}): Promise<WireAnswer> {
  return send(url, { headers, body: rpc('tools/call', { name, arguments: args }, 7) });
}

function streamCall(url: string, headers: Record<string, string>, name: string): Promise<EventReader> {
  const body = rpc('tools/call', { name, arguments: { gate: 'one' } }, 7);
  return readEvents(url, { method: 'POST', headers, body });
}

async function streamWaiting(url: string, headers: Record<string, string>): Promise<EventReader> {
  const stream = await streamCall(url, headers, 'wait');
  await eventually(() => expect(messagesOf(stream)).toHaveLength(1));
  return stream;
}

/** Breaks the stream of a call that waits, and returns the id of its last event. */
async function loseStream(url: string, headers: Record<string, string>): Promise<string> {
  const stream = await streamWaiting(url, headers);
  stream.destroy();
  return stream.events[0]?.id ?? '';
}

function readStream(url: string, session: Record<string, string>, last?: string): Promise<EventReader> {
  return readEvents(url, { headers: { ...session, ...(last !== undefined && { 'last-event-id': last }) } });
}

function methodsOf(reader: EventReader): string[] {
  return messagesOf(reader).map(({ method }) => method);
}

describe('a session of several instances', () => {
  test('is invisible to other servers and to other principals', async () => {
    const a = await startInstance();
    const other = await startInstance({ name: 'Other' });
    const session = await openSession(a.url);
    expect((await call(other.url, session, 'whoAmI')).status).toBe(404);

    const { server } = await startInstance();
    const request = () => toRequest({ headers: session, body: rpc('tools/call', { name: 'whoAmI', arguments: {} }) });
    expect((await server.fetch(request())).status).toBe(200);
    const stranger = await server.fetch(request(), { authInfo: { token: 'secret', clientId: 'c', scopes: [] } });
    expect(stranger.status).toBe(404);
  });

  test('keeps no token in the store', async () => {
    const { server } = await startInstance();
    const request = toRequest({ body: rpc('initialize', initializeParams) });
    const authInfo = { token: 'very-secret', clientId: 'c', scopes: [] };
    expect((await server.fetch(request, { authInfo })).status).toBe(200);
    const records = await Promise.all((await store.keys('')).map((key) => store.get(key)));
    expect(records).toHaveLength(2);
    expect(JSON.stringify(records)).not.toContain('very-secret');
  });

  test('ends everywhere with DELETE at any of them', async () => {
    const { a, b, session } = await startShared();
    const stream = await readStream(a.url, session);
    const running = await streamWaiting(a.url, session);
    expect((await send(b.url, { method: 'DELETE', headers: session })).status).toBe(200);
    await Promise.all([stream.ended, running.ended]);
    expect(aborted).toEqual(['one']);
    for (const { url } of [a, b]) {
      const { status, json } = await call(url, session, 'whoAmI');
      expect([status, json.error.message]).toEqual([404, expect.stringContaining('Session not found: it ended')]);
    }
  });

  test('survives the graceful end of an instance', async () => {
    const { a, b, session } = await startShared();
    await a.server.close();
    expect((await call(b.url, session, 'whoAmI')).status).toBe(200);
  });

  test('ends when its lifetime in the store is over, independent of the clocks of the instances', async () => {
    let now = 0;
    store = new InMemoryStore(() => now);
    const { a, b, session } = await startShared({}, { idleTimeout: 60_000 });
    now += 50_000;
    expect((await call(b.url, session, 'whoAmI')).status).toBe(200);
    now += 70_000;
    expect((await call(a.url, session, 'whoAmI')).status).toBe(200);
    now += 80_000;
    expect((await call(b.url, session, 'whoAmI')).status).toBe(404);
  });

  test('is refused with 503 while the store is unavailable', async () => {
    const { a, session } = await startShared();
    const get = vi.spyOn(store, 'get').mockRejectedValue(new Error('connection refused'));
    const { status, json } = await call(a.url, session, 'whoAmI');
    expect([status, json.error.message]).toEqual([503, expect.stringContaining('unavailable; try again later')]);
    expect(logger.error).toHaveBeenCalledWith(expect.stringContaining('connection refused'), expect.anything());
    get.mockRestore();
    expect((await call(a.url, session, 'whoAmI')).status).toBe(200);
    vi.spyOn(store, 'put').mockRejectedValueOnce(new Error('full'));
    expect((await send(a.url, { body: rpc('initialize', initializeParams) })).status).toBe(503);
    vi.spyOn(store, 'put').mockRejectedValueOnce(new Error('full'));
    const level = { headers: session, body: rpc('logging/setLevel', { level: 'error' }) };
    expect((await send(a.url, level)).status).toBe(503);
  });

  test('is not found when its record was damaged', async () => {
    const { a, b } = await startShared();
    for (const value of ['not JSON', 'null', '{}', '{"principal":""}']) {
      const session = await openSession(a.url);
      await store.put(`session/Shared/${session['mcp-session-id']}`, value);
      expect((await call(b.url, session, 'whoAmI')).status).toBe(404);
      expect((await call(a.url, session, 'whoAmI')).status).toBe(404);
    }
  });

  test('keeps its principal when its record is replaced with one of another caller', async () => {
    const { a, b, session } = await startShared();
    const key = `session/Shared/${session['mcp-session-id']}`;
    const state = JSON.parse((await store.get(key))?.value ?? '') as object;
    await store.put(key, JSON.stringify({ ...state, owner: 'other' }));
    expect((await call(b.url, session, 'whoAmI')).status).toBe(404);
    expect((await call(a.url, session, 'whoAmI')).status).toBe(404);
  });

  test('is refused when the generator of ids repeats one of another instance', async () => {
    const { b } = await startShared({}, { sessionIdGenerator: () => 'always-the-same' });
    const second = await send(b.url, { body: rpc('initialize', initializeParams) });
    expect(second.json.error).toMatchObject({ code: -32603 });
    expect((await call(b.url, { 'mcp-session-id': 'always-the-same' }, 'whoAmI')).status).toBe(200);
  });

  test('keeps both of two changes that two instances make at once', async () => {
    const { a, b, session } = await startShared();
    const uris = Array.from({ length: 20 }, (_, index) => `file:///${index}`);
    const answers = await Promise.all(
      uris.map((uri, index) =>
        send([a, b][index % 2]?.url ?? '', { headers: session, body: rpc('resources/subscribe', { uri }, index) }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(uris.map(() => 200));
    const record = await store.get(`session/Shared/${session['mcp-session-id']}`);
    expect((JSON.parse(record?.value ?? '') as { subscriptions: string[] }).subscriptions.sort()).toEqual(uris.sort());
  });

  test('is served to the end of its calls when its instance closes', async () => {
    const { a, session } = await startShared({}, { shutdownGrace: 20_000 });
    const stream = await streamWaiting(a.url, session);
    const closing = a.server.close();
    await new Promise((resolve) => setImmediate(resolve));
    gates.get('one')?.();
    await closing;
    await stream.ended;
    expect(aborted).toEqual([]);
    expect(messagesOf(stream).at(-1)).toMatchObject({ result: { content: [{ text: 'done one' }] } });
  });

  test('receives a result that a slow store accepts while its instance closes', async () => {
    const append = store.append.bind(store);
    vi.spyOn(store, 'append').mockImplementation(async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return append(...args);
    });
    const { a, session } = await startShared({}, { shutdownGrace: 20_000 });
    const stream = await streamWaiting(a.url, session);
    gates.get('one')?.();
    await a.server.close();
    await stream.ended;
    expect(messagesOf(stream).at(-1)).toMatchObject({ result: { content: [{ text: 'done one' }] } });
  });

  test('survives the end of another endpoint of its instance', async () => {
    const a = await startInstance();
    const second = await a.server.listen({ shutdownGrace: 100 });
    const session = await openSession(a.url);
    expect((await call(second.url, session, 'whoAmI')).status).toBe(200);
    const stream = await streamWaiting(a.url, session);
    await second.close();
    gates.get('one')?.();
    await stream.ended;
    expect(aborted).toEqual([]);
  });

  test('counts for the limit also when many are opened at once', async () => {
    const a = await startInstance({}, { maxSessions: 2 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send(a.url, { body: rpc('initialize', initializeParams) })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  });

  test('is served by an instance whose inbox is open, also after a failure', async () => {
    const { b, session } = await startShared();
    const subscribe = vi.spyOn(store, 'subscribe').mockRejectedValue(new Error('connection refused'));
    expect((await call(b.url, session, 'whoAmI')).status).toBe(503);
    expect(await store.keys('instance/')).toHaveLength(1);
    subscribe.mockRestore();
    expect((await call(b.url, session, 'whoAmI')).status).toBe(200);
    expect(await store.keys('instance/')).toHaveLength(2);
  });

  test('is not opened where the inbox cannot be opened', async () => {
    const a = await startInstance();
    const subscribe = vi.spyOn(store, 'subscribe').mockRejectedValue(new Error('connection refused'));
    expect((await send(a.url, { body: rpc('initialize', initializeParams) })).status).toBe(503);
    subscribe.mockRestore();
    expect(await store.keys('session/')).toEqual([]);
  });

  test('changes although the store lost its newest record, as after a failover', async () => {
    const { a, session } = await startShared();
    const setLevel = (level: string) => send(a.url, { headers: session, body: rpc('logging/setLevel', { level }) });
    let record = (await store.get(`session/Shared/${session['mcp-session-id']}`)) as { value: string; version: number };
    await setLevel('error');
    vi.spyOn(store, 'get').mockImplementation(async () => record);
    const put = vi.spyOn(store, 'put').mockImplementation(async (_key, value, { version } = {}) => {
      if (put.mock.calls.length > 10) throw new Error('The session tries without end.');
      if (version !== record.version) return undefined;
      record = { value, version: version + 1 };
      return record.version;
    });
    expect((await setLevel('info')).status).toBe(200);
    expect(put).toHaveBeenCalledTimes(2);
    expect(record.value).toContain('"info"');
  });
});

describe('a request to the client', () => {
  test('is not answered by another session, which knows its id', async () => {
    const { a, b, session } = await startShared();
    const thief = await openSession(a.url);
    const stream = await streamCall(b.url, session, 'ask');
    const question = await eventually(() => {
      expect(messagesOf(stream)).toHaveLength(1);
      return messagesOf(stream)[0] as { id: string };
    });
    const forged = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Eve' } } };
    for (const { url } of [a, b]) await send(url, { headers: thief, body: forged });
    const body = { ...forged, result: { action: 'accept', content: { name: 'Ada' } } };
    await send(a.url, { headers: session, body });
    await stream.ended;
    expect(messagesOf(stream).at(-1).result.content[0].text).toBe('Hello Ada');
  });

  test('gets no response that no instance can receive', async () => {
    const { a, session } = await startShared();
    const answer = (id: string) => send(a.url, { headers: session, body: { jsonrpc: '2.0', id, result: {} } });
    const dead = await answer('server-0123456789abcdef-1');
    expect([dead.status, dead.json.error.message]).toEqual([400, expect.stringContaining('has ended')]);
    expect((await answer('server-../../etc-1')).status).toBe(202);
  });

  test('is sent outside of a call to a session that another instance opened', async () => {
    const { a, b, session } = await startShared();
    const stream = await readStream(a.url, session);
    const requestedSchema = { type: 'object', properties: {} } as const;
    const asked = b.server.elicitation.sendRequest(
      { message: 'Sure?', requestedSchema },
      { sessionId: String(session['mcp-session-id']) },
    );
    const question = await eventually(() => {
      const found = messagesOf(stream).find(({ method }) => method === 'elicitation/create');
      expect(found).toBeDefined();
      return found as { id: string };
    });
    const body = { jsonrpc: '2.0', id: question.id, result: { action: 'decline' } };
    expect((await send(a.url, { headers: session, body })).status).toBe(202);
    expect(await asked).toMatchObject({ action: 'decline' });
  });
});

describe('a message for another instance', () => {
  test('cancels a request there', async () => {
    const { a, b, session } = await startShared();
    const stream = await streamWaiting(a.url, session);
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    const other = await openSession(a.url);
    expect((await send(b.url, { headers: other, body })).status).toBe(202);
    expect((await send(b.url, { headers: session, body })).status).toBe(202);
    await stream.ended;
    expect(aborted).toEqual(['one']);
  });

  test('changes the log level there', async () => {
    const { a, b, session } = await startShared();
    await call(b.url, session, 'whoAmI');
    await send(a.url, { headers: session, body: rpc('logging/setLevel', { level: 'error' }) });
    const answering = call(b.url, session, 'wait', { gate: 'one' });
    await eventually(() => expect(gates.size).toBe(1));
    gates.get('one')?.();
    const { headers, json } = await answering;
    // A message would have made it an event stream.
    expect(headers['content-type']).toBe('application/json');
    expect(json.result.content[0].text).toBe('done one');
  });
});

describe('a standalone event stream', () => {
  test('receives changes from any instance, once, and only those that the client subscribed to', async () => {
    const { a, b, session } = await startShared();
    const c = await startInstance();
    for (const { url } of [a, b, c]) await call(url, session, 'whoAmI');
    const stream = await readStream(b.url, session);
    const subscribe = (uri: string) => send(a.url, { headers: session, body: rpc('resources/subscribe', { uri }) });
    await subscribe('file:///a');
    await c.server.resources.notifyUpdated({ uri: 'file:///a' });
    await c.server.resources.notifyUpdated({ uri: 'file:///b' });
    await a.server.toolActions.notifyListChanged();
    await eventually(() => expect(methodsOf(stream)).toContain('notifications/tools/list_changed'));
    expect(methodsOf(stream)).toEqual(['notifications/resources/updated', 'notifications/tools/list_changed']);
  });

  test('receives the messages that another instance sends outside of responses', async () => {
    const { a, b, session } = await startShared({}, { enableJsonResponse: true });
    const stream = await readStream(a.url, session);
    const answering = call(b.url, session, 'wait', { gate: 'one' });
    await eventually(() => expect(gates.size).toBe(1));
    gates.get('one')?.();
    expect((await answering).json.result.content[0].text).toBe('done one');
    await eventually(() =>
      expect(messagesOf(stream).map(({ params }) => params.data)).toEqual(['started', 'continued']),
    );
  });

  test('moves to the instance that the client opens it at, and continues after the last event', async () => {
    const { a, b, session } = await startShared();
    const first = await readStream(a.url, session);
    await b.server.toolActions.notifyListChanged();
    await eventually(() => expect(methodsOf(first)).toEqual(['notifications/tools/list_changed']));
    const last = first.events.at(-1)?.id ?? '';
    const closing = a.server.close();
    await first.ended;
    await closing;
    await b.server.resources.notifyListChanged();
    const second = await readStream(b.url, session, last);
    await b.server.toolActions.notifyListChanged();
    // The change that no instance sent is announced again.
    await eventually(() =>
      expect(methodsOf(second)).toEqual([
        'notifications/tools/list_changed',
        'notifications/resources/list_changed',
        'notifications/tools/list_changed',
      ]),
    );
  });

  test('is resumed after a long quiet time of a session with a longer idleTimeout', async () => {
    let elapsed = 0;
    store = new InMemoryStore(() => Date.now() + elapsed);
    const { a, b, session } = await startShared({}, { idleTimeout: 2 * 3_600_000 });
    const first = await readStream(a.url, session);
    await eventually(() => expect(first.events).toHaveLength(1));
    const last = first.events[0]?.id ?? '';
    first.destroy();
    elapsed = 3_600_000;
    const second = await readStream(b.url, session, last);
    expect(second.status).toBe(200);
  });

  test('announces the lists of a server that was mounted meanwhile when it moves', async () => {
    const { a, b, session } = await startShared();
    await readStream(a.url, session);
    await b.server.mount('other', new MCPServer({ name: 'Other', version: '1.0.0', tools: {} }));
    const second = await readStream(b.url, session);
    await eventually(() => expect(methodsOf(second)).toContain('notifications/prompts/list_changed'));
  });

  test('ends at an instance that begins to drain', async () => {
    const { a, b, session } = await startShared();
    const first = await readStream(a.url, session);
    await a.server.drain();
    await first.ended;
    const second = await readStream(b.url, session);
    await a.server.toolActions.notifyListChanged();
    await eventually(() => expect(methodsOf(second)).toContain('notifications/tools/list_changed'));
  });

  test('ends at the instance that had it when the client opens it at another one', async () => {
    const { a, b, session } = await startShared();
    const first = await readStream(a.url, session);
    expect((await readStream(a.url, session)).status).toBe(409);
    const second = await readStream(b.url, session);
    await first.ended;
    await a.server.toolActions.notifyListChanged();
    await eventually(() => expect(methodsOf(second)).toContain('notifications/tools/list_changed'));
  });

  test('is open at one instance when the client opens it at two at once', async () => {
    const { a, b, session } = await startShared();
    const append = store.append.bind(store);
    vi.spyOn(store, 'append').mockImplementation(async (...args) => {
      const id = await append(...args);
      // Meanwhile the other instance takes the stream.
      await new Promise((resolve) => setTimeout(resolve, 20));
      return id;
    });
    await call(b.url, session, 'whoAmI');
    const open = new Set<EventReader>();
    await Promise.all(
      [a, b].map(async ({ url }) => {
        const stream = await readStream(url, session);
        if (stream.status === 200) open.add(stream);
        void stream.ended.then(() => open.delete(stream));
      }),
    );
    await eventually(() => expect(open.size).toBe(1));
  });

  test('ends with its session also when the message about that is lost', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
    const { a, b, session } = await startShared({}, { idleTimeout: 60_000 });
    const stream = await readStream(a.url, session);
    const publish = vi.spyOn(store, 'publish').mockResolvedValue();
    await send(b.url, { method: 'DELETE', headers: session });
    publish.mockRestore();
    vi.advanceTimersByTime(30_000);
    await expect(stream.ended).resolves.toBeUndefined();
  });
});

describe('the event stream of a call', () => {
  test('is resumed at another instance while the call runs', async () => {
    const { a, b, session } = await startShared();
    const last = await loseStream(a.url, session);
    const second = await readStream(b.url, session, last);
    await eventually(() => expect(messagesOf(second)).toHaveLength(1));
    // If this stream breaks before its first message, the client must know where to continue.
    expect(second.events[0]).toMatchObject({ id: last, data: '' });
    gates.get('one')?.();
    await second.ended;
    expect(messagesOf(second)).toMatchObject([
      { params: { data: 'started' } },
      { params: { data: 'continued' } },
      { id: 7, result: { content: [{ text: 'done one' }] } },
    ]);
    // Complete: what is left is replayed.
    const third = await readStream(a.url, session, second.events.at(-2)?.id ?? '');
    await third.ended;
    expect(messagesOf(third)).toMatchObject([{ id: 7 }]);
    const end = third.events.at(-1)?.id ?? '';
    expect((await readStream(b.url, session, end)).status).toBe(400);
  });

  test('is not resumed by another session, or after an unknown event', async () => {
    const { a, b, session } = await startShared();
    const thief = await openSession(a.url);
    const last = await loseStream(a.url, session);
    for (const [headers, id] of [
      [thief, last],
      [session, `${last}9`],
      [session, 'x'],
      [session, `${String(session['mcp-session-id'])}/own_1`],
    ] as const) {
      const { status } = await readStream(b.url, headers, id);
      expect(status).toBe(400);
    }
  });

  test('ends with an error when the instance that ran the call is dead', async () => {
    const { a, b, session } = await startShared();
    const last = await loseStream(a.url, session);
    const [, instance] = /\/([\da-f]{16})\./.exec(last) ?? [];
    await store.delete(`instance/Shared/${instance}`);
    const second = await readStream(b.url, session, last);
    await second.ended;
    expect(messagesOf(second)).toMatchObject([
      { params: { data: 'started' } },
      { id: 7, error: { message: expect.stringContaining('has ended') } },
    ]);
    // Clients of the official SDK 1.x resume after an error.
    const end = second.events.at(-1)?.id ?? '';
    for (const { url } of [a, b]) expect((await readStream(url, session, end)).status).toBe(400);
  });
});
