import { QuiverError } from '@quiver/core';
import type { McpAuthInfo } from '@quiver/core/tools';
import type { RequestHead } from '../../auth/server/request-head.js';
import { errorText, type RequestId } from '../../protocol/json-rpc.js';
import type { ProtocolError } from '../../protocol/protocol-error.js';
import type { ToolAccessCarrier, ToolAccessCheck } from '../../tool-access.js';
import { RETRY_AFTER_SECONDS } from '../limits.js';

/** An HTTP request, from `node:http` or from the `Request` of the web platform. */
export interface HttpRequest {
  readonly method: string | undefined;
  /** By its name in lower case. A header that came several times is joined with commas, which then matches nothing. */
  header(name: string): string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Network address of the client, where the platform reports it. */
  readonly remoteAddress: string | undefined;
  readonly repeatsHost: boolean;
  /** Whether a web page could have sent this through DNS rebinding, so that `Host` and `Origin` are checked by default. */
  readonly isRebindable: boolean;
  readonly head: RequestHead;
  /** Identity of the caller, from authentication. */
  authInfo: (McpAuthInfo & ToolAccessCarrier) | undefined;
  readonly toolAccess: ToolAccessCheck | undefined;
  /** Reads the body once. @throws ProtocolError with HTTP status 413 or 400 */
  readJson(maxBytes: number): unknown;
}

/**
 * Response of the transport: whole with `send`, or as an event stream with `stream`. Only one of the two is called, once. Both copy
 * the headers, because adapters such as `@hono/node-server` 1.x write `Content-Length` into the object that they receive.
 */
export interface HttpReply {
  /** Does nothing when the response has started or the client disconnected. */
  send(status: number, headers: Readonly<Record<string, string>>, body?: string | readonly Uint8Array[]): void;
  /**
   * Begins an event stream with status 200; the headers may wait for the first event.
   *
   * @param endsConnection - whether the connection ends with the stream. Default `false`
   */
  stream(headers: Readonly<Record<string, string>>, endsConnection?: boolean): EventSink;
  addHeaders(headers: Readonly<Record<string, string>>): void;
  /** Lets the connection end with this response, where its headers are not sent yet. */
  endConnection(): void;
  /** Calls back when the connection closes, also after a complete response; soon, when it is closed already. */
  onClose(callback: () => void): void;
}

/** The reading end of an event stream, as the server sees it. */
export interface EventSink {
  /** Takes text in the event stream format; drops it, and the reader, when the reader is gone or does not keep up. */
  write(text: string): void;
  end(): void;
}

export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** Comment that keeps a quiet event stream open. Clients skip it. */
export const keepAliveComment = ': keep-alive\n\n';

export const jsonHeaders = { 'content-type': 'application/json' } as const;

/** Returns the error of a body that was read before and is not on `req.body`. */
export function bodyAlreadyRead(): QuiverError {
  return new QuiverError(
    'BODY_ALREADY_READ',
    'Cannot read the body of the request: it was read before MCPServer. Leave it unread, or put the parsed body on req.body.',
  );
}

const retryStatuses: ReadonlySet<number> = new Set([429, 503]);

export function sendError(reply: HttpReply, id: RequestId | null, error: ProtocolError): void {
  const { httpStatus, body } = error;
  const retry = retryStatuses.has(httpStatus) ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : undefined;
  const text = body ? JSON.stringify(body) : errorText(id, error);
  reply.send(httpStatus, { ...jsonHeaders, ...retry, ...error.headers }, text);
}
