import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { messagesFrom } from '../../test/clients/messages-from.ts';
import { exampleTools, waiting } from '../../test/servers/example-tools.ts';
import { initializeParams, modern, rpc, send, type WireAnswer } from '../../test/clients/wire.ts';
import { createServerState } from './create-server-state.js';
import { MCPServer } from './mcp-server.js';
import { serveStdio, type StdioConnection } from './connection/stdio.js';

const server = new MCPServer({ name: 'Batches', version: '1.0.0', tools: exampleTools });
const sessions = await server.listen();
const stateless = await server.listen({ serverless: true });
afterAll(() => server.close());

const call = (name: string, args: object, id: string | number, _meta?: object): object =>
  rpc('tools/call', { name, arguments: args, ...(_meta && { _meta }) }, id);
const echo = (message: string, id: string | number): object => call('echo', { message }, id);
const said = (text: string, id: string | number): object => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }] },
});
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };

async function openSession(protocolVersion: string): Promise<Record<string, string>> {
  const body = rpc('initialize', { ...initializeParams, protocolVersion });
  const { headers } = await send(sessions.url, { body });
  return { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': protocolVersion };
}

async function batch(body: unknown, protocolVersion = '2025-03-26'): Promise<WireAnswer> {
  return send(sessions.url, { headers: await openSession(protocolVersion), body });
}

describe('a batch of 2025-03-26 over HTTP', () => {
  test('is answered with one array, in the order of the requests', async () => {
    const answer = await batch([echo('first', 1), initialized, echo('second', 'two'), rpc('ping', undefined, 3)]);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.json).toEqual([said('first', 1), said('second', 'two'), { jsonrpc: '2.0', id: 3, result: {} }]);
  });

  test('keeps the responses that it has when the server closes', async () => {
    const closing = new MCPServer({ name: 'Closing', version: '1.0.0', tools: exampleTools });
    const { url } = await closing.listen({ serverless: true });
    const running = waiting.count;
    const body = [echo('a', 1), rpc('unknown', undefined, 2), 'text', call('wait', { milliseconds: 300_000 }, 3)];
    const answer = send(url, { headers: { 'mcp-protocol-version': '2025-03-26' }, body });
    await expect.poll(() => waiting.count).toBe(running + 1);
    await closing.close({ grace: 0 });
    expect((await answer).json).toMatchObject([
      said('a', 1),
      { id: 2, error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
      { id: 3, error: { code: -32603, data: { code: 'REQUEST_INTERRUPTED' } } },
    ]);
  });

  test('carries a list too', async () => {
    const answer = await batch([rpc('tools/list')]);
    expect(answer.json[0].result.tools.length).toBe(Object.keys(exampleTools).length);
  });

  test('needs no session where there are none', async () => {
    for (const headers of [{}, { 'mcp-protocol-version': '2025-03-26' }]) {
      const answer = await send(stateless.url, { headers, body: [echo('a', 1), echo('b', 2)] });
      expect(answer.json).toEqual([said('a', 1), said('b', 2)]);
    }
  });

  test('of notifications and answers alone is accepted with 202', async () => {
    const answer = await batch([initialized, { jsonrpc: '2.0', id: 9, result: {} }]);
    expect([answer.status, answer.text]).toEqual([202, '']);
  });

  test('becomes an event stream when a tool has something to say first', async () => {
    const { headers, events } = await batch([call('steps', {}, 1, { progressToken: 'p' }), echo('quick', 2)]);
    expect(headers['content-type']).toBe('text/event-stream');
    expect(events.map(({ method }) => method)).toEqual([
      'notifications/progress',
      'notifications/message',
      'notifications/progress',
      undefined,
    ]);
    expect(events.at(-1)).toEqual([said('done', 1), said('quick', 2)]);
  });

  test('answers each wrong message by itself', async () => {
    const { status, json } = await batch([
      echo('fine', 1),
      { jsonrpc: '2.0', id: 2, Method: 'ping' },
      rpc('nothing/here', undefined, 3),
      rpc('initialize', initializeParams, 4),
      5,
    ]);
    expect(status).toBe(200);
    expect(json[0]).toEqual(said('fine', 1));
    expect(json.slice(1).map(({ id, error }: { id: unknown; error: { code: number } }) => [id, error.code])).toEqual([
      [null, -32600],
      [3, -32601],
      [4, -32600],
      [null, -32600],
    ]);
  });

  test('refuses the second of two requests with one id', async () => {
    const { events } = await batch([call('steps', {}, 1), echo('again', 1)]);
    expect(events.at(-1)).toHaveLength(2);
    expect(events.at(-1)[1]).toMatchObject({ id: 1, error: { code: -32600 } });
  });

  test.each([
    ['empty', []],
    ['of more than 100 messages', Array.from({ length: 101 }, (_, id) => rpc('ping', undefined, id))],
  ])('rejects a batch that is %s', async (_name, body) => {
    const { status, json } = await batch(body);
    expect([status, json.id, json.error.code]).toEqual([400, null, -32600]);
  });

  test.each(['2025-11-25', '2025-06-18', '2024-11-05'])('is refused in %s, where there are none', async (version) => {
    const { status, json } = await batch([rpc('ping')], version);
    expect([status, json.error.code]).toEqual([400, -32600]);
    const alone = await send(stateless.url, { headers: { 'mcp-protocol-version': version }, body: [rpc('ping')] });
    expect([alone.status, alone.json.error.code]).toEqual([400, -32600]);
  });

  test('rejects a batch that declares protocol version 2026-07-28', async () => {
    const { body, headers } = modern('tools/list');
    expect((await send(stateless.url, { headers, body: [body] })).status).toBe(400);
    expect((await send(stateless.url, { body: [body] })).status).toBe(400);
  });

  test('needs a session where there are some', async () => {
    expect((await send(sessions.url, { body: [rpc('ping')] })).status).toBe(400);
    expect((await send(sessions.url, { headers: { 'mcp-session-id': 'nobody' }, body: [rpc('ping')] })).status).toBe(
      404,
    );
  });
});

describe('a batch over stdio', () => {
  const start = (): { write: (message: unknown) => void; lines: unknown[]; connection: StdioConnection } => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const lines = messagesFrom(output);
    const server = createServerState({ name: 'Batches', version: '1.0.0', tools: exampleTools }).state;
    const connection = serveStdio({ server, input, output, onClose: () => {} });
    return { write: (message) => void input.write(`${JSON.stringify(message)}\n`), lines, connection };
  };
  const initialize = (protocolVersion: string): object =>
    rpc('initialize', { ...initializeParams, protocolVersion }, 0);

  test('is answered with one line', async () => {
    const { write, lines } = start();
    write(initialize('2025-03-26'));
    write([echo('a', 1), initialized, echo('b', 2)]);
    write([initialized]);
    await expect.poll(() => lines.slice(1)).toEqual([[said('a', 1), said('b', 2)]]);
  });

  test.each(['2025-11-25', '2024-11-05', undefined])('is refused after initialize with %s', async (version) => {
    const { write, lines } = start();
    if (version) write(initialize(version));
    write([echo('a', 1)]);
    const error = expect.objectContaining({ code: -32600 }) as object;
    await expect.poll(() => lines).toContainEqual({ jsonrpc: '2.0', id: null, error });
  });

  test('is finished before the server closes', async () => {
    const { write, lines, connection } = start();
    write(initialize('2025-03-26'));
    await expect.poll(() => lines.length).toBe(1);
    write([call('steps', {}, 1), echo('b', 2)]);
    await new Promise((resolve) => setImmediate(resolve));
    await connection.shutDown(10_000);
    expect(lines.at(-1)).toEqual([said('done', 1), said('b', 2)]);
  });
});
