import type { IncomingMessage, ServerResponse } from 'node:http';
import { principalOf, toAuthInfo } from '../auth-info.js';
import { Connection } from '../connection.js';
import { requireToolAccessOfAll } from '../require-tool-access.js';
import type { ServerDefinition } from '../server-definition.js';
import { refuseRequest, shuttingDown } from './endpoint.js';
import { requireJsonBody, requireTrustedOrigin, type OriginPolicy } from './guard.js';
import { eventStreamHeaders, type EventSink, type HttpReply, type HttpRequest } from './message.js';
import { NodeReply, NodeRequest } from './node-http.js';
import { callerOf, CallerCount, requireRoom, withDefaults, type SessionLimits } from './sessions.js';
import { WebReply, WebRequest } from './web-http.js';
import { DEFAULT_MAX_BODY_BYTES, SSE_KEEP_ALIVE_INTERVAL } from '../limits.js';

/** Options of `startSSE()` and `startHonoSSE()`. */
export interface SSEOptions extends OriginPolicy, Partial<Omit<SessionLimits, 'idleTimeout'>> {
  /** Largest body that is read, in bytes. Default 4 MiB. */
  maxBodyBytes?: number | undefined;
}

export interface SSEPaths {
  /** Path that clients open their stream at. */
  readonly ssePath: string;
  /** Path that clients post their messages to. */
  readonly messagePath: string;
}

export interface SSERoute extends SSEPaths {
  readonly url: URL;
}

export interface StartSSEOptions extends SSERoute {
  req: IncomingMessage;
  res: ServerResponse;
  options?: SSEOptions;
}

export interface ConnectSSEOptions {
  /** Path that the client posts its messages to. */
  messagePath: string;
  /** The response to the request for the stream. */
  res: ServerResponse;
  options?: SSEOptions;
}

export interface ConnectHonoSSEOptions {
  /** Path that the client posts its messages to. */
  messagePath: string;
  /** Hono's context of the request for the stream. */
  context: HonoContextLike;
  options?: SSEOptions;
}

/** Part of Hono's context that the server uses. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request };
  /** Read for `auth`: the identity that authentication middleware set. */
  get?(key: string): unknown;
}

export interface StartHonoSSEWithContext extends SSERoute {
  /** Hono's context of the request. */
  context: HonoContextLike;
  options?: SSEOptions;
}

export type StartHonoSSEOptions = StartHonoSSEWithContext | (StartSSEOptions & { context?: undefined });

/** Request and reply of the transport. */
interface HttpPair {
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  /** Response for the handler to return; absent with `req` and `res`, which are answered directly. */
  readonly response?: Promise<Response>;
}

export function fromHonoOptions(options: StartHonoSSEOptions): HttpPair {
  if (!options.context) return { request: new NodeRequest(options.req), reply: new NodeReply(options.res) };
  return fromHonoContext(options.context);
}

export function fromHonoContext(context: HonoContextLike): Required<HttpPair> {
  const { raw } = context.req;
  const reply = new WebReply(raw);
  return { request: new WebRequest(raw, context.get?.('auth')), reply, response: reply.response };
}

/** One client of the HTTP+SSE transport. */
export interface SSEConnection {
  readonly sessionId: string;
  readonly principal: string;
  /** Caller that the connection counts for. */
  readonly caller: string | undefined;
  readonly connection: Connection;
  readonly sink: EventSink;
}

const textHeaders = { 'content-type': 'text/plain; charset=utf-8' } as const;

/**
 * Transport of 2024-11-05: the client keeps an event stream open and posts its messages to another path; responses arrive on the
 * stream. Deprecated, but some hosts still use it.
 *
 * @see [MCP 2024-11-05, HTTP with SSE](https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse)
 */
