import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { createLogger } from '@quiver/core';
import { createTool } from '@quiver/core/tools';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toolOf } from '../../test/servers/tool-of.ts';
import { mountServer, mountSse } from '../../test/servers/mount-server.ts';
import { z } from 'zod';
import { readEvents } from '../../test/clients/event-reader.ts';
import { spawnHttpServer } from '../../test/programs/spawn-server.ts';
import { ask } from '../../test/servers/example-tools.ts';
import { TaskCaller } from '../../test/clients/task-caller.ts';
import {
  modern,
  openSession,
  rpc,
  send,
  toRequest,
  type WireAnswer,
  type WireRequest,
} from '../../test/clients/wire.ts';
import { MCPClient } from '../client/index.js';
import { InMemoryStore } from '../shared-store/in-memory-store.js';
import { MCPServer } from './mcp-server.js';
import type { MCPServerConfig } from './features.js';
import type { ListenOptions } from './http/listen.js';

/** Calls that run until the test lets them continue. */
let gates: Map<string, () => void>;
let servers: MCPServer[];
let clients: MCPClient[];

const waitOptions = {
  id: 'wait',
  description: 'Waits',
  inputSchema: z.object({ gate: z.string() }),
  execute: ({ gate }: { gate: string }) =>
    new Promise<string>((resolve) => gates.set(gate, () => resolve(`done ${gate}`))),
};
const tools = { wait: createTool(waitOptions), ask };

beforeEach(() => {
  gates = new Map();
  servers = [];
  clients = [];
});
afterEach(async () => {
  for (const open of gates.values()) open();
  await Promise.all(clients.map((client) => client.disconnect()));
  await Promise.all(servers.map((server) => server.close({ grace: 0 })));
});

function createTestServer(config: Partial<MCPServerConfig> = {}): MCPServer {
  const server = new MCPServer({ name: 'Draining', version: '1.0.0', tools, ...config });
  servers.push(server);
  return server;
}

async function start(options: ListenOptions = {}): Promise<{ server: MCPServer; url: string; port: number }> {
  const server = createTestServer();
  return { server, ...(await server.listen(options)) };
}

/** A call over HTTP in each era. */
const eras = {
  legacy: async (url: string, name: string, args: object = {}, id = 1): Promise<WireRequest> => ({
    headers: await openSession(url),
    body: rpc('tools/call', { name, arguments: args }, id),
  }),
  modern: async (_url: string, name: string, args: object = {}, id = 1): Promise<WireRequest> =>
    modern('tools/call', { name, arguments: args }, id),
};

const textOf = ({ json }: WireAnswer): string => json.result.content[0].text as string;

