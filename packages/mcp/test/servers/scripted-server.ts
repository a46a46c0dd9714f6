import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** Cleanup after the tests of a file. They run concurrently, so `onTestFinished` could mean another one. */
export const atEnd: (() => unknown)[] = [];
afterAll(() => Promise.all(atEnd.map((end) => end())));

export type Message = { id?: number | string; method?: string; params?: Record<string, unknown> };
export type Reaction = (response: ServerResponse, message: Message, request: IncomingMessage) => unknown;
/** By method of the protocol, or of HTTP where that is not POST. */
export type Script = Partial<Record<string, Reaction>>;

export const serverInfo = { name: 'scripted', version: '1' };
export const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true } },
  serverInfo,
};
export const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};
export const tools = [{ name: 'go', inputSchema: { type: 'object' } }];

export const send = (response: ServerResponse, code: number, type: string, body: string, headers = {}): unknown =>
  response.writeHead(code, { ...(type !== '' && { 'content-type': type }), ...headers }).end(body);
export const json = (value: object, code = 200, headers = {}): Reaction => {
  return (response, { id }) =>
    send(response, code, 'application/json', JSON.stringify({ jsonrpc: '2.0', id, ...value }), headers);
};
const session = { 'mcp-session-id': 's1' };
export const result = (value: object, headers: object = session): Reaction => json({ result: value }, 200, headers);
export const error = (code: number, status = 200, data?: object): Reaction =>
  json({ error: { code, message: 'no', ...(data && { data }) } }, status);
export const plain = (code: number, body = '', headers = {}): Reaction => {
  return (response) => send(response, code, body === '' ? '' : 'text/plain', body, headers);
};
export const event = (message: object): string => `data: ${JSON.stringify(message)}\n\n`;
export const stream = (
  write: (response: ServerResponse, message: Message) => unknown,
  headers: object = session,
): Reaction => {
  return (response, message) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    response.flushHeaders();
    write(response, message);
  };
};
export const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
export const notFound = error(-32_601, 404);

const usual: Script = {
  initialize: result(initialized),
  'server/discover': notFound,
  'notifications/initialized': plain(202),
  'tools/list': (response, message, request) =>
    result(
      request.headers['mcp-protocol-version'] === '2026-07-28'
        ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools }
        : { tools },
    )(response, message, request),
  'subscriptions/listen': notFound,
  GET: plain(405),
  DELETE: plain(200),
};

export interface Heard extends Omit<Message, 'id'> {
  readonly name: string;
  readonly url: string | undefined;
  readonly headers: Record<string, unknown>;
}

/** A server that reacts as the script says, otherwise as servers usually do. `open` holds the requests that did not end. */
export async function startScripted(script: Script) {
  const heard: Heard[] = [];
  const open = new Set<string>();
  const ids = new Map<unknown, number>();
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const message = (text === '' ? {} : JSON.parse(text)) as Message;
      const { id, params = {}, ...described } = message;
      const name = message.method ?? (request.method === 'POST' ? 'answer' : (request.method as string));
      if (id !== undefined && !ids.has(id)) ids.set(id, ids.size);
      const headers = Object.entries(request.headers).filter(([header]) => !uninteresting.has(header));
      heard.push({ name, url: request.url, headers: Object.fromEntries(headers.toSorted()), params, ...described });
      open.add(name);
      response.once('close', () => open.delete(name));
      (script[name] ?? usual[name] ?? plain(202))(response, message, request);
    });
  });
  // A test that waits for the machine must not find its idle connection closed.
  http.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  atEnd.push(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, heard, open };
}

const uninteresting = new Set(['host', 'connection', 'content-length']);
