import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';

const httpAgent = new HttpAgent({ keepAlive: true });
const httpsAgent = new HttpsAgent({ keepAlive: true });

/**
 * A `fetch` over `node:http` with connections that stay open, for what MCP clients send: text bodies, JSON and event streams back.
 * It costs a third of the built-in one per call. Whatever else is asked of it (following redirects, other bodies) goes to the
 * built-in one, and so does everything when the application replaced that or gave it a dispatcher, such as a proxy.
 *
 * Nothing is ever sent a second time.
 */
export async function nodeFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const { body, redirect, signal } = init;
  const isText = typeof body === 'string' || body === undefined || body === null;
  if (!isText || redirect !== 'manual' || isFetchReplaced()) return globalThis.fetch(url, init);
  signal?.throwIfAborted();
  const response = await exchange(new URL(url), init, body ?? undefined);
  if (signal?.aborted) response.destroy(signal.reason as Error);
  return toResponse(response);
}

const builtInFetch: unknown = globalThis.fetch;
const dispatcher = Symbol.for('undici.globalDispatcher.1');

function isFetchReplaced(): boolean {
  if (globalThis.fetch !== builtInFetch) return true;
  const current = (globalThis as { [dispatcher]?: object })[dispatcher];
  return current !== undefined && current.constructor.name !== 'Agent';
}

function exchange(
  url: URL,
  { method = 'GET', headers, signal }: RequestInit,
  body: string | undefined,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:';
  const send = secure ? httpsRequest : httpRequest;
  const sent: Record<string, string> = {
    accept: '*/*',
    'accept-encoding': 'identity',
    ...Object.fromEntries(new Headers(headers)),
  };
  if (body !== undefined) sent['content-length'] = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      headers: sent,
      agent: secure ? httpsAgent : httpAgent,
      ...(signal && { signal }),
    });
    request.once('response', resolve);
    request.once('error', (error) =>
      reject(signal?.aborted ? (signal.reason as Error) : new TypeError('fetch failed', { cause: error })),
    );
    request.end(body);
  });
}

/** An event stream is passed on as it comes; everything else is read first, which is cheaper than a stream. */
async function toResponse(message: IncomingMessage): Promise<Response> {
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = message;
  const init = { status, statusText, headers: toHeaders(message) };
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    message.destroy();
    throw new TypeError(`fetch failed: the answer is encoded as ${encoding}, which was not asked for`);
  }
  if (headers['content-type']?.startsWith('text/event-stream')) {
    limitLines(message);
    return new Response(Readable.toWeb(message) as ReadableStream<Uint8Array>, init);
  }
  const bytes = await readAll(message);
  if (headers['content-type']?.startsWith('application/json') && status === 200)
    return new JsonResponse(bytes, init) as unknown as Response;
  const isEmpty = status === 204 || status === 205 || status === 304 || bytes.length === 0;
  return new Response(isEmpty ? null : bytes, init);
}

/** The longest answer, and the longest line of an event stream, that is read: 64 MiB. */
const maxAnswerBytes = 64 * 1024 * 1024;

function tooLong(): Error {
  return new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
}

/** A stream may go on for ever; whoever reads it keeps one line at most. */
function limitLines(message: IncomingMessage): void {
  const newline = 10;
  let length = 0;
  const push = message.push.bind(message);
  message.push = (chunk: Buffer | null, encoding) => {
    if (chunk) {
      const at = chunk.lastIndexOf(newline);
      length = at === -1 ? length + chunk.length : chunk.length - at - 1;
      if (length > maxAnswerBytes) message.destroy(tooLong());
    }
    return push(chunk, encoding);
  };
}

function readAll(message: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxAnswerBytes) message.destroy(tooLong());
      else chunks.push(chunk);
    });
    message.once('end', () => resolve(Buffer.concat(chunks)));
    message.once('error', (error) => reject(new TypeError('fetch failed', { cause: error })));
    message.once('close', () => {
      if (!message.complete) reject(new TypeError('fetch failed: the connection was closed within the answer'));
    });
  });
}

/** The part of `Response` that is read of a JSON answer. The rest is made of the real one when somebody asks for it. */
class JsonResponse implements Pick<
  Response,
  'ok' | 'status' | 'statusText' | 'headers' | 'body' | 'text' | 'json' | 'arrayBuffer'
> {
  readonly ok = true;
  readonly status = 200;
  readonly statusText: string;
  readonly headers: Headers;
  readonly #bytes: Buffer<ArrayBuffer>;

  constructor(
    bytes: Buffer<ArrayBuffer>,
    { statusText, headers }: { statusText: string; headers: [string, string][] },
  ) {
    this.#bytes = bytes;
    this.statusText = statusText;
    this.headers = new Headers(headers);
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return new Response(this.#bytes).body;
  }

  async text(): Promise<string> {
    return this.#bytes.toString('utf8');
  }

  async json(): Promise<unknown> {
    return JSON.parse(this.#bytes.toString('utf8'));
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Response(this.#bytes).arrayBuffer();
  }
}

function toHeaders({ rawHeaders }: IncomingMessage): [string, string][] {
  const headers: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.push([rawHeaders[index] as string, rawHeaders[index + 1] as string]);
  }
  return headers;
}