/** Sends a request over a connection that the agent keeps. */
async function sendOver(agent: Agent, url: string, { headers, body }: WireRequest): Promise<IncomingMessage> {
  const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const req = request(url, { agent, method: 'POST', headers: { ...accept, ...headers } });
  req.end(JSON.stringify(body));
  const [response] = (await once(req, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response;
}

describe.each(Object.entries(eras))('drain() in the %s era', (_era, createCall) => {
  test('serves requests, and ends the connection with each response', async () => {
    const { server, url } = await start();
    const first = await createCall(url, 'wait', { gate: 'first' });
    const second = await createCall(url, 'wait', { gate: 'second' }, 2);
    const before = send(url, first);
    await expect.poll(() => gates.has('first')).toBe(true);
    const drained = server.drain();
    const during = send(url, second);
    await expect.poll(() => gates.has('second')).toBe(true);
    expect(server.health()).toMatchObject({ status: 'draining', inFlight: 2 });
    for (const open of gates.values()) open();
    for (const [call, text] of [
      [before, 'done first'],
      [during, 'done second'],
    ] as const) {
      const answer = await call;
      expect([textOf(answer), answer.headers.connection]).toEqual([text, 'close']);
    }
    await drained;
    expect(server.health()).toMatchObject({ status: 'draining', inFlight: 0 });
    // Also for clients that the balancer sends later.
    const late = await createCall(url, 'wait', { gate: 'late' });
    const call = send(url, late);
    await expect.poll(() => gates.has('late')).toBe(true);
    gates.get('late')?.();
    expect(textOf(await call)).toBe('done late');
  });

  test('settles after the grace when a call does not end', async () => {
    const { server, url } = await start();
    const call = send(url, await createCall(url, 'wait', { gate: 'a' }));
    await expect.poll(() => gates.size).toBe(1);
    await server.drain({ grace: 10 });
    expect(server.health()).toMatchObject({ status: 'draining', inFlight: 1 });
    gates.get('a')?.();
    expect(textOf(await call)).toBe('done a');
  });

  test('serves requests of a custom server and of fetch()', async () => {
    const server = createTestServer();
    const url = await mountServer(server);
    const list = await createCall(url, 'wait', { gate: 'a' });
    await server.drain();
    const call = send(url, list);
    await expect.poll(() => gates.size).toBe(1);
    gates.get('a')?.();
    expect([textOf(await call), (await call).headers.connection]).toEqual(['done a', 'close']);
    const response = await server.fetch(toRequest(modern('tools/list')));
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
  });
});

describe.each(Object.entries(eras))('close() in the %s era', (_era, createCall) => {
  test('answers a call that does not end in time', async () => {
    const { server, url } = await start();
    const call = send(url, await createCall(url, 'wait', { gate: 'a' }));
    await expect.poll(() => gates.size).toBe(1);
    await server.close({ grace: 0 });
    const { status, json } = await call;
    expect([status, json.id, json.error.data]).toEqual([200, 1, { code: 'REQUEST_INTERRUPTED' }]);
    expect(json.error.message).toMatch('The server was closed before this request ended');
  });

  test('asks the balancer to leave, over connections that it keeps', async () => {
    const { server, url } = await start();
    const [busy, idle] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    const long = await createCall(url, 'wait', { gate: 'a' });
    const list = modern('tools/list');
    await sendOver(idle, url, list);
    const call = sendOver(busy, url, long);
    await expect.poll(() => gates.size).toBe(1);
    const closing = server.close();
    // A request that was on its way over an idle connection.
    expect((await sendOver(idle, url, list)).headers.connection).toBe('close');
    gates.get('a')?.();
    expect((await call).headers.connection).toBe('close');
    await closing;
    await expect(sendOver(busy, url, list)).rejects.toThrow('ECONNREFUSED');
  });
});

test('ends subscriptions when the server begins to drain, because their connections stay in use', async () => {
  const { server, url } = await start();
  const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const stream = await readEvents(url, { method: 'POST', ...listen });
  await server.drain();
  await stream.ended;
  expect(stream.events.at(-1)?.data).toContain('"result"');
  expect(server.health().status).toBe('draining');
});

test('serves requests over connections of a balancer until each was used once more', async () => {
  const server = createTestServer({ sharedStore: new InMemoryStore() });
  const { url } = await server.listen();
  const list = modern('tools/list');
  const agents = Array.from({ length: 3 }, () => new Agent({ keepAlive: true }));
  for (const agent of agents) await sendOver(agent, url, list);
  const closing = server.close();
  for (const agent of agents) {
    // Longer than a server without other instances waits.
    await setTimeout(100);
    expect((await sendOver(agent, url, list)).headers.connection).toBe('close');
  }
  await closing;
});

test('serves a request over the connection that the last call in flight left open', async () => {
  const steps = createTool({
    ...waitOptions,
    id: 'steps',
    execute: async (input, { mcp }) => {
      await mcp?.progress({ progress: 1 });
      return waitOptions.execute(input);
    },
  });
  const server = createTestServer({ tools: { steps }, sharedStore: new InMemoryStore() });
  const { url } = await server.listen();
  const agent = new Agent({ keepAlive: true });
  const params = { name: 'steps', arguments: { gate: 'a' }, _meta: { progressToken: 1 } };
  const call = sendOver(agent, url, modern('tools/call', params));
  await expect.poll(() => gates.has('a')).toBe(true);
  const closing = server.close();
  // Longer than a server waits for requests after the last one.
  await setTimeout(1_500);
  gates.get('a')?.();
  await call;
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
  await setTimeout(100);
  expect((await sendOver(agent, url, modern('tools/list'))).statusCode).toBe(200);
  await closing;
});

test('begins no call over connections that were not used in the first half of the grace', async () => {
  const events: string[] = [];
  const short = toolOf('short', async (_input, { abortSignal }) => {
    events.push('begun');
    await setTimeout(500, undefined, abortSignal && { signal: abortSignal });
    events.push('ended');
  });
  const server = createTestServer({ tools: { short }, sharedStore: new InMemoryStore() });
  const { url } = await server.listen({ shutdownGrace: 2_400 });
  const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true }));
  for (const agent of agents) await sendOver(agent, url, modern('tools/list'));
  const closing = server.close();
  // Each call begins before the last one has ended.
  const calls: Promise<unknown>[] = [];
  for (const agent of agents) {
    calls.push(sendOver(agent, url, modern('tools/call', { name: 'short' })).catch(() => {}));
    await setTimeout(300);
  }
  await Promise.all([closing, ...calls]);
  expect(events.length).toBeGreaterThan(2);
  expect(events.filter((event) => event === 'ended')).toHaveLength(events.length / 2);
});

