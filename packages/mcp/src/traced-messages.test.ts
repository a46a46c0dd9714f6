import { observe, type McpSessionTraceEvent, type McpTraceEvent, type TraceEvent } from '@quiver/core';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../test/servers/tool-of.ts';
import { afterTest } from '../test/after-test.ts';
import { clientOf } from '../test/clients/client-of.ts';
import { mountSse } from '../test/servers/mount-server.ts';
import { toRequest } from '../test/clients/wire.ts';
import { eventually } from '../test/eventually.ts';
import type { MCPClient } from './client/index.js';
import { MCPServer } from './server/index.js';

const received: unknown[] = [];

function createServer(): MCPServer {
  const server = new MCPServer({
    name: 'Traced',
    version: '1.0.0',
    tools: {
      add: toolOf('add', async (input: unknown, { mcp }) => {
        received.push(mcp.extra?._meta);
        const { a, b } = input as { a: number; b: number };
        return a + b;
      }),
      broken: toolOf('broken', async () => {
        throw new Error('broken');
      }),
      ask: toolOf('ask', async (_, { mcp }) => {
        const { action } = await mcp.elicitation.sendRequest({
          message: 'Sure?',
          requestedSchema: { type: 'object', properties: {} },
        });
        return action;
      }),
      wait: toolOf(
        'wait',
        (_, { abortSignal }) =>
          new Promise((_resolve, reject) => abortSignal?.addEventListener('abort', () => reject(abortSignal.reason))),
      ),
    },
  });
  afterTest(() => server.close({ grace: 100 }));
  return server;
}

/** Observes until the end of the test. Gives every sent message a member in `_meta`. */
function collect(): { started: TraceEvent[]; ended: TraceEvent[] } {
  const started: TraceEvent[] = [];
  const ended: TraceEvent[] = [];
  afterTest(
    observe((event, phase) => {
      if (phase === 'end') return void ended.push(event);
      started.push(event);
      if (event.type === 'mcp' && event.direction === 'sent') event.meta = { traceparent: 'added', baggage: 'added' };
    }),
  );
  return { started, ended };
}

function connect(definition: object): MCPClient {
  const mcp = clientOf({ it: definition as { url: string } });
  mcp.elicitation.onRequest('it', async () => ({ action: 'accept', content: {} }));
  return mcp;
}

const messages = (events: TraceEvent[], side: 'client' | 'server'): McpTraceEvent[] =>
  events.filter((event) => event.type === 'mcp').filter((event) => event.side === side);
const sessions = (events: TraceEvent[]): McpSessionTraceEvent[] =>
  events.filter((event) => event.type === 'mcp.session');

function find(events: TraceEvent[], side: 'client' | 'server', method: string, name?: string): McpTraceEvent {
  const found = messages(events, side).findLast(
    (event) => event.method === method && (name === undefined || event.params?.['name'] === name),
  );
  if (!found)
    throw new Error(
      `No ${method} of the ${side}: ${messages(events, side)
        .map((one) => one.method)
        .join()}`,
    );
  return found;
}

