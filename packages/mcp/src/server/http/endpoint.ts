import { toErrorMessage } from '@quiver/core';
import { ActiveSet } from '../../active-set.js';
import { classifyEra, requireLegacyBatch } from '../../protocol/classify-era.js';
import { LEGACY_VERSIONS } from '../../protocol/constants.js';
import {
  isObject,
  isRequestId,
  parseMessage,
  type IncomingMessage,
  type JsonRpcRequest,
  type RequestId,
} from '../../protocol/json-rpc.js';
import { invalidRequest, refused } from '../../protocol/protocol-error.js';
import { unref } from '../../unref.js';
import { createCallerRequest, LegacyBatch, LegacyRequest } from '../eras/legacy.js';
import { ModernRequest } from '../eras/modern.js';
import { toProtocolError } from '../failures.js';
import { countHeld, Lifecycle, serverClosed, until, type Transport } from '../lifecycle.js';
import { LegacySession } from '../client/legacy-session.js';
import { DEFAULT_GRACE, DEFAULT_MAX_BODY_BYTES, KEEP_ALIVE_INTERVAL, LAST_EVENTS_TIMEOUT } from '../limits.js';
import { requireToolAccessOfAll } from '../methods/tool-access.js';
import type { ServerState } from '../definition/server-state.js';
import { Authentication } from './authentication.js';
import { requireAccepted, requireJsonBody, requireNotClosed, requireServed } from './guard.js';
import type { StreamableHTTPServerTransportOptions } from './endpoint-options.js';
import { sendError, type HttpReply, type HttpRequest } from './message.js';
import { ResponseWriter } from './response-writer.js';
import { openStandaloneStream } from './standalone-stream.js';
import { sessionCallerOf, SessionStore } from './sessions.js';

/** All sessions of `startHTTP()`. */
export interface StreamableHTTPServerTransport {
  /** Ids of the open sessions. */
  readonly sessionIds: readonly string[];
  /** Waits for in-flight calls, refuses requests, then ends all sessions. */
  close(): Promise<void>;
}

/** Serves MCP over Streamable HTTP, in both eras, for requests that another server accepted. */
export class HttpEndpoint implements Transport {
  readonly server: ServerState;
  readonly sessions: SessionStore;
  readonly lifecycle: Lifecycle;
  readonly authentication: Authentication;
  readonly pending: ActiveSet<ResponseWriter> = new ActiveSet();
  #isUsed = false;
  /** Requests that are being handled, from the arrival of their headers. */
  #handling = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param sessions - those that all endpoints of the server share. Default: the endpoint has its own */
  constructor(server: ServerState, sessions: SessionStore = new SessionStore(server.sessions)) {
    this.server = server;
    this.sessions = sessions;
    this.lifecycle = new Lifecycle(server.lifecycle);
    this.authentication = new Authentication(server.logger);
  }