test.each([
  ['after half of the grace', true],
  ['without a call in flight', false],
])('cuts no response that its client still receives %s', async (_when, isCalled) => {
  const text = 'x'.repeat(30_000_000);
  const server = createTestServer({ tools: { ...tools, big: toolOf('big', () => text) } });
  const { url } = await server.listen({ shutdownGrace: 2_000 });
  const call = isCalled && send(url, await eras.modern(url, 'wait', { gate: 'a' }));
  await expect.poll(() => gates.has('a')).toBe(isCalled);
  const { headers, body } = modern('tools/call', { name: 'big' });
  const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const req = request(url, { method: 'POST', headers: { ...accept, ...headers } });
  req.end(JSON.stringify(body));
  const [response] = (await once(req, 'response')) as [IncomingMessage];
  const closing = server.close();
  await setTimeout(1_300);
  let length = 0;
  for await (const chunk of response) length += (chunk as Buffer).length;
  expect(length).toBe(Number(response.headers['content-length']));
  gates.get('a')?.();
  await Promise.all([call, closing]);
});

describe('the responses of a user to a call in flight', () => {
  test.each(['legacy', 'modern'] as const)('are accepted by drain() and close() in the %s era', async (protocol) => {
    for (const end of ['drain', 'close'] as const) {
      const { server, url } = await start();
      const client = new MCPClient({ id: `${protocol}-${end}`, servers: { it: { url, protocol } } });
      clients.push(client);
      let ending: Promise<void> | undefined;
      let other: Promise<unknown> | undefined;
      await client.elicitation.onRequest('it', async () => {
        // A modern call is not in flight while its user is asked, and `close()` waits only for others.
        if (protocol === 'modern') {
          other = client.callTool({ serverName: 'it', name: 'wait', args: { gate: end } });
          await expect.poll(() => gates.has(end)).toBe(true);
        }
        ending = server[end]();
        await expect.poll(() => server.health().status).toBe('draining');
        return { action: 'accept', content: { name: 'Ada' } };
      });
      const { content } = await client.callTool({ serverName: 'it', name: 'ask' });
      expect(content).toEqual([{ type: 'text', text: 'Hello Ada' }]);
      gates.get(end)?.();
      await Promise.all([other, ending]);
    }
  });

  test('are accepted over new connections while another modern call is in flight', async () => {
    const { server, url } = await start();
    const sendOnce = (params: Record<string, unknown>): Promise<WireAnswer> => {
      const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
      return send(url, modern('tools/call', { ...params, _meta }, 1, { connection: 'close' }));
    };
    const other = sendOnce({ name: 'wait', arguments: { gate: 'a' } });
    await expect.poll(() => gates.size).toBe(1);
    const { requestState, inputRequests } = (await sendOnce({ name: 'ask' })).json.result;
    const closing = server.close();
    const answer = { action: 'accept', content: { name: 'Ada' } };
    const [key = ''] = Object.keys(inputRequests as object);
    const answered = await sendOnce({ name: 'ask', requestState, inputResponses: { [key]: answer } });
    expect(textOf(answered)).toBe('Hello Ada');
    gates.get('a')?.();
    expect(textOf(await other)).toBe('done a');
    await closing;
  });

  test('are accepted over stdio', async () => {
    const server = createTestServer();
    const [input, output] = [new PassThrough(), new PassThrough()];
    await server.startStdio({ input, output });
    const write = (message: object): void => void input.write(`${JSON.stringify(message)}\n`);
    const read = async (): Promise<{ id: string; method?: string; result?: { content: { text: string }[] } }> =>
      JSON.parse(String((await once(output, 'data'))[0])) as never;
    const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } };
    write(rpc('initialize', { ...params, clientInfo: { name: 'a', version: '1' } }));
    await read();
    write(rpc('tools/call', { name: 'ask' }));
    const { id, method } = await read();
    expect(method).toBe('elicitation/create');
    const closing = server.close();
    write({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ada' } } });
    expect((await read()).result?.content[0]?.text).toBe('Hello Ada');
    await closing;
  });

  test('are accepted over HTTP+SSE', async () => {
    const server = createTestServer();
    const url = await mountSse(server);
    const stream = await readEvents(url);
    await expect.poll(() => stream.events.length).toBe(1);
    const path = stream.events[0]?.data ?? '';
    const post = (body: object): Promise<WireAnswer> => send(url, { path, body });
    const last = (): Record<string, unknown> => JSON.parse(stream.events.at(-1)?.data ?? '') as never;
    const params = { protocolVersion: '2024-11-05', capabilities: { elicitation: {} } };
    await post(rpc('initialize', { ...params, clientInfo: { name: 'a', version: '1' } }));
    await expect.poll(() => stream.events.length).toBe(2);
    await post(rpc('tools/call', { name: 'ask' }));
    await expect.poll(() => stream.events.length).toBe(3);
    const closing = server.close();
    const answer = { jsonrpc: '2.0', id: last()['id'], result: { action: 'accept', content: { name: 'Ada' } } };
    expect((await post(answer)).status).toBe(202);
    await closing;
    await stream.ended;
    expect(last()).toMatchObject({ result: { content: [{ text: 'Hello Ada' }] } });
  });
});

