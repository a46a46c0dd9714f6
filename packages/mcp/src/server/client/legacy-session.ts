import type { McpSessionTraceEvent, McpTraceEvent } from '@quiver/core';
import type { ElicitOptions } from '@quiver/core/tools';
import { DEFAULT_LEGACY_VERSION, errorCodes, type LoggingLevel } from '../../protocol/constants.js';
import { isRequestId, withMeta, type IncomingMessage, type Params, type RequestId } from '../../protocol/json-rpc.js';
import { ProtocolError, refused } from '../../protocol/protocol-error.js';
import type { ClientCapabilities, Implementation } from '../../protocol/types.js';
import type { Caller, ServerTransport } from '../caller.js';
import { describeUndeclared, notSupported } from './client-request-errors.js';
import { missingCapabilities, type ClientRequest } from './client-requests.js';
import { createMessageEvent, traces } from './message-event.js';
import { PendingRequests, requestIdOf, type RequestLink } from './pending-requests.js';
import type { InFlight } from '../lifecycle.js';

export type ClientMessage = Exclude<IncomingMessage, { kind: 'request' }>;

/** A request, or all those of a batch. */
export interface Work extends InFlight {
  /** @returns the result; `undefined` when there is no response */
  run(session?: LegacySession): Promise<string | Uint8Array | undefined>;
  /** Whether a message was sent before the response. */
  readonly sentMessage: boolean;
  /** Returns the response as JSON text, with an error in place of each result that is not there. */
  failureText(error: ProtocolError): string;
}

/** Declarations of a client: in its handshake, or with every request of the modern era. */
export interface ClientDeclarations {
  readonly protocolVersion: string;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** Least severe level of log messages that the client receives; `undefined` for none. */
  readonly logLevel: LoggingLevel | undefined;
}

/** Declarations and subscriptions of the client of a session. It is replaced as a whole, by {@link LegacySession.update}. */
export interface ClientFacts extends ClientDeclarations {
  /** Whether the handshake is done; before it the client may turn out to be a modern one. */
  readonly initialized: boolean;
  readonly logLevel: LoggingLevel;
  /** URIs of the resources that the client subscribed to. */
  readonly subscriptions: ReadonlySet<string>;
}

/** A client before its handshake, which receives all log messages. */
const unknownClient: ClientFacts = {
  initialized: false,
  protocolVersion: DEFAULT_LEGACY_VERSION,
  clientInfo: undefined,
  clientCapabilities: {},
  logLevel: 'debug',
  subscriptions: new Set(),
};

export interface SessionOptions {
  readonly maxRequests?: number | undefined;
  /** Transport of the messages. Default `http`. */
  readonly transport?: ServerTransport | undefined;
  /** See {@link LegacySession.isStateless}. Default `false`. */
  readonly isStateless?: boolean;
}

