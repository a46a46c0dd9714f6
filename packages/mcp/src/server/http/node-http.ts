import type { IncomingMessage, ServerResponse } from 'node:http';
import type { McpAuthInfo } from '@quiver/core/tools';
import { headersOfNode, headOfNode, type RequestHead } from '../../auth/server/request-head.js';
import { parseError, parseJsonText } from '../../protocol/json-rpc.js';
import type { ToolAccessCarrier, ToolAccessCheck } from '../../tool-access.js';
import { isLoopback, toAuthInfo, toolAccessOf } from '../caller.js';
import { MAX_BUFFERED_BYTES } from '../limits.js';
import { bodyTooLarge } from './guard.js';
import { bodyAlreadyRead, type EventSink, type HttpReply, type HttpRequest } from './message.js';
import type { StreamableHTTPServerTransportOptions } from './endpoint-options.js';

/** A request as middleware may hand it on: parsed, and with the caller's identity. */
interface AuthenticatedRequest extends IncomingMessage, ToolAccessCarrier {
  /** Set by authentication middleware; reaches tools as `context.mcp.extra.authInfo`. */
  auth?: unknown;
  body?: unknown;
}

/** A request of `node:http`, or of a framework on top of it. */
export class NodeRequest implements HttpRequest {
  readonly #req: AuthenticatedRequest;
  authInfo: (McpAuthInfo & ToolAccessCarrier) | undefined;

  /** @param req - as the last middleware passed it on */
  constructor(req: AuthenticatedRequest) {
    this.#req = req;
    this.authInfo = toAuthInfo(req.auth);
  }

  get head(): RequestHead {
    return headOfNode(this.#req);
  }

  get method(): string | undefined {
    return this.#req.method;
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  get headers(): Readonly<Record<string, string>> {
    return headersOfNode(this.#req);
  }

  get remoteAddress(): string | undefined {
    return this.#req.socket?.remoteAddress;
  }

  get repeatsHost(): boolean {
    const { rawHeaders } = this.#req;
    let count = 0;
    for (let index = 0; index < rawHeaders.length; index += 2)
      if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') count += 1;
    return count > 1;
  }

  /** Only requests over loopback: DNS rebinding in a browser of the same host reaches no other interface. */
  get isRebindable(): boolean {
    const address = this.#req.socket?.localAddress;
    return address !== undefined && isLoopback(address);
  }

  get toolAccess(): ToolAccessCheck | undefined {
    return toolAccessOf(this.#req, this.authInfo);
  }

  /** Middleware may have read the body already. */
  readJson(maxBytes: number): unknown {
    const { body } = this.#req;
    if (body === undefined) return readBody(this.#req, maxBytes).then(parseBytes);
    if (typeof body === 'string') return parseJsonText(body);
    if (!(body instanceof Uint8Array)) return body;
    return parseBytes(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  }
}

function parseBytes(bytes: Buffer): unknown {
  return parseJsonText(bytes.toString('utf8'), bytes);
}

/**
 * Reads a request body of at most `maxBytes`. A body that declares more is refused before it is read, another one as soon as it
 * exceeds the limit.
 *
 * @throws ProtocolError with HTTP status 413 for a larger body, 400 (-32700) for an incomplete one
 * @throws `BODY_ALREADY_READ`
 */
function readBody(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (req.readableEnded) throw bodyAlreadyRead();
    if (req.destroyed) throw parseError('Parse error: the body ended early');
    if (Number(req.headers['content-length']) > maxBytes) throw bodyTooLarge(maxBytes);
    const chunks: Buffer[] = [];
    let length = 0;
    const onLost = (): void => {
      if (!req.complete) reject(parseError('Parse error: the body ended early'));
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= maxBytes) return void chunks.push(chunk);
      // The rest is read and discarded, so that the client sees the response and not a broken connection.
      req.off('data', onData).resume();
      chunks.length = 0;
      reject(bodyTooLarge(maxBytes));
    };
    req.on('data', onData);
    req.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
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
  send(status: number, headers: Readonly<Record<string, string>>, body?: string | readonly Uint8Array[]): void {
    const res = this.#res;
    if (res.destroyed || res.headersSent) return;
    if (body === undefined) return void res.writeHead(status, { ...headers }).end();
    if (typeof body !== 'string') {
      res.writeHead(status, { ...headers, 'content-length': body.reduce((sum, part) => sum + part.length, 0) });
      for (const part of body) res.write(part);
      return void res.end();
    }
    const length = Buffer.byteLength(body);
    res.writeHead(status, { ...headers, 'content-length': length });
    // Plain ASCII needs no encoding.
    res.end(body, length === body.length ? 'latin1' : 'utf8');
  }

  stream(headers: Readonly<Record<string, string>>, endsConnection = false): EventSink {
    const res = this.#res;
    // Middleware such as a timeout may have responded; the stream then goes nowhere.
    if (res.destroyed || res.headersSent) return this;
    if (endsConnection) {
      this.endConnection();
      // An event in a chunk is written in four parts, a tenth of the CPU of a call over HTTP+SSE.
      res.removeHeader('transfer-encoding');
    }
    res.writeHead(200, { ...headers });
    return this;
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    if (this.#res.headersSent) return;
    for (const [name, value] of Object.entries(headers)) this.#res.setHeader(name, value);
  }

  endConnection(): void {
    const res = this.#res;
    // HTTP/2 has no such header.
    if (!res.headersSent && res.req.httpVersionMajor === 1) res.setHeader('connection', 'close');
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

/** Request, response and options of `server.startHTTP()`. */
export interface StartHTTPOptions extends StreamableHTTPServerTransportOptions {
  /** The URL of the request; only its path is used. */
  url: URL;
  /** The path that MCP is served on, for example `/mcp`. */
  httpPath: string;
  /** Path that reports `server.health()` as JSON, as that of `listen()`. Default: none. */
  healthPath?: string | undefined;
  /** Request of `node:http`. */
  req: IncomingMessage;
  /** Response of `node:http`. The server writes it. */
  res: ServerResponse;
  /** Options, when they are not given next to the request. */
  options?: StreamableHTTPServerTransportOptions | undefined;
}