test('answers calls over stdio that do not end in time', async () => {
  const server = createTestServer();
  const [input, output] = [new PassThrough(), new PassThrough()];
  await server.startStdio({ input, output });
  input.write(`${JSON.stringify(modern('tools/call', { name: 'wait', arguments: { gate: 'a' } }).body)}\n`);
  await expect.poll(() => gates.size).toBe(1);
  const answer = once(output, 'data');
  await server.close({ grace: 0 });
  expect(JSON.parse(String((await answer)[0]))).toMatchObject({
    id: 1,
    error: { data: { code: 'REQUEST_INTERRUPTED' } },
  });
});

describe('health', () => {
  test('is served at healthPath of listen() without authentication', async () => {
    const { server, url } = await start({ healthPath: '/health', allowedHosts: ['mcp.example.com'] });
    const { origin } = new URL(url);
    const get = (): Promise<WireAnswer> => send(`${origin}/health`, { method: 'GET' });
    const ok = await get();
    expect([ok.status, ok.json, ok.headers.connection]).toEqual([
      200,
      { status: 'ok', inFlight: 0, sessions: 0, tasks: 0 },
      'keep-alive',
    ]);
    await server.drain();
    const draining = await get();
    expect([draining.status, draining.json.status, draining.headers.connection]).toEqual([503, 'draining', 'close']);
    await server.close();
    expect(server.health().status).toBe('closed');
  });

  test('is served at healthPath of startHTTP(), also after close()', async () => {
    const server = createTestServer();
    const url = await mountServer(server, { healthPath: '/health' });
    await openSession(url);
    const get = (): Promise<WireAnswer> => send(url, { method: 'GET', path: '/health' });
    expect((await get()).json).toEqual({ status: 'ok', inFlight: 0, sessions: 1, tasks: 0 });
    await server.close();
    const closed = await get();
    expect([closed.status, closed.json]).toEqual([503, { status: 'closed', inFlight: 0, sessions: 0, tasks: 0 }]);
  });

  test('does not count open subscriptions', async () => {
    const { server, url } = await start();
    const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const stream = await readEvents(url, { method: 'POST', ...listen });
    await expect.poll(() => stream.events.length).toBe(1);
    await server.drain();
    expect(server.health().inFlight).toBe(0);
    await server.close();
    await stream.ended;
    expect(JSON.parse(stream.events.at(-1)?.data ?? '')).toMatchObject({ id: 1, result: { resultType: 'complete' } });
  });
});

test('accepts connections for drainDelay, at the beginning of close(), and ends subscriptions over them', async () => {
  const { server, url, port } = await start({ drainDelay: 1_000 });
  const closing = server.close();
  expect((await send(url, modern('tools/list'))).status).toBe(200);
  const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const stream = await readEvents(url, { method: 'POST', ...listen });
  await closing;
  await stream.ended;
  expect(stream.events.at(-1)?.data).toContain('"result"');
  const socket = connect(port);
  await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED');
});

test('ends subscriptions that clients open while calls are in flight', async () => {
  const { server, url } = await start();
  const idle = new Agent({ keepAlive: true });
  await sendOver(idle, url, modern('tools/list'));
  const call = send(url, await eras.modern(url, 'wait', { gate: 'a' }));
  await expect.poll(() => gates.size).toBe(1);
  const closing = server.close();
  const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const stream = await readEvents(url, { method: 'POST', agent: idle, ...listen });
  await expect.poll(() => stream.events.length).toBe(1);
  gates.get('a')?.();
  expect(textOf(await call)).toBe('done a');
  await Promise.all([closing, stream.ended]);
  expect(stream.events.at(-1)?.data).toContain('"result"');
});

