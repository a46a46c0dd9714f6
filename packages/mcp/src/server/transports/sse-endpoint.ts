import { principalOf, toAuthInfo } from '../auth-info.js';
import { requireJsonBody, requireTrustedOrigin, type OriginPolicy } from '../request-guard.js';
import type { ServerDefinition } from '../server-definition.js';
import { callerOf, CallerCount, requireRoom, withDefaults, type SessionLimits } from '../sessions.js';
import { eventStreamHeaders, type EventSink, type HttpReply, type HttpRequest } from './http-message.js';
import { PeerConnection } from './peer-connection.js';
import { defaultMaxBodyBytes } from './read-json-body.js';
import { refuseRequest, shuttingDown } from './refuse-request.js';

/** How `startSSE()` and `startHonoSSE()` treat requests. */
export interface SSEOptions extends OriginPolicy, Partial<Omit<SessionLimits, 'idleTimeout'>> {
  /** The largest body that is read, in bytes. Default 4 MiB. */
  maxBodyBytes?: number | undefined;
}

export interface SSEPaths {
  /** Where clients open their stream. */
  readonly ssePath: string;
  /** Where clients post their messages. */
  readonly messagePath: string;
}

export interface SSERoute extends SSEPaths {
  readonly url: URL;
}

/** One client of the HTTP+SSE transport. */
export interface SSEConnection {
  readonly sessionId: string;
  readonly principal: string;
  /** Caller that the connection counts for. */
  readonly caller: string | undefined;
  readonly peer: PeerConnection;
  readonly sink: EventSink;
}

const keepAliveMilliseconds = 15_000;
const textHeaders = { 'content-type': 'text/plain; charset=utf-8' } as const;

/**
 * The transport of 2024-11-05: the client keeps an event stream open and posts its messages elsewhere; answers come on the
 * stream. Deprecated since, and still what some hosts speak.
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

  /** The connection with this id, or the newest. */
  find(sessionId?: string): SSEConnection | undefined {
    return sessionId === undefined ? [...this.#connections.values()].at(-1) : this.#connections.get(sessionId);
  }

  /** Answers one request. Never rejects: what goes wrong is told to the client, or to the logger. */
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
      refuseRequest(reply, error, null, this.#server.logger);
    }
  }

  /** Opens a stream, whatever the path and method of the request. Never rejects. */
  open(request: HttpRequest, reply: HttpReply, messagePath: string, options: SSEOptions = {}): void {
    try {
      requireTrustedOrigin(request, options);
      this.#connect(request, reply, messagePath, options);
    } catch (error) {
      refuseRequest(reply, error, null, this.#server.logger);
    }
  }

  /** Opens the stream of a client, and tells it where to post. */
  #connect(request: HttpRequest, reply: HttpReply, messagePath: string, options: SSEOptions = {}): void {
    if (this.#closing) throw shuttingDown();
    const limits = withDefaults(options);
    const principal = principalOf(toAuthInfo(request.auth));
    const caller = callerOf(principal, request);
    requireRoom(this.#connections.size, this.#open.of(caller), limits);
    const sessionId = crypto.randomUUID();
    const sink = reply.stream(eventStreamHeaders);
    const peer = new PeerConnection({
      server: this.#server,
      write: (messageText) => sink.write(`event: message\ndata: ${messageText}\n\n`),
      maxRequests: limits.maxRequestsPerSession,
    });
    this.#connections.set(sessionId, { sessionId, principal, caller, peer, sink });
    this.#open.add(caller, 1);
    this.#keepAlive ??= this.#startKeepAlive();
    reply.onClose(() => this.close(sessionId));
    const separator = messagePath.includes('?') ? '&' : '?';
    sink.write(`event: endpoint\ndata: ${messagePath}${separator}sessionId=${sessionId}\n\n`);
  }

  /** Ends one connection and cancels what it waits for. */
  close(sessionId: string): void {
    const connection = this.#connections.get(sessionId);
    if (!connection) return;
    this.#connections.delete(sessionId);
    this.#open.add(connection.caller, -1);
    connection.peer.close();
    connection.sink.end();
    if (this.#connections.size > 0) return;
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
  }

  /** Takes no new connections, lets running calls finish for a while, then ends everything. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#connections.values()].map(({ peer }) => peer.drained(graceMilliseconds)));
    for (const sessionId of this.#connections.keys()) this.close(sessionId);
  }

  async #receive(
    request: HttpRequest,
    reply: HttpReply,
    sessionId: string | null,
    { maxBodyBytes = defaultMaxBodyBytes }: SSEOptions,
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
    reply.send(202, textHeaders, 'Accepted');
    void connection.peer.receive(body, { authInfo, sessionId, request });
  }

  #startKeepAlive(): NodeJS.Timeout {
    const timer = setInterval(() => {
      for (const { sink } of this.#connections.values()) sink.write(': keep-alive\n\n');
    }, keepAliveMilliseconds);
    // Outside of Node timers are numbers and keep nothing alive.
    timer.unref?.();
    return timer;
  }
}

function printable(text: string): string {
  return text.slice(0, 64).replaceAll(/[^\w-]/g, '?');
}
