import { request, type IncomingHttpHeaders, type RequestOptions } from 'node:http';

export interface WireAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body, or the data of the first event that carries a message. */
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  json: any;
  /** All messages of an event stream. */
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  events: any[];
}

export interface WireRequest {
  method?: string;
  headers?: Record<string, string | string[]>;
  /** Objects are sent as JSON, text and bytes unchanged. */
  body?: unknown;
  /** Replaces the path of the URL, unparsed. */
  path?: string;
}

const usualHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** One HTTP request without any help of a client library, so that wrong requests can be sent too. */
export function send(
  url: string,
  { method = 'POST', headers = {}, body, path }: WireRequest = {},
): Promise<WireAnswer> {
  const bytes =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const options: RequestOptions = {
    method,
    headers: { ...usualHeaders, ...headers },
    ...(path !== undefined && { path }),
  };
  return new Promise((resolve, reject) => {
    const req = request(url, options, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const events = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data as string) as unknown);
        const json: unknown = events.length > 0 ? events[0] : parse(text);
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json, events });
      });
    });
    req.on('error', reject);
    req.end(bytes);
  });
}

/** The same request for a handler of the web platform. */
export function toRequest(
  { headers, body }: { headers?: object; body?: unknown },
  init: RequestInit = {},
  url = 'http://localhost/mcp',
): Request {
  return new Request(url, {
    method: 'POST',
    headers: { ...usualHeaders, ...headers } as Record<string, string>,
    body: typeof body === 'string' || body instanceof ReadableStream ? body : JSON.stringify(body),
    ...init,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function rpc(method: string, params?: object, id: string | number = 1): object {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

export const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'wire', version: '1' },
};

/** Opens a session and returns the header that belongs to it. */
export async function openSession(
  url: string,
  headers: Record<string, string> = {},
  capabilities: object = {},
): Promise<{ 'mcp-session-id': string }> {
  const answer = await send(url, { headers, body: rpc('initialize', { ...initializeParams, capabilities }) });
  return { 'mcp-session-id': String(answer.headers['mcp-session-id']) };
}

export const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request of the stateless revision, with the headers that repeat it. */
export function modern(
  method: string,
  params: Record<string, unknown> = {},
  id: string | number = 1,
  headers: Record<string, string> = {},
): { headers: Record<string, string>; body: object } {
  const { _meta, ...rest } = params;
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  return {
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    },
    body: rpc(method, { ...rest, _meta: { ...envelope, ...(_meta as object) } }, id),
  };
}