test(
  'waits for tasks and for handlers of onClose() as long as for the calls of listen()',
  { timeout: 9_000 },
  async () => {
    let signal: AbortSignal | undefined;
    const work = toolOf('work', { mcp: { task: 'required' } }, (_input, { abortSignal }) => {
      signal = abortSignal;
      return new Promise(() => {});
    });
    const logged: string[] = [];
    const logger = { debug() {}, info() {}, warn: (text: string) => void logged.push(text), error() {} };
    const server = createTestServer({ tools: { work }, logger });
    await server.listen({ shutdownGrace: 100 });
    const { result } = await new TaskCaller(server).call('work');
    expect(result.resultType).toBe('task');
    server.onClose(() => new Promise(() => {}));
    await server.close();
    expect(signal?.aborted).toBe(true);
    expect(logged).toEqual(['A handler of onClose() failed: It did not end within 100 ms.']);
  },
);

test('every close() waits for the handlers of onClose()', async () => {
  const server = createTestServer();
  const events: string[] = [];
  const running = new Promise<void>((resolve) =>
    server.onClose(async () => {
      resolve();
      await new Promise(setImmediate);
      events.push('handler');
    }),
  );
  const first = server.close();
  await running;
  await server.close();
  events.push('closed');
  await first;
  expect(events).toEqual(['handler', 'closed']);
});

test('runs a handler of onClose() at once that is added to a closed server, or by another handler', async () => {
  const server = createTestServer();
  const added: string[] = [];
  const add = (when: string) => server.onClose(() => void added.push(when));
  server.onClose(() => void add('in a handler'));
  await server.close();
  expect(added).toEqual(['in a handler']);
  add('after close()');
  expect(added).toEqual(['in a handler', 'after close()']);
});

describe('shutdownSignals', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('closes the server at %s and lets the process end', async (signal) => {
    const { url, child, stop } = await spawnHttpServer('draining-server.ts');
    const health = url.replace('/mcp', '/health');
    const call = send(url, await eras.legacy(url, 'wait', { milliseconds: 1_000 }));
    await expect.poll(async () => (await send(health, { method: 'GET' })).json.inFlight).toBe(1);
    const exited = once(child, 'exit');
    child.kill(signal);
    expect(textOf(await call)).toBe('waited');
    expect(await exited).toEqual([0, null]);
    await stop();
  });

  test('end the process at once when a second one arrives', async () => {
    const { url, child, stop } = await spawnHttpServer('draining-server.ts');
    const health = url.replace('/mcp', '/health');
    const call = send(url, await eras.legacy(url, 'wait', { milliseconds: 300_000 }));
    await expect.poll(async () => (await send(health, { method: 'GET' })).json.inFlight).toBe(1);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await expect.poll(async () => (await send(health, { method: 'GET' })).json.status).toBe('draining');
    child.kill('SIGTERM');
    await expect(call).rejects.toThrow(/hang up|ECONNRESET/);
    expect(await exited).toEqual([null, 'SIGTERM']);
    await stop();
  });

  test('have no handlers after close()', async () => {
    const before = process.listenerCount('SIGHUP');
    const { server } = await start({ shutdownSignals: ['SIGHUP'] });
    const { server: other } = await start({ shutdownSignals: ['SIGHUP'] });
    expect(process.listenerCount('SIGHUP')).toBe(before + 2);
    await server.close();
    await other.close();
    expect(process.listenerCount('SIGHUP')).toBe(before);
    const wrong = { shutdownSignals: ['SIGKILL'] } as never;
    await expect(createTestServer().listen(wrong)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });
});

describe('a task that ends while the server drains', () => {
  const lines: string[] = [];
  const logger = createLogger({ write: (line) => void lines.push(line) });
  const startTask = async () => {
    lines.length = 0;
    const task = { after: 0, pollIntervalMs: 20 };
    const server = createTestServer({ tools: { wait: createTool({ ...waitOptions, mcp: { task } }) }, logger });
    const { url } = await server.listen();
    const client = new MCPClient({ id: crypto.randomUUID(), servers: { it: { url, protocol: 'modern' } } });
    clients.push(client);
    const handle = await client.tasks.start({ serverName: 'it', name: 'wait', args: { gate: 'a' } });
    await expect.poll(() => gates.size).toBe(1);
    return { server, client, handle };
  };

  test('is served until its client has read the result', async () => {
    const { server, client, handle } = await startTask();
    const closed = server.close({ grace: 60_000 });
    gates.get('a')?.();
    expect(await client.tasks.result(handle)).toMatchObject({ content: [{ text: 'done a' }] });
    await closed;
    expect(lines).toEqual([]);
  });

  test('is logged by the name of its tool when no client reads it', async () => {
    const { server } = await startTask();
    gates.get('a')?.();
    await server.close({ grace: 50 });
    expect(lines.join()).toContain('the results of 1 tasks were not read by their clients. Tools: wait.');
  });
});
