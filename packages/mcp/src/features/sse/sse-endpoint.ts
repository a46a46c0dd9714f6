import { Connection } from '../../server/connection/connection.js';
import { createCallerRequest } from '../../server/eras/legacy.js';
import { toProtocolError } from '../../server/failures.js';
import {
  DEFAULT_GRACE,
  DEFAULT_MAX_BODY_BYTES,
  DEFAULT_MAX_REQUESTS_PER_SESSION,
  KEEP_ALIVE_INTERVAL,
} from '../../server/limits.js';
import { requireToolAccessOfAll } from '../../server/methods/tool-access.js';
import type { ServerState } from '../../server/definition/server-state.js';
import { Lifecycle, type Transport } from '../../server/lifecycle.js';
import { unref } from '../../unref.js';
import { toEvent } from '../../server/http/event-stream.js';
import { Authentication } from '../../server/http/authentication.js';
import type { StreamableHTTPServerTransportOptions } from '../../server/http/endpoint-options.js';
import { requireJsonBody, requireNotClosed, requireServed, type OriginPolicy } from '../../server/http/guard.js';
import {
  eventStreamHeaders,
  keepAliveComment,
  sendError,
  type EventSink,
  type HttpReply,
  type HttpRequest,
} from '../../server/http/message.js';
import {
  callerOf,
  requireRoom,
  sessionCallerOf,
  type SessionCaller,
  type SessionLimits,
} from '../../server/http/sessions.js';

/** Options of `startSSE()` and `startHonoSSE()`. */
export interface SSEOptions
  extends
    OriginPolicy,
    Partial<Omit<SessionLimits, 'idleTimeout'>>,
    Pick<StreamableHTTPServerTransportOptions, 'authenticate'> {
  /** Largest body that is read, in bytes. Default 4 MiB. */
  maxBodyBytes?: number | undefined;
}

export interface SSERoute {
  readonly url: URL;
  /** Path that clients open their stream at. */
  readonly ssePath: string;
  /** Path that clients post their messages to. */
  readonly messagePath: string;
}

/** One client that is connected over HTTP+SSE. */
export interface SSEServerTransport {
  readonly sessionId: string;
  /** Ends the connection and cancels its in-flight requests. */
  close(): Promise<void>;
}

/** As {@link SSEServerTransport}, for a connection of `startHonoSSE()`. */
export type SSETransport = SSEServerTransport;

/** Paths of a request, and the method of `MCPServer` that serves it. Without `url` it opens a stream, regardless of its path and method. */
export type ServedRoute = (SSERoute | { messagePath: string; url?: undefined; ssePath?: undefined }) & {
  readonly servedBy: 'startSSE' | 'startHonoSSE';
};

interface SSEConnection extends SessionCaller, Pick<ServedRoute, 'servedBy'> {
  readonly connection: Connection;
  readonly sink: EventSink;
  readonly keepAlive: NodeJS.Timeout;
}

const textHeaders = { 'content-type': 'text/plain; charset=utf-8' } as const;

/**
 * Transport of 2024-11-05: the client keeps an event stream open and posts its messages to another path; responses arrive on the
 * stream. Deprecated, but some hosts still use it.
 *
 * @see [MCP 2024-11-05, HTTP with SSE](https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse)
 */
export class SSEEndpoint implements Transport {
  readonly #server: ServerState;
  readonly #connections = new Map<string, SSEConnection>();
  readonly #lifecycle: Lifecycle;
  readonly #authentication: Authentication;

  constructor(server: ServerState) {
    this.#server = server;
    this.#authentication = new Authentication(server.logger);
    this.#lifecycle = new Lifecycle(server.lifecycle);
  }

