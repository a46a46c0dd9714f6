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
    limitEvents(message);
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

/** The longest answer, and the longest event of a stream, that is read: 64 MiB. */
const maxAnswerBytes = 64 * 1024 * 1024;

function tooLong(): Error {
  return new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
}

/** A stream may go on for ever; whoever reads it keeps one event at most, which an empty line ends. */
export function limitEvents(message: IncomingMessage): void {
  let length = 0;
  let before: number | undefined;
  const push = message.push.bind(message);
  message.push = (chunk: Buffer | null, encoding) => {
    if (chunk && chunk.length > 0) {
      const end = endOfEvents(chunk, before);
      length = end === 0 ? length + chunk.length : chunk.length - end;
      before = chunk.at(-1);
      if (length > maxAnswerBytes) message.destroy(tooLong());
    }
    return push(chunk, encoding);
  };
}

/**
 * @param before - the byte before the chunk
 * @returns about where the text after the last empty line begins; 0 when there is no such line
 */
function endOfEvents(chunk: Buffer, before: number | undefined): number {
  const last = Math.max(...emptyLines.map((line) => chunk.lastIndexOf(line)));
  if (last !== -1) return last + 2;
  const [first] = chunk;
  const isEmptyLine = first === newline ? before === newline : first === carriageReturn && before !== undefined;
  return isEmptyLine && (before === newline || before === carriageReturn) ? 1 : 0;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const emptyLines = ['\n\n', '\n\r', '\r\r'] as const;

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
