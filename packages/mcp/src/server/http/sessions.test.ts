import { connect } from 'node:net';
import { createTool } from '@quiver/core/tools';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { mountServer } from '../../../test/servers/mount-server.ts';
import { readEvents } from '../../../test/clients/event-reader.ts';
import { exampleTools, waiting } from '../../../test/servers/example-tools.ts';
import { initializeParams, openSession, rpc, send, toRequest } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import { sessionCallerOf, SessionStore, type HttpSession } from './sessions.js';
import type { HttpRequest } from './message.js';

describe('the store', () => {
  const minute = 60_000;
  const start = () => {
    let now = Date.now();
    const store = new SessionStore();
    const create = (id: string): Promise<HttpSession> =>
      store.create({ principal: '', callerKey: undefined }, { idleTimeout: 30 * minute }, () => id);
    const pass = (milliseconds: number): void => store.sweep((now += milliseconds));
    return { store, create, pass };
  };

  test('ends an idle session', async () => {
    const { store, create, pass } = start();
    await create('a');
    pass(29 * minute);
    expect(store.size).toBe(1);
    pass(2 * minute);
    expect(store.size).toBe(0);
  });

  test('keeps a session with a request in flight', async () => {
    const { store, create, pass } = start();
    const session = await create('a');
    session.inFlight.add(1, { cancel() {} });
    pass(100 * minute);
    expect([...store]).toEqual([session]);
  });

  test('cancels the requests of a session that ends', async () => {
    const { store, create } = start();
    const session = await create('a');
    let isCanceled = false;
    session.inFlight.add(1, { cancel: () => void (isCanceled = true) });
    await store.end(session);
    expect(isCanceled).toBe(true);
  });

  test('rejects an id that is not a header value, or is in use', async () => {
    const { create } = start();
    await create('a');
    for (const id of ['a', 'with space', 'ümlaut', '', 'line\nbreak']) {
      await expect(create(id)).rejects.toThrow(expect.objectContaining({ code: 'SESSION_ID_INVALID' }));
    }
  });
});

const ping = async (url: string, headers: Record<string, string>): Promise<number> =>
  (await send(url, { headers, body: rpc('ping') })).status;