  get inFlight(): number {
    let count = 0;
    for (const { connection } of this.#connections.values()) count += connection.inFlightCount;
    return count;
  }

  /** Returns the connection with this session id, or the newest, of those that a method of `MCPServer` opened. */
  find(openedBy: ServedRoute['servedBy'], sessionId: string | undefined): SSEServerTransport | undefined {
    const found = Array.from(this.#connections).findLast(
      ([id, { servedBy }]) => servedBy === openedBy && (sessionId === undefined || id === sessionId),
    )?.[0];
    return found === undefined ? undefined : { sessionId: found, close: async () => this.close(found) };
  }

  /** Serves one request. Never rejects: errors go to the client or to the logger. */
  async handle(
    request: HttpRequest,
    reply: HttpReply,
    { url, ssePath, ...route }: ServedRoute,
    options: SSEOptions = {},
  ): Promise<void> {
    try {
      requireServed(request, reply, this.#lifecycle, options);
      if (options.authenticate && !(await this.#authentication.admit(request, reply, options, true))) return;
      if (!url) this.#connect(request, reply, route, options);
      else if (url.pathname === ssePath) {
        if (request.method === 'GET') this.#connect(request, reply, route, options);
        // Newer clients try to post here first; 405 tells them to open a stream instead.
        else reply.send(405, { allow: 'GET' });
      } else if (url.pathname === route.messagePath) {
        if (request.method === 'POST') await this.#receive(request, reply, url.searchParams.get('sessionId'), options);
        else reply.send(405, { allow: 'POST' });
      } else reply.send(404, textHeaders, 'Unknown path');
    } catch (error) {
      sendError(reply, null, toProtocolError(this.#server.logger, error, 500));
    }
  }

  #connect(
    request: HttpRequest,
    reply: HttpReply,
    { messagePath, servedBy }: Pick<ServedRoute, 'messagePath' | 'servedBy'>,
    options: SSEOptions,
  ): void {
    const caller = sessionCallerOf(request);
    requireRoom(this.#connections, caller, options);
    const sessionId = crypto.randomUUID();
    const sink = reply.stream(eventStreamHeaders, true);
    const connection = new Connection({
      server: this.#server,
      write: (messageText) => sink.write(toEvent(messageText)),
      maxRequests: options.maxRequestsPerSession ?? DEFAULT_MAX_REQUESTS_PER_SESSION,
    });
    const keepAlive = unref(setInterval(() => sink.write(keepAliveComment), KEEP_ALIVE_INTERVAL));
    this.#connections.set(sessionId, { ...caller, servedBy, connection, sink, keepAlive });
    reply.onClose(() => this.close(sessionId));
    const separator = messagePath.includes('?') ? '&' : '?';
    sink.write(`event: endpoint\ndata: ${messagePath}${separator}sessionId=${sessionId}\n\n`);
  }

  close(sessionId: string): void {
    const closing = this.#connections.get(sessionId);
    if (!closing) return;
    this.#connections.delete(sessionId);
    clearInterval(closing.keepAlive);
    closing.connection.close();
    closing.sink.end();
  }

  /** Responses to posts are short, and streams stay. */
  drain(): void {}

  async shutDown(graceMilliseconds: number = DEFAULT_GRACE): Promise<void> {
    this.#lifecycle.drain();
    await Promise.all([...this.#connections.values()].map(({ connection }) => connection.shutDown(graceMilliseconds)));
    this.#lifecycle.close();
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
    const printable = sessionId.slice(0, 64).replaceAll(/[^\w-]/g, '?');
    const refuse = (): void => reply.send(400, textHeaders, `No transport found for sessionId ${printable}`);
    const receiver = this.#connections.get(sessionId);
    if (receiver?.principal !== sessionCallerOf(request).principal) return refuse();
    requireJsonBody(request);
    const body = await request.readJson(maxBodyBytes);
    requireNotClosed(this.#lifecycle, reply);
    // The client may have gone while the body arrived.
    if (this.#connections.get(sessionId) !== receiver) return refuse();
    const caller = callerOf(request, sessionId);
    const { connection } = receiver;
    requireToolAccessOfAll(Array.isArray(body) ? body : [body], createCallerRequest(this.#server, caller, connection));
    reply.send(202, textHeaders, 'Accepted');
    void connection.receive(body, caller);
  }
}
