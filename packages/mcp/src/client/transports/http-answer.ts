import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** An event stream is passed on as it comes; everything else is read first, which is cheaper than a stream. */
export async function toResponse(message: IncomingMessage): Promise<Response> {
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = message;
  const init = { status, statusText, headers: toHeaders(message) };
  if (!isIdentity(message)) {
    message.destroy();
    const encoding = headers['content-encoding'];
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

/** Tells whether an answer is not encoded, as it was asked for. */
export function isIdentity({ headers }: IncomingMessage): boolean {
  return (headers['content-encoding'] ?? 'identity') === 'identity';
}

/** The longest answer, and the longest line of an event stream, that is read: 64 MiB. */
const maxAnswerBytes = 64 * 1024 * 1024;

function tooLong(): Error {
  return new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
}

/** A stream may go on for ever; whoever reads it keeps one line at most. */
export function limitLines(message: IncomingMessage): void {
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

/** @throws `TypeError`, as `fetch` does, when the answer breaks off or is too long */
export function readAll(message: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    message.on('data', (chunk: Buffer<ArrayBuffer>) => {
      length += chunk.length;
      if (length > maxAnswerBytes) message.destroy(tooLong());
      else chunks.push(chunk);
    });
    message.once('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer<ArrayBuffer>) : Buffer.concat(chunks)),
    );
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
