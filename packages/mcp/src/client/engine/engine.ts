import { traceChannels, type McpTraceEvent } from '@quiver/core';
import type { SubscriptionFilter } from '../../protocol/types.js';
import { ActiveSet } from '../../active-set.js';
import { metaKeys } from '../../protocol/constants.js';
import {
  isObject,
  parseMessage,
  withMeta,
  type JsonRpcNotification,
  type JsonRpcResponse,
  type Params,
  type RequestId,
} from '../../protocol/json-rpc.js';
import { findMethod } from '../../protocol/methods.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ProgressUpdate } from '../config/handlers.js';
import { ConnectionLostError, type Channel, type Receiver } from '../transports/channel.js';
import {
  abortHandlers,
  createRequestEnvelope,
  RequestTimeoutError,
  type Call,
  type ClientDescription,
  type EngineRequestOptions,
} from './call.js';
import { checkResult } from './check-result.js';
import type { Application } from './respond-to-input.js';
import { RequestClocks } from './request-clocks.js';
import { Responder } from './responder.js';
import { createMessageEvent, traceSession, type ServerFacts } from './traced-connection.js';

export interface EngineOptions extends ClientDescription {
  readonly channel: Channel;
  /** Milliseconds of requests that set none; 0 for no limit. Default 0. */
  readonly timeout?: number | undefined;
  /** Whether progress starts the timeout of a request again that does not set it. Default `false`. */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  readonly application: Application;
  /** Default 10. */
  readonly maxInputRounds?: number | undefined;
  readonly onError: (error: unknown) => void;
  readonly onSessionLost: () => void;
  /** The connection ended without {@link Engine.close}. */
  readonly onClosed: () => void;
}

/** Milliseconds in which the result of a call that has ended may arrive. */
const lateResultTime = 2000;

const channel = traceChannels['quiver:mcp.client'];