describe('over HTTP', () => {
  let server: MCPServer;
  beforeEach(() => {
    server = new MCPServer({ name: 'Sessions', version: '1.0.0', tools: exampleTools });
  });
  afterEach(() => server.close());

  test('a second stream is refused, and the first keeps its session alive', async () => {
    const { url } = await server.listen({ idleTimeout: 1_500 });
    const session = await openSession(url);
    const first = await readEvents(url, { headers: session });
    expect((await readEvents(url, { headers: session })).status).toBe(409);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await ping(url, session)).toBe(200);
    first.destroy();
    await expect.poll(() => ping(url, session)).toBe(200);
  });

  test('a session in use survives when the wall clock is set forward or back', async () => {
    const { url } = await server.listen({ idleTimeout: 60_000 });
    const headers = await openSession(url);
    const real = Date.now;
    onTestFinished(() => void (Date.now = real));
    for (const hours of [2, -2]) {
      Date.now = () => real() + hours * 3_600_000;
      expect(await ping(url, headers)).toBe(200);
    }
  });

  test('no caller takes all sessions of a small server by default', async () => {
    const open = async (user: string): Promise<number> => {
      const request = toRequest({ body: rpc('initialize', initializeParams) });
      return (await server.fetch(request, { maxSessions: 5, authInfo: { extra: { sub: user } } })).status;
    };
    expect([await open('ada'), await open('ada'), await open('ada')]).toEqual([200, 200, 429]);
    expect([await open('bob'), await open('eve')]).toEqual([200, 200]);
  });

  test('an idle session is answered 404', async () => {
    const { url } = await server.listen({ idleTimeout: 100 });
    const headers = await openSession(url);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await ping(url, headers)).toBe(404);
  });

  test('rejects sessions beyond the limit and keeps the existing ones', async () => {
    const { url } = await server.listen({ maxSessions: 2 });
    const headers = await openSession(url);
    await openSession(url);
    const refused = await send(url, { body: rpc('initialize', initializeParams) });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('60');
    expect(await ping(url, headers)).toBe(200);
  });

  test('refuses a caller with too many sessions and serves other callers', async () => {
    const options = { maxSessions: 10, maxSessionsPerCaller: 2 };
    const url = await mountServer(server, { options }, (req) =>
      Object.assign(req, { auth: { userId: req.headers['x-user'] } }),
    );
    const open = (user: string): ReturnType<typeof send> =>
      send(url, { headers: { 'x-user': user }, body: rpc('initialize', initializeParams) });
    const [first] = [await open('ada'), await open('ada')];
    const refused = await open('ada');
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect(refused.json.error.message).toContain('2 open sessions');
    expect((await open('bob')).status).toBe(200);
    const ended = { 'x-user': 'ada', 'mcp-session-id': String(first?.headers['mcp-session-id']) };
    expect((await send(url, { method: 'DELETE', headers: ended })).status).toBe(200);
    expect((await open('ada')).status).toBe(200);
  });

  test('counts sessions without authentication by network address, except for loopback addresses', () => {
    const callers = ['192.0.2.7', '127.0.0.1', '::1', '::ffff:127.0.0.1', undefined].map((remoteAddress) =>
      sessionCallerOf({ remoteAddress } as HttpRequest),
    );
    expect(callers.flatMap(({ callerKey }) => callerKey ?? [])).toEqual(['address 192.0.2.7']);
    const request = { remoteAddress: '192.0.2.7', authInfo: { token: 'ada' } } as HttpRequest;
    const { principal, callerKey } = sessionCallerOf(request);
    expect(callerKey).toBe(principal);
  });

  test.each([
    [['2001:db8::1', '2001:db8:0:0:ffff::', '2001:0DB8:0:0::', '2001:db8::1%eth0'], 'address 2001:db8:0:0::/64'],
    [['1::', '1::2:3:4:5'], 'address 1:0:0:0::/64'],
    [['::2:3:4:5:6:7', '0:0:2:3::'], 'address 0:0:2:3::/64'],
    [['2001:db8:0:1::1'], 'address 2001:db8:0:1::/64'],
    [['fe80::1'], 'address fe80::1'],
    [['fe80::2%eth0'], 'address fe80::2%eth0'],
    [['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:192.0.2.7'], 'address 192.0.2.7'],
  ])('counts the addresses %j of one site as one caller', (addresses, key) => {
    const callers = addresses.map((remoteAddress) => sessionCallerOf({ remoteAddress } as HttpRequest).callerKey);
    expect(new Set(callers)).toEqual(new Set([key]));
  });

  test('refuses a request when too many of its session are unfinished', async () => {
    let finish!: () => void;
    const waiting = new Promise<void>((resolve) => (finish = resolve));
    const wait = createTool({ id: 'wait', description: 'Waits', execute: () => waiting });
    const slow = new MCPServer({ name: 'Slow', version: '1.0.0', tools: { wait } });
    afterTest(() => slow.close());
    const { url } = await slow.listen({ maxRequestsPerSession: 2 });
    const headers = await openSession(url);
    const call = (id: number): ReturnType<typeof send> =>
      send(url, { headers, body: rpc('tools/call', { name: 'wait' }, id) });
    const running = [call(1), call(2)];
    await expect.poll(async () => (await send(url, { headers, body: rpc('ping', {}, 3) })).status).toBe(429);
    const others = await openSession(url);
    expect(await ping(url, others)).toBe(200);
    finish();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await ping(url, headers)).toBe(200);
  });

  test('a session belongs to the caller that opened it', async () => {
    const users: Record<string, object> = {
      'Bearer a1': { token: 'a1', userId: 'a' },
      'Bearer a2': { token: 'a2', userId: 'a' },
      'Bearer b': { token: 'b', userId: 'b' },
      'Bearer t1': { token: 't1', clientId: 'app' },
      'Bearer t2': { token: 't2', clientId: 'app' },
    };
    const url = await mountServer(server, {}, (req) =>
      Object.assign(req, { auth: users[req.headers.authorization ?? ''] }),
    );
    const status = (session: Record<string, string>, authorization?: string): Promise<number> =>
      ping(url, { ...session, ...(authorization !== undefined && { authorization }) });
    const ofUser = await openSession(url, { authorization: 'Bearer a1' });
    expect(await status(ofUser, 'Bearer a1')).toBe(200);
    expect(await status(ofUser, 'Bearer a2')).toBe(200);
    expect(await status(ofUser, 'Bearer b')).toBe(404);
    expect(await status(ofUser)).toBe(404);
    const ofToken = await openSession(url, { authorization: 'Bearer t1' });
    expect(await status(ofToken, 'Bearer t2')).toBe(404);
    const answer = await send(url, {
      headers: { ...ofUser, authorization: 'Bearer a1' },
      body: rpc('tools/call', { name: 'whoami' }),
    });
    expect(JSON.parse(answer.json.result.content[0].text)).toMatchObject({
      authInfo: { token: 'a1', userId: 'a', extra: { userId: 'a' } },
    });
  });

  test('an initialize that fails takes no place', async () => {
    const onsessioninitialized = (): void => {
      throw new Error('not today');
    };
    const { url } = await server.listen({ maxSessions: 1 });
    const failed = await send(url, { body: rpc('initialize', {}) });
    expect([failed.json.error.code, failed.headers['mcp-session-id']]).toEqual([-32602, undefined]);
    expect((await send(url, { body: rpc('initialize', initializeParams) })).status).toBe(200);
    const refusing = await server.listen({ maxSessions: 1, onsessioninitialized });
    for (let round = 0; round < 2; round += 1)
      expect((await send(refusing.url, { body: rpc('initialize', initializeParams) })).status).toBe(500);
  });

  test('creates unique, long ids, and calls back with each before its client receives it', async () => {
    const heard: string[] = [];
    const { url } = await server.listen({ onsessioninitialized: (id) => void heard.push(id) });
    const ids = await Promise.all(Array.from({ length: 200 }, async () => (await openSession(url))['mcp-session-id']));
    expect(new Set(ids).size).toBe(200);
    expect(heard.toSorted()).toEqual(ids.toSorted());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
  });

  test('connections that break at any point leave the server unharmed', async () => {
    const { url, port } = await server.listen();
    const body = JSON.stringify(rpc('initialize', initializeParams));
    const full = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(full.slice(0, Math.ceil((full.length * index) / 100)), () => socket.resetAndDestroy());
        });
        return new Promise((resolve) => socket.once('close', resolve));
      }),
    );
    expect((await send(url, { body: rpc('initialize', initializeParams) })).status).toBe(200);
  });

  test('closing does not wait longer than the grace for calls that never end', async () => {
    const running = await server.listen({ shutdownGrace: 100 });
    const headers = await openSession(running.url);
    const before = waiting.count;
    const body = rpc('tools/call', { name: 'wait', arguments: { milliseconds: 300_000 } });
    const stuck = send(running.url, { headers, body }).catch(() => 'cut');
    await expect.poll(() => waiting.count).toBe(before + 1);
    await running.close();
    await stuck;
  });
});
