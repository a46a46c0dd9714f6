import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseError, parseJsonText } from '../../protocol/json-rpc.js';
import { toolAccessKey, type ToolAccessCarrier, type ToolAccessCheck } from '../../tool-access.js';
import { bodyAlreadyRead, isLoopback, refuseLargerThan, tooLarge } from './guard.js';
import type { EventSink, HttpReply, HttpRequest, ReplyBody } from './message.js';
import { MAX_BUFFERED_BYTES } from '../limits.js';
import type { AuthenticatedRequest } from './options.js';

/** A request of `node:http`, or of a framework on top of it. */
export class NodeRequest implements HttpRequest {
  readonly #req: AuthenticatedRequest;

  constructor(req: IncomingMessage) {
    this.#req = req;
  }

  get method(): string | undefined {
    return this.#req.method;
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  get headers(): Readonly<Record<string, string>> {
    const entries = Object.keys(this.#req.headers).map((name) => [name, this.header(name) ?? ''] as const);
    return Object.fromEntries(entries);
  }

  get remoteAddress(): string | undefined {
    return this.#req.socket?.remoteAddress;
  }

  get repeatsHost(): boolean {
    const { rawHeaders } = this.#req;
    let count = 0;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] as string;
      if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
    }
    return count > 1;
  }

  /** Only requests over loopback: DNS rebinding in a browser of the same host reaches no other interface. */
  get isRebindable(): boolean {
    const address = this.#req.socket?.localAddress;
    return address !== undefined && isLoopback(address);
  }

  get auth(): unknown {
    return this.#req.auth;
  }

  get toolAccess(): ToolAccessCheck | undefined {
    const req: AuthenticatedRequest & ToolAccessCarrier = this.#req;
    return req[toolAccessKey] ?? (req.auth as ToolAccessCarrier | null | undefined)?.[toolAccessKey];
  }

  /** Middleware may have read the body already. */
  readJson(maxBytes: number): unknown {
    const { body } = this.#req;
    if (body === undefined) return readJsonBody(this.#req, maxBytes);
    if (typeof body === 'string') return parseJsonText(body);
    if (body instanceof Uint8Array) return parseJsonText(Buffer.from(body).toString('utf8'), body);
    return body;
  }
}

/**
 * Reads a request body of at most `maxBytes` and parses it. A body that declares more is refused before it is read, another one as
 * soon as it exceeds the limit.
 *
 * @throws ProtocolError with HTTP status 413 for a larger body, 400 (-32700) for invalid UTF-8 or JSON
 * @throws `BODY_ALREADY_READ`
 */
function readJsonBody(req: IncomingMessage, maxBytes: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (req.readableEnded) throw bodyAlreadyRead();
    if (req.destroyed) throw parseError('Parse error: the body ended early');
    refuseLargerThan(maxBytes, Number(req.headers['content-length'] ?? 0));
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBytes) {
        // The rest is read and discarded, so that the client sees the response and not a broken connection.
        req.off('data', onData).resume();
        first = rest = undefined;
        reject(tooLarge(maxBytes));
      } else if (first) (rest ??= [first]).push(chunk);
      else first = chunk;
    };
    const onLost = (): void => {
      if (!req.complete) reject(parseError('Parse error: the body ended early'));
    };
    req.on('data', onData);
    req.on('end', () => {
      const bytes = rest ? Buffer.concat(rest) : first;
      let body: unknown;
      try {
        body = parseJsonText(bytes ? bytes.toString('utf8') : '', bytes);
      } catch (error) {
        return void reject(error as Error);
      }
      resolve(body);
    });
    req.on('error', onLost);
    req.on('close', onLost);
  });
}

export class NodeReply implements HttpReply, EventSink {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  /** One `writeHead` and one `end` with a known length: one packet for small answers, one system call for long ones. */
  send(status: number, headers: Readonly<Record<string, string>>, body?: ReplyBody): void {
    const res = this.#res;
    if (res.destroyed || res.headersSent) return;
    if (body === undefined) return void res.writeHead(status, { ...headers }).end();
    if (typeof body === 'string') {
      const length = Buffer.byteLength(body);
      res.writeHead(status, { ...headers, 'content-length': length });
      // Plain ASCII needs no encoding.
      return void res.end(body, length === body.length ? 'latin1' : 'utf8');
    }
    res.writeHead(status, { ...headers, 'content-length': body.reduce((length, part) => length + part.length, 0) });
    for (const part of body) res.write(part);
    res.end();
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    if (!this.#res.destroyed) this.#res.writeHead(200, { ...headers });
    return this;
  }

  onClose(callback: () => void): void {
    // The client may have disconnected during the middleware, and no event would follow.
    if (this.#res.destroyed) queueMicrotask(callback);
    else this.#res.on('close', callback);
  }

  write(text: string): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    // Asked before, not after: a single message may be longer than all that may wait.
    if (res.writableLength > MAX_BUFFERED_BYTES) res.destroy();
    else res.write(text);
  }

  end(): void {
    if (!this.#res.writableEnded) this.#res.end();
  }
}