/** One negotiated connection to a server, over any channel, in both protocol eras. */
export class Engine implements Receiver {
  isClosed = false;
  server: ServerFacts = {};
  readonly channel: Channel;
  readonly #options: EngineOptions;
  /** By the token of their progress, where they have one. */
  readonly #calls = new ActiveSet<Call>((call) => call.progressToken ?? call);
  /** Calls whose message has no response yet, by its id. */
  readonly #waiting = new ActiveSet<Call>(({ id }) => id);
  readonly #clocks = new RequestClocks();
  readonly #responder: Responder;
  #lastId = 0;
  #holds = 0;
  #isRetired = false;
  /** Ends the published session; further calls have no effect. */
  #endSession: ((error?: unknown) => void) | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.channel = options.channel;
    this.#responder = new Responder(this, options, this.#calls, this.#clocks);
  }

  get isModern(): boolean {
    return this.server.era === 'modern';
  }

  /** Whether an operation is in progress. */
  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Keeps a retired connection open until {@link release}. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#isRetired) this.retire();
  }

  /** Closes the connection as soon as no operation is in progress. */
  retire(): void {
    this.#isRetired = true;
    // Later: an operation may wait for the promise of this connection, and hold it next.
    setTimeout(() => {
      if (!this.isHeld && !this.isClosed) this.close().catch((error: unknown) => this.#options.onError(error));
    });
  }

  /**
   * Sends a request, provides the input that its result requires, and resolves with the checked result. Only results of the request's
   * extension have a `resultType`.
   *
   * @throws {@link RequestTimeoutError}, {@link ConnectionLostError}, {@link InputRoundsError}, {@link ProtocolError} for errors of
   *   the server, `HttpError`, `TypeError` for results that violate the protocol; `signal.reason`
   */
  request(method: string, params: Params, options: EngineRequestOptions = {}): Promise<Params> {
    if (!channel.isActive) return this.#request(method, params, options);
    const event = createMessageEvent(this, 'sent', method, params, options.toolCallId);
    return channel.trace(event, () => this.#request(method, withMeta(params, event.meta), options, event));
  }

  /** @param event - published event of this request */
  async #request(
    method: string,
    params: Params,
    options: EngineRequestOptions,
    event?: McpTraceEvent,
  ): Promise<Params> {
    const { signal, extension } = options;
    signal?.throwIfAborted();
    const call = this.#start(method, options);
    const onAbort = signal && (() => this.#end(call, signal.reason, String(signal.reason)));
    if (onAbort) signal.addEventListener('abort', onAbort, { once: true });
    try {
      const described = this.#describe(method, params, options, call.progressToken);
      let received = await this.#exchange(call, described);
      for (let round = 0; this.isModern && received['resultType'] !== 'complete'; round += 1) {
        if (extension?.accepts?.(received)) return received;
        if (received['resultType'] === 'input_required' && options.relay?.returnsInput) return received;
        const input = await this.#responder.provideInput(call, received, round);
        received = await this.#exchange(call, { ...described, ...input });
      }
      const result = 'resultType' in received ? withoutType(received) : received;
      const schema = findMethod(method)?.resultSchema;
      const checking = schema && checkResult(method, schema, result, this.isModern);
      if (checking) await checking;
      return result;
    } finally {
      if (event) {
        event.requestId = call.id;
        event.protocolVersion = this.server.protocolVersion;
      }
      this.#calls.delete(call);
      this.#waiting.delete(call);
      this.#clocks.stop(call.clock);
      if (onAbort) signal.removeEventListener('abort', onAbort);
    }
  }

  /** Sends a notification. */
  notify(method: string, params?: Params): Promise<void> {
    if (!channel.isActive) return this.#notify(method, params);
    const event = createMessageEvent(this, 'sent', method, params);
    return channel.trace(event, () => this.#notify(method, event.meta ? withMeta(params, event.meta) : params));
  }

  async #notify(method: string, params: Params | undefined): Promise<void> {
    const described = this.isModern ? this.#describe(method, params ?? {}, {}) : params;
    await this.channel.send({ jsonrpc: '2.0', method, ...(described && { params: described }) }, {});
  }

  /** Publishes the session, from now to its end. */
  traceSession(): void {
    if (channel.isActive && !this.isClosed) this.#endSession = traceSession(this);
  }

  /** Ends the connection. Requests in progress fail. */
  async close(): Promise<void> {
    this.#endSession?.();
    this.#finish(new ConnectionLostError('Connection closed'));
    await this.channel.close();
  }

  onMessage(value: unknown, requestId?: RequestId): void {
    try {
      this.#receive(value, requestId);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  onError(error: unknown): void {
    if (!this.isClosed) this.#options.onError(error);
  }

  onSessionLost(): void {
    if (!this.isClosed) this.#options.onSessionLost();
  }

  onClosed(error: unknown = new ConnectionLostError('Connection closed')): void {
    if (this.isClosed) return;
    this.#finish(error);
    this.#options.onClosed();
  }

  #receive(value: unknown, requestId: RequestId | undefined): void {
    const incoming = parseMessage(value);
    if (incoming?.kind === 'response') this.#settle(incoming.message);
    else if (incoming) {
      if (incoming.kind === 'request') void this.#responder.respond(incoming.message, this.#findCall(requestId));
      else this.#receiveNotification(incoming.message, requestId);
      this.#options.application.onMessage?.(incoming.message);
    } else {
      const error = new TypeError('The server sent a message that is not a JSON-RPC message.');
      const call = isObject(value) && !('method' in value) ? this.#take(value['id']) : undefined;
      if (call) call.reject(error);
      else this.#options.onError(error);
    }
  }

  /** Some servers return a number as text. */
  #callOf(id: unknown): Call | undefined {
    return this.#waiting.find(typeof id === 'string' ? Number(id) : id);
  }

  #take(id: unknown): Call | undefined {
    const call = this.#callOf(id);
    if (call) this.#waiting.delete(call);
    return call;
  }

  /** Settles the request of a response. Drops late, unknown and repeated responses. */
  #settle({ id, result, error, httpStatus }: JsonRpcResponse & { httpStatus?: number }): void {
    const call = this.#take(id);
    if (!call || result) return call?.resolve(result as Params);
    const { code, message, data } = error as Params;
    if (!Number.isInteger(code) || typeof message !== 'string')
      return call.reject(new TypeError('The server sent an error without a code or a message.'));
    call.reject(new ProtocolError(code as number, message, { data, ...(httpStatus && { httpStatus }) }));
  }

  #start(method: string, options: EngineRequestOptions): Call {
    const { timeout = this.#options.timeout ?? 0, maxTotalTimeout = Number.POSITIVE_INFINITY } = options;
    const { headers, requestContext, progressToken } = options;
    const call: Call = {
      method,
      options,
      progressToken: progressToken === undefined ? undefined : this.#unusedToken(progressToken),
      headers,
      requestContext,
      cancel: undefined,
      isCanceled: false,
      timeout,
      id: 0,
      resolve: ignore,
      reject: ignore,
      handling: undefined,
      undelivered: undefined,
      clock: this.#clocks.start(timeout, maxTotalTimeout, () =>
        this.#end(call, new RequestTimeoutError(timeout, call.undelivered), 'Request timed out'),
      ),
    };
    this.#calls.add(call);
    return call;
  }

  /** Sends one message of a call, and resolves with the result of its response. */
  #exchange(call: Call, params: Params): Promise<Params> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) throw new ConnectionLostError('Not connected');
      const id = (this.#lastId += 1);
      call.id = id;
      call.cancel = undefined;
      call.resolve = resolve;
      call.reject = reject;
      this.#waiting.add(call);
      const sent = this.channel.send({ jsonrpc: '2.0', id, method: call.method, params }, call);
      sent?.catch((error: unknown) => this.#take(id)?.reject(error));
    });
  }

  /** Ends a call before its response, and notifies the server. */
  #end(call: Call, error: unknown, reason: string): void {
    abortHandlers(call, error);
    if (!this.#take(call.id)) return;
    call.reject(error);
    if (!this.isModern && findMethod(call.method)?.isInteractive) this.#responder.abandon(call);
    const { extension, requestContext } = call.options;
    const { extensions } = this.server.capabilities ?? {};
    const mayCome = this.isModern && extension && isObject(extensions) && extension.name in extensions;
    if (mayCome && extension.onLateResult) extension.onLateResult(this.#awaitLateResult(call, reason), requestContext);
    else this.#cancel(call, reason);
  }

  /** Resolves with the result of a late response; with `undefined` if none arrives, and the request is canceled. */
  #awaitLateResult(call: Call, reason: string): Promise<Params | undefined> {
    const { id } = call;
    this.hold();
    return new Promise<Params | undefined>((resolve) => {
      const timer = setTimeout(() => {
        this.#take(id);
        this.#cancel(call, reason);
        resolve(undefined);
      }, lateResultTime);
      const settle = (received?: Params): void => {
        clearTimeout(timer);
        resolve(received);
      };
      this.#waiting.add({ ...call, resolve: settle, reject: () => settle() });
    }).finally(() => this.release());
  }

  #cancel(call: Call, reason: string): void {
    // In the modern era over HTTP the end of the HTTP request cancels the message. A handshake cannot be canceled.
    if (call.cancel && this.server.era !== 'legacy') return call.cancel();
    this.notify('notifications/cancelled', { requestId: call.id, reason })
      .catch(() => {})
      .finally(() => call.cancel?.());
  }

  #describe(method: string, params: Params, options: EngineRequestOptions, progressToken?: string): Params {
    const token = progressToken !== undefined && { progressToken };
    if (!this.isModern && !token) return params;
    const { protocolVersion } = this.server;
    const envelope = this.isModern && createRequestEnvelope(this.#options, protocolVersion, method, options);
    return { ...params, _meta: { ...envelope, ...(params['_meta'] as Params), ...token } };
  }

  #unusedToken(wanted: string): string {
    let token = wanted;
    for (let number = 2; this.#calls.find(token); number += 1) token = `${wanted}#${number}`;
    return token;
  }

  #receiveProgress(update: ProgressUpdate): void {
    const call = this.#calls.find(update.progressToken);
    if (!call) return;
    const { resetTimeoutOnProgress = this.#options.resetTimeoutOnProgress, onProgress } = call.options;
    if (resetTimeoutOnProgress && call.timeout > 0) this.#clocks.extend(call.clock, call.timeout);
    onProgress?.(update);
  }

  #receiveNotification(notification: JsonRpcNotification, requestId: RequestId | undefined): void {
    const { method, params = {} } = notification;
    if (method === 'notifications/cancelled') {
      this.#responder.cancel(params['requestId'] as RequestId, params['reason']);
    } else if (method === 'notifications/subscriptions/acknowledged') {
      const id = isObject(params['_meta']) ? params['_meta'][metaKeys.subscriptionId] : undefined;
      const honored = isObject(params['notifications']) ? params['notifications'] : {};
      const call = this.#callOf(id);
      if (!call?.options.onAcknowledged) return;
      call.clock.expiresAt = Number.POSITIVE_INFINITY;
      call.options.onAcknowledged(honored as SubscriptionFilter);
    } else {
      if (method === 'notifications/progress') this.#receiveProgress(toProgressUpdate(params));
      else this.#findCall(requestId)?.options.relay?.notify(notification);
      this.#options.application.notify(notification);
    }
  }

  /** Returns the call that a request of the server belongs to: the one on whose stream it arrived. */
  #findCall(requestId: RequestId | undefined): Call | undefined {
    return requestId === undefined ? this.#responder.findCall() : this.#callOf(requestId);
  }

  #finish(error: unknown): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#endSession?.(error);
    this.#clocks.close();
    this.#responder.close(error);
    for (const call of [...this.#calls, ...this.#waiting]) call.reject(error);
    for (const call of this.#waiting) this.#waiting.delete(call);
  }
}

function withoutType(received: Params): Params {
  const { resultType, ...result } = received;
  return resultType === undefined ? received : result;
}

const ignore = (): void => {};

/** Parses the parameters of a progress notification. */
export function toProgressUpdate({ progressToken, progress, total, message }: Params): ProgressUpdate {
  return {
    progressToken: String(progressToken),
    progress: progress as number,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}