export class SSEEndpoint {
  readonly #server: ServerDefinition;
  readonly #connections = new Map<string, SSEConnection>();
  /** Number of open connections by caller. */
  readonly #open = new CallerCount();
  #keepAlive: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(server: ServerDefinition) {
    this.#server = server;
  }

  /** Returns the connection with this id, or the newest. */
  find(sessionId?: string): SSEConnection | undefined {
    return sessionId === undefined ? [...this.#connections.values()].at(-1) : this.#connections.get(sessionId);
  }

  /** Serves one request. Never rejects: errors go to the client or to the logger. */
  async handle(
    request: HttpRequest,
    reply: HttpReply,
    { url, ssePath, messagePath }: SSERoute,
    options: SSEOptions = {},
  ): Promise<void> {
    try {
      requireTrustedOrigin(request, options);
      if (url.pathname === ssePath) {
        if (request.method === 'GET') this.#connect(request, reply, messagePath, options);
        // Newer clients try to post here first; 405 tells them to open a stream instead.
        else reply.send(405, { allow: 'GET' });
      } else if (url.pathname === messagePath) {
        if (request.method === 'POST') await this.#receive(request, reply, url.searchParams.get('sessionId'), options);
        else reply.send(405, { allow: 'POST' });
      } else reply.send(404, textHeaders, 'Unknown path');
    } catch (error) {
      refuseRequest(reply, error, null, this.#server);
    }
  }

  /** Opens a stream, regardless of the path and method of the request. Never rejects. */
  open(request: HttpRequest, reply: HttpReply, messagePath: string, options: SSEOptions = {}): void {
    try {
      requireTrustedOrigin(request, options);
      this.#connect(request, reply, messagePath, options);
    } catch (error) {
      refuseRequest(reply, error, null, this.#server);
    }
  }

  /** Opens the stream of a client and sends the path for its messages. */
  #connect(request: HttpRequest, reply: HttpReply, messagePath: string, options: SSEOptions = {}): void {
    if (this.#closing) throw shuttingDown();
    const limits = withDefaults(options);
    const principal = principalOf(toAuthInfo(request.auth));
    const caller = callerOf(principal, request);
    requireRoom(this.#connections.size, this.#open.of(caller), limits);
    const sessionId = crypto.randomUUID();
    const sink = reply.stream(eventStreamHeaders);
    const connection = new Connection({
      server: this.#server,
      write: (messageText) => sink.write(`event: message\ndata: ${messageText}\n\n`),
      maxRequests: limits.maxRequestsPerSession,
    });
    this.#connections.set(sessionId, { sessionId, principal, caller, connection, sink });
    this.#open.add(caller, 1);
    this.#keepAlive ??= this.#startKeepAlive();
    reply.onClose(() => this.close(sessionId));
    const separator = messagePath.includes('?') ? '&' : '?';
    sink.write(`event: endpoint\ndata: ${messagePath}${separator}sessionId=${sessionId}\n\n`);
  }

  /** Ends one connection and cancels its requests. */
  close(sessionId: string): void {
    const connection = this.#connections.get(sessionId);
    if (!connection) return;
    this.#connections.delete(sessionId);
    this.#open.add(connection.caller, -1);
    connection.connection.close();
    connection.sink.end();
    if (this.#connections.size > 0) return;
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
  }

  /** Refuses new connections, waits for in-flight requests, then ends all connections. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#connections.values()].map(({ connection }) => connection.drained(graceMilliseconds)));
    for (const sessionId of this.#connections.keys()) this.close(sessionId);
  }

  async #receive(
    request: HttpRequest,
    reply: HttpReply,
    sessionId: string | null,
    { maxBodyBytes = DEFAULT_MAX_BODY_BYTES }: SSEOptions,
  ): Promise<void> {
    if (this.#connections.size === 0) return reply.send(503, textHeaders, 'SSE connection not established');
    if (sessionId === null) return reply.send(400, textHeaders, 'No sessionId provided');
    const connection = this.#connections.get(sessionId);
    const authInfo = toAuthInfo(request.auth);
    if (!connection || connection.principal !== principalOf(authInfo)) {
      return reply.send(400, textHeaders, `No transport found for sessionId ${printable(sessionId)}`);
    }
    requireJsonBody(request);
    if (this.#closing) throw shuttingDown();
    const body = await request.readJson(maxBodyBytes);
    requireToolAccessOfAll(Array.isArray(body) ? body : [body], request.toolAccess);
    reply.send(202, textHeaders, 'Accepted');
    void connection.connection.receive(body, { authInfo, sessionId, http: request });
  }

  #startKeepAlive(): NodeJS.Timeout {
    const timer = setInterval(() => {
      for (const { sink } of this.#connections.values()) sink.write(': keep-alive\n\n');
    }, SSE_KEEP_ALIVE_INTERVAL);
    // Outside of Node timers are numbers and keep nothing alive.
    timer.unref?.();
    return timer;
  }
}

function printable(text: string): string {
  return text.slice(0, 64).replaceAll(/[^\w-]/g, '?');
}
