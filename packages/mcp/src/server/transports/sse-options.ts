import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpReply, HttpRequest } from './http-message.js';
import { NodeReply, NodeRequest } from './node-http.js';
import type { SSEOptions, SSERoute } from './sse-endpoint.js';
import { WebReply, WebRequest } from './web-http.js';

export interface StartSSEOptions extends SSERoute {
  req: IncomingMessage;
  res: ServerResponse;
  options?: SSEOptions;
}

export interface ConnectSSEOptions {
  /** Where the client is to post its messages. */
  messagePath: string;
  /** The response to the request for the stream. */
  res: ServerResponse;
  options?: SSEOptions;
}

export interface ConnectHonoSSEOptions {
  /** Where the client is to post its messages. */
  messagePath: string;
  /** Hono's context of the request for the stream. */
  context: HonoContextLike;
  options?: SSEOptions;
}

/** The part of Hono's context that is used. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request };
  /** Read for `auth`: what authentication middleware found out about the caller. */
  get?(key: string): unknown;
}

export interface StartHonoSSEWithContext extends SSERoute {
  /** Hono's context of the request. */
  context: HonoContextLike;
  options?: SSEOptions;
}

export type StartHonoSSEOptions = StartHonoSSEWithContext | (StartSSEOptions & { context?: undefined });

export interface HonoSSEExchange {
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  /** What to return from the handler; absent with `req` and `res`, which are answered directly. */
  readonly response?: Promise<Response>;
}

export function toStartHonoSSE(options: StartHonoSSEOptions): HonoSSEExchange {
  if (!options.context) return { request: new NodeRequest(options.req), reply: new NodeReply(options.res) };
  return toHonoExchange(options.context);
}

export function toHonoExchange(context: HonoContextLike): Required<HonoSSEExchange> {
  const { raw } = context.req;
  const reply = new WebReply(raw);
  return { request: new WebRequest(raw, context.get?.('auth')), reply, response: reply.response };
}