  /** All sessions, or `undefined` before the first request. */
  get transport(): StreamableHTTPServerTransport | undefined {
    if (!this.#isUsed) return undefined;
    const { sessions } = this;
    return {
      get sessionIds() {
        return Array.from(sessions, ({ id }) => id);
      },
      close: () => this.shutDown(),
    };
  }

  get inFlight(): number {
    return this.#handling - countHeld(this.pending);
  }

  /** Whether clients may send the responses of their users, and no other instance can take them. Not longer than calls are in flight. */
  get awaitsClients(): boolean {
    if (this.server.instance.isShared || this.inFlight === 0) return false;
    if (this.server.requestState.isAwaited) return true;
    for (const { session, isHeld } of this.pending) if (session && !isHeld) return true;
    return false;
  }

  readonly onStoreError = (error: unknown): void =>
    this.server.logger.error(`The event store failed: ${toErrorMessage(error)}`, error);

  /**
   * Serves one request. Never rejects: errors go to the client or to the logger.
   *
   * @param isHere - whether the path of the request is the path of the endpoint
   */
  async handle(
    request: HttpRequest,
    reply: HttpReply,
    options: StreamableHTTPServerTransportOptions,
    isHere = true,
  ): Promise<void> {
    let id: RequestId | null = null;
    this.#handling += 1;
    try {
      requireServed(request, reply, this.lifecycle, options);
      if (options.authenticate && !(await this.authentication.admit(request, reply, options, isHere))) return;
      if (!isHere) return reply.send(404, {});
      this.#startBeating();
      const response = new ResponseWriter(this, request, reply, options);
      const { method } = request;
      if (method === 'POST') {
        requireJsonBody(request);
        requireAccepted(request, 'application/json', 'text/event-stream');
        const body = await request.readJson(options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES);
        if (isObject(body) && isRequestId(body['id'])) id = body['id'];
        requireNotClosed(this.lifecycle, reply);
        await servePost(response, body);
      } else if (method === 'GET' && !isStateless(options)) {
        requireLegacyVersion(request);
        await openStandaloneStream(this, request, reply, options);
      } else if (method === 'DELETE' && !isStateless(options)) {
        requireLegacyVersion(request);
        await this.sessions.end(await this.sessions.require(request, options));
        response.endEmpty(200);
      } else {
        const allow = isStateless(options) ? 'POST' : 'GET, POST, DELETE';
        throw refused(405, `Method not allowed: ${method}`, { headers: { allow } });
      }
    } catch (error) {
      sendError(reply, id, toProtocolError(this.server.logger, error, 500));
    } finally {
      this.#handling -= 1;
    }
  }

  drain(): void {
    this.lifecycle.drain();
    for (const response of this.pending) {
      response.endConnection();
      response.release();
    }
    // The header of these streams is sent. Clients open them again, and balancers may use their connections until the server is closed.
    for (const session of this.sessions) session.endReaders();
  }

  async shutDown(graceMilliseconds: number = DEFAULT_GRACE): Promise<void> {
    this.drain();
    await until(() => this.inFlight === 0, graceMilliseconds);
    await this.end();
  }

  /** Refuses requests, answers those in flight with an error, and ends all sessions, unless another endpoint still serves them. */
  async end(): Promise<void> {
    this.lifecycle.close();
    for (const response of this.pending) {
      response.interrupt();
      response.release();
    }
    await until(() => this.pending.size === 0, LAST_EVENTS_TIMEOUT);
    for (const response of this.pending) response.cancel();
    this.#stopBeating();
    if (this.sessions.endpoints.size === 0) this.sessions.endAll();
    this.#isUsed = false;
  }

  /**
   * Ends idle sessions, and keeps event streams alive: proxies close quiet connections, and clients wait for headers, so a slow
   * response becomes an event stream too.
   */
  beat(): void {
    this.sessions.sweep();
    for (const response of this.pending) response.beat();
    for (const session of this.sessions) session.keepAlive();
    if (this.pending.size === 0 && this.sessions.size === 0) this.#stopBeating();
  }

  /** One timer serves the endpoint, and only while there is something to do. */
  #startBeating(): void {
    this.#isUsed = true;
    if (this.#timer) return;
    this.sessions.endpoints.add(this);
    this.#timer = unref(setInterval(() => this.beat(), KEEP_ALIVE_INTERVAL));
  }

  #stopBeating(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.sessions.endpoints.delete(this);
  }
}

function isStateless(options: StreamableHTTPServerTransportOptions): boolean {
  const { serverless, stateless } = options;
  return (
    serverless === true ||
    stateless === true ||
    ('sessionIdGenerator' in options && options.sessionIdGenerator === undefined)
  );
}

/**
 * Serves a posted body in its era.
 *
 * @throws ProtocolError with an HTTP status when the message is refused
 */
function servePost(response: ResponseWriter, body: unknown): void | Promise<void> {
  const incoming = parseMessage(body);
  if (!incoming) {
    if (Array.isArray(body)) return serveBatch(response, body);
    throw invalidRequest('the body is not a JSON-RPC message');
  }
  const { kind, message } = incoming;
  const { request } = response;
  const headers = {
    protocolVersion: request.header('mcp-protocol-version'),
    method: request.header('mcp-method'),
    name: request.header('mcp-name'),
  };
  if (kind === 'response' || classifyEra(message, headers) === 'legacy') return serveLegacyMessage(response, incoming);
  if (kind !== 'request') return response.endEmpty(202);
  // Closing the response stream is how a modern client cancels.
  response.cancelOnClose();
  return response.run(message.id, new ModernRequest(response.endpoint.server, message, response.caller, response));
}