describe.each([
  ['legacy', '2025-11-25'],
  ['modern', '2026-07-28'],
] as const)('%s messages over HTTP', (protocol, version) => {
  async function open(): Promise<{ mcp: MCPClient; started: TraceEvent[]; ended: TraceEvent[]; url: URL }> {
    const server = createServer();
    const { url } = await server.listen();
    const events = collect();
    return { mcp: connect({ url, protocol }), url: new URL(url), ...events };
  }
  const call = (mcp: MCPClient, name: string, more: object = {}): Promise<unknown> =>
    mcp.callTool({ serverName: 'it', name, args: { a: 1, b: 2 }, ...more });

  test('are published by client and server', async () => {
    const { mcp, ended, url } = await open();
    await call(mcp, 'add');
    const sent = find(ended, 'client', 'tools/call');
    expect(sent).toMatchObject({ direction: 'sent', transport: 'http', protocolVersion: version });
    expect(sent).toMatchObject({
      serverAddress: url.hostname,
      serverPort: Number(url.port),
      requestId: expect.any(Number),
    });
    const arrived = find(ended, 'server', 'tools/call');
    expect(arrived).toMatchObject({ direction: 'received', transport: 'http', protocolVersion: version });
    expect(arrived.clientAddress).toBe('127.0.0.1');
    expect(arrived.requestId).toBe(sent.requestId);
    expect(arrived.isToolError).toBe(false);
    expect(arrived.sessionId).toBe(sent.sessionId);
    expect(sent.sessionId !== undefined).toBe(protocol === 'legacy');
    const tool = ended.find((event) => event.type === 'tool');
    expect(tool).toMatchObject({ toolName: 'add', toolCallId: String(sent.requestId), result: 3 });
  });

  test('carry the members of subscribers in _meta, and those of the caller take precedence', async () => {
    const { mcp, ended } = await open();
    await call(mcp, 'add', { meta: { traceparent: 'own', mine: 1 } });
    expect(received.at(-1)).toMatchObject({ traceparent: 'own', baggage: 'added', mine: 1 });
    const opening = find(ended, 'server', protocol === 'legacy' ? 'initialize' : 'server/discover');
    expect(opening.params?.['_meta']).toMatchObject({ traceparent: 'added' });
  });

  test('say whether a tool failed, and carry the error of an unknown one', async () => {
    const { mcp, ended } = await open();
    await call(mcp, 'broken');
    expect(find(ended, 'server', 'tools/call', 'broken').isToolError).toBe(true);
    await expect(call(mcp, 'missing')).rejects.toThrow('Unknown tool');
    const codes = (['client', 'server'] as const).map((side) => find(ended, side, 'tools/call', 'missing').error);
    expect(codes).toMatchObject([{ code: -32602 }, { code: -32602 }]);
  });

  test('end when the client cancels them', async () => {
    const { mcp, started, ended } = await open();
    const stop = new AbortController();
    const failure = call(mcp, 'wait', { signal: stop.signal }).catch((error: unknown) => error);
    await eventually(() => find(started, 'server', 'tools/call', 'wait'));
    stop.abort(new Error('enough'));
    expect(await failure).toMatchObject({ message: 'enough' });
    await eventually(() => expect(find(ended, 'server', 'tools/call', 'wait').isCanceled).toBe(true));
  });

  test('name the tool call that a remote tool belongs to', async () => {
    const { mcp, ended } = await open();
    const { it_add: add } = await mcp.listTools();
    await add?.execute({ a: 1, b: 1 }, { toolCallId: 'call-1' });
    expect(find(ended, 'client', 'tools/call').toolCallId).toBe('call-1');
  });

  test('are published in the direction from the server to the client', async () => {
    const { mcp, ended } = await open();
    await call(mcp, 'ask');
    if (protocol === 'modern') return expect(find(ended, 'client', 'tools/call', 'ask').direction).toBe('sent');
    const sent = find(ended, 'server', 'elicitation/create');
    expect(sent).toMatchObject({ direction: 'sent', requestId: 'server-1' });
    const arrived = find(ended, 'client', 'elicitation/create');
    expect(arrived).toMatchObject({ direction: 'received', requestId: 'server-1', result: { action: 'accept' } });
    expect(arrived.params?.['_meta']).toEqual({ traceparent: 'added', baggage: 'added' });
  });

  test('are part of sessions that are published from their start to their end', async () => {
    const { mcp, started, ended } = await open();
    await call(mcp, 'add');
    const sides = (events: TraceEvent[]): string[] =>
      sessions(events)
        .map(({ side }) => side)
        .sort();
    const expected = protocol === 'legacy' ? ['client', 'server'] : ['client'];
    expect(sides(started)).toEqual(expected);
    expect(sides(ended)).toEqual([]);
    await mcp.disconnect();
    await eventually(() => expect(sides(ended)).toEqual(expected));
    for (const session of sessions(ended)) {
      expect(session.protocolVersion).toBe(version);
      expect(session.error).toBeUndefined();
    }
  });
});

test('published notifications of a client arrive with the members of subscribers', async () => {
  const server = createServer();
  const { url } = await server.listen();
  const { ended } = collect();
  const mcp = connect({ url, protocol: 'legacy' });
  await mcp.listTools();
  const notification = find(ended, 'server', 'notifications/initialized');
  expect(notification.params).toEqual({ _meta: { traceparent: 'added', baggage: 'added' } });
  expect(notification).not.toHaveProperty('requestId');
});

test('notifications without a session have the transport of their request', async () => {
  const server = createServer();
  const { ended } = collect();
  const request = toRequest({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  expect((await server.fetch(request, { serverless: true })).status).toBe(202);
  expect(find(ended, 'server', 'notifications/initialized').transport).toBe('http');
});

test('connections of HTTP+SSE have the transport http', async () => {
  const server = createServer();
  const { ended } = collect();
  const mcp = connect({ url: await mountSse(server) });
  await mcp.listTools();
  expect(new Set(messages(ended, 'server').map(({ transport }) => transport))).toEqual(new Set(['http']));
  await mcp.disconnect();
  const ofServer = (): McpSessionTraceEvent[] => sessions(ended).filter(({ side }) => side === 'server');
  await eventually(() => expect(ofServer()).toMatchObject([{ transport: 'http' }]));
});

test('the session of a server in this process names its transport', async () => {
  const server = createServer();
  const { ended } = collect();
  const mcp = connect({ server });
  await mcp.listTools();
  await mcp.disconnect();
  const session = sessions(ended).find(({ side }) => side === 'client');
  expect(session).toMatchObject({ transport: 'in-process' });
  expect(session).not.toHaveProperty('serverAddress');
});