/** Requests of one client in flight, by id. A client may cancel its own requests and no others. */
class RequestsInFlight {
  /** An empty map is a third of an idle session. */
  #requests: Map<RequestId, Pick<InFlight, 'cancel'>> | undefined;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get isEmpty(): boolean {
    return this.#requests === undefined;
  }

  /**
   * Adds a request until {@link RequestsInFlight.delete}.
   *
   * @throws ProtocolError -32600 with HTTP status 400 when a request with this id is in flight, -32000 with HTTP status 429 when too
   *   many requests are
   */
  add(id: RequestId, request: Pick<InFlight, 'cancel'>): void {
    const requests = (this.#requests ??= new Map());
    if (requests.has(id)) {
      const message = `Request id ${JSON.stringify(id)} is already being answered; ids must be unique`;
      throw new ProtocolError(errorCodes.invalidRequest, message, { httpStatus: 400 });
    }
    if (requests.size >= this.#max) {
      throw refused(
        429,
        `${this.#max} requests of this session are unfinished, which is the limit; wait for a response and send the request again`,
      );
    }
    requests.set(id, request);
  }

  delete(id: RequestId): void {
    this.#requests?.delete(id);
    if (this.#requests?.size === 0) this.#requests = undefined;
  }

  /** @returns whether the request was in flight */
  cancel(id: RequestId): boolean {
    const request = this.#requests?.get(id);
    request?.cancel();
    return request !== undefined;
  }

  cancelAll(): void {
    for (const request of this.#requests?.values() ?? []) request.cancel();
  }
}

/**
 * Server state of one legacy client between its requests: a session over HTTP, the connection over stdio, a single request where there
 * are no sessions.
 */
export class LegacySession {
  /** Session id; absent over stdio and in stateless requests. */
  readonly id?: string;
  client: ClientFacts = unknownClient;
  /** Whether the session ends with its request: the client receives nothing else, and nothing is remembered. */
  readonly isStateless: boolean;
  readonly transport: ServerTransport;
  /** Caller of the newest request, where there is authentication or callers see different lists. */
  lastCaller: Caller | undefined;
  readonly inFlight: RequestsInFlight;
  #pending: PendingRequests | undefined;
  #sentRequests = 0;
  #endTrace: (() => void) | undefined;

  constructor({ maxRequests = Infinity, transport = 'http', isStateless = false }: SessionOptions) {
    this.inFlight = new RequestsInFlight(maxRequests);
    this.isStateless = isStateless;
    this.transport = transport;
  }

  /** Whether this instance sends notifications about changes to the client. */
  get receivesChanges(): boolean {
    return this.client.initialized;
  }

  /** Changes what the session remembers of the client. Where other instances share the session, settles when it is stored. */
  async update(change: (client: ClientFacts) => Partial<ClientFacts>): Promise<void> {
    this.client = { ...this.client, ...change(this.client) };
  }

  /**
   * Sends a message that belongs to no request: on the standalone event stream, or on the connection.
   *
   * @returns whether the message was sent
   */
  send(_messageText: string): boolean {
    return false;
  }

  traceSession(): void {
    if (!traces.isActive) return;
    const event: McpSessionTraceEvent = { type: 'mcp.session', side: 'server', transport: this.transport };
    const end = new Promise<void>((resolve) => {
      this.#endTrace = () => {
        if (this.client.initialized) event.protocolVersion = this.client.protocolVersion;
        resolve();
      };
    });
    traces.trace(event, () => end).catch(() => {});
  }

  #createEvent(direction: McpTraceEvent['direction'], method: string, params: McpTraceEvent['params']): McpTraceEvent {
    const origin = { protocolVersion: this.client.protocolVersion, sessionId: this.id, transport: this.transport };
    return createMessageEvent(direction, method, params, origin);
  }

  /** Handles a notification or a response of the client. Unknown ones are ignored. */
  async accept(incoming: ClientMessage, isTraced: boolean = traces.isActive): Promise<void> {
    const { kind, message } = incoming;
    if (isTraced && kind === 'notification') {
      const event = this.#createEvent('received', message.method, message.params);
      return traces.trace(event, () => this.accept(incoming, false));
    }
    if (!this.settle(incoming)) await this.forward(incoming);
  }

  /** @returns whether the message was for a request of this instance, in either direction */
  settle({ kind, message }: ClientMessage): boolean {
    if (kind === 'response') return this.#pending?.settle(message) === true;
    const requestId = message.params?.['requestId'];
    return message.method !== 'notifications/cancelled' || !isRequestId(requestId) || this.inFlight.cancel(requestId);
  }

  protected async forward(_incoming: ClientMessage): Promise<void> {}

  /** This instance, where several share the session. */
  protected get instanceId(): string | undefined {
    return undefined;
  }

  /**
   * Sends a request to the client and waits for its result.
   *
   * @throws `ELICITATION_NOT_SUPPORTED` (or `SAMPLING_…`, `ROOTS_…`, and so on below) when the client did not declare the capability, or
   *   there is no session to carry its response
   * @throws errors of {@link PendingRequests.send}
   */
  async request<Result>(
    request: ClientRequest<Result>,
    options: ElicitOptions,
    link: RequestLink,
    event?: McpTraceEvent,
  ): Promise<Result> {
    const { method, params, what, requires } = request;
    if (!event && traces.isActive) {
      const sent = this.#createEvent('sent', method, params as Params);
      const send = (): Promise<Result> =>
        this.request({ ...request, params: withMeta(params as Params, sent.meta) }, options, link, sent);
      return traces.trace(sent, send);
    }
    const missing = missingCapabilities(requires, this.client.clientCapabilities);
    if (missing) {
      const reason = `\`serverless\` turns off the sessions in which a client of protocol version 2025-11-25 or older receives requests: the tool cannot request ${what}. Remove \`serverless\`, or call with a client of 2026-07-28.`;
      throw notSupported(request, this.isStateless ? reason : describeUndeclared(request, missing));
    }
    this.#sentRequests += 1;
    const id = requestIdOf(this.#sentRequests, this.instanceId);
    if (event) event.requestId = id;
    return (this.#pending ??= new PendingRequests()).send(id, request, options, link);
  }

  end(): void {
    this.#endTrace?.();
    this.inFlight.cancelAll();
    this.#pending?.end();
  }
}