/** Serves a legacy message: within its session, or alone when the endpoint has no sessions. */
function serveLegacyMessage(response: ResponseWriter, incoming: IncomingMessage): Promise<void> {
  const { kind, message } = incoming;
  const initializes = kind === 'request' && message.method === 'initialize';
  if (!initializes) requireLegacyVersion(response.request);
  else if (!isStateless(response.options)) return startSession(response, message);
  const session = sessionOf(response);
  if (session instanceof Promise) return session.then((found) => serveInSession(response, incoming, found));
  return serveInSession(response, incoming, session);
}

function serveInSession(response: ResponseWriter, incoming: IncomingMessage, session: LegacySession): Promise<void> {
  if (incoming.kind === 'request') return serveLegacyRequest(response, incoming.message, session);
  return session.accept(incoming).then(() => response.endEmpty(202));
}

async function startSession(response: ResponseWriter, message: JsonRpcRequest): Promise<void> {
  const { endpoint, request, options } = response;
  if (request.header('mcp-session-id') !== undefined) {
    await endpoint.sessions.require(request, options);
    throw invalidRequest('Server already initialized');
  }
  const { server, lifecycle } = endpoint;
  if (options.refuseSessionsWhileDraining && lifecycle.state !== 'open' && (await server.instance.hasOthers()))
    throw serverClosed();
  const { sessionIdGenerator = () => crypto.randomUUID(), onsessioninitialized } = options;
  const session = await endpoint.sessions.create(sessionCallerOf(request), options, sessionIdGenerator);
  session.traceSession();
  try {
    await onsessioninitialized?.(session.id);
    response.session = session;
    response.announcesSession = true;
    await serveLegacyRequest(response, message, session);
  } finally {
    // A session without a handshake would take the place of another one.
    if (!session.client.initialized) await endpoint.sessions.end(session);
  }
}

function serveLegacyRequest(response: ResponseWriter, message: JsonRpcRequest, session: LegacySession): Promise<void> {
  const { endpoint, caller } = response;
  return response.run(message.id, new LegacyRequest(endpoint.server, message, caller, response, session));
}

/**
 * Serves a posted array: a batch of 2025-03-26, of a session that negotiated this version or of a client without sessions that
 * names it. All requests share one response.
 *
 * @throws ProtocolError with an HTTP status for everything else
 */
async function serveBatch(response: ResponseWriter, messages: readonly unknown[]): Promise<void> {
  const { request, endpoint } = response;
  requireLegacyBatch(messages);
  requireLegacyVersion(request);
  const session = await sessionOf(response);
  requireToolAccessOfAll(messages, createCallerRequest(endpoint.server, response.caller, session));
  await response.run(null, new LegacyBatch(endpoint.server, messages, response.caller, response, session));
}

/**
 * Returns the session of a legacy message: the one that it names, or a temporary one when the endpoint has no sessions.
 *
 * @throws ProtocolError with HTTP status 400 or 404
 */
function sessionOf(response: ResponseWriter): LegacySession | Promise<LegacySession> {
  const { endpoint, request, options } = response;
  if (!isStateless(options)) {
    const session = endpoint.sessions.require(request, options);
    if (session instanceof Promise) return session.then((found) => (response.session = found));
    return (response.session = session);
  }
  const session = new LegacySession({ isStateless: true });
  const protocolVersion = request.header('mcp-protocol-version') ?? session.client.protocolVersion;
  session.client = { ...session.client, initialized: true, protocolVersion };
  response.cancelOnClose();
  return session;
}

/** @throws ProtocolError with HTTP status 400 for an unknown protocol version; a missing header means the default version */
function requireLegacyVersion(request: HttpRequest): void {
  const version = request.header('mcp-protocol-version');
  if (version === undefined || LEGACY_VERSIONS.some((known) => known === version)) return;
  throw refused(
    400,
    `Bad Request: Unsupported protocol version: ${version.slice(0, 50)} (supported versions: ${LEGACY_VERSIONS.join(', ')})`,
  );
}
