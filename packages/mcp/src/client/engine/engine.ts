import { isQuiverError, traceChannels, type McpTraceEvent } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { ClientCapabilities, ServerCapabilities, SubscriptionFilter } from '../../protocol/types.js';
import { errorCodes, metaKeys, TASKS_EXTENSION, type Era, type LoggingLevel } from '../../protocol/constants.js';
import {
  isObject,
  parseMessage,
  withMeta,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Params,
  type RequestId,
} from '../../protocol/json-rpc.js';
import { describeMethod, findMethod } from '../../protocol/methods.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { declareHandlers, type ProgressUpdate, type RequestHandlers } from '../config/handlers.js';
import { ConnectionLostError, type Channel, type Receiver, type Sending } from '../transports/channel.js';
import { AbandonedCalls } from './abandoned-calls.js';
import { checkResult, requireCreatedTask } from './check-result.js';
import { provideInput, type Application } from './provide-input.js';
import { RequestClocks, type RequestClock } from './request-clocks.js';

/** Description of a server from its handshake. Empty before, and without more than its era after a session was resumed. */
export interface ServerFacts {
  readonly era?: Era;
  readonly protocolVersion?: string;
  readonly capabilities?: ServerCapabilities;
  readonly info?: { readonly name: string; readonly version: string; readonly title?: string | undefined } | undefined;
  readonly instructions?: string | undefined;
}

/** Options of a request. Each layer passes on the same object. */
export interface EngineRequestOptions extends RequestHandlers {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; 0 for no limit. Default: that of the connection. */
  readonly timeout?: number | undefined;
  /** Milliseconds that progress cannot extend. */
  readonly maxTotalTimeout?: number | undefined;
  /** Whether progress starts the timeout again. Default: the setting of the connection. */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Number of times that the server's client repeats the request after the connection was lost. Default 0. */
  readonly retries?: number | undefined;
  readonly requestContext?: AnyRequestContext | undefined;
  /** Requests progress under this token. Later requests with a token in use get a number after it. */
  readonly progressToken?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** Headers of the request, by lower-case name. */
  readonly headers?: Sending['headers'];
  /**
   * Receives the filter of a subscription that the server has acknowledged, which ends the time limit of its request. A
   * subscription does not count as a request in progress.
   */
  readonly onAcknowledged?: ((honored: SubscriptionFilter) => void) | undefined;
  /** Id of the tool call that sends the request, for its trace. */
  readonly toolCallId?: string | undefined;
}

export interface EngineOptions {
  readonly channel: Channel;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Capabilities that every modern request declares. */
  readonly capabilities: ClientCapabilities;
  /** Milliseconds of requests that set none; 0 for no limit. Default 0. */
  readonly timeout?: number | undefined;
  /** Whether progress starts the timeout of a request again that does not set it. Default `false`. */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Whether a modern server may run tool calls as tasks. Default `false`. */
  readonly tasks?: boolean | undefined;
  readonly application: Application;
  /** Default 10. */
  readonly maxInputRounds?: number | undefined;
  /** Log level that modern requests declare. */
  readonly logLevel?: LoggingLevel | undefined;
  readonly onError: (error: unknown) => void;
  readonly onSessionLost: () => void;
  /**
   * A call ended before its response, which may be on its way and name a task that only its id ends.
   *
   * @param taskId - `undefined` when there is no task; the request has been canceled if it had no response
   */
  readonly onAbandoned?:
    | ((taskId: Promise<string | undefined>, requestContext?: AnyRequestContext) => void)
    | undefined;
  /** The connection ended without {@link Engine.close}. */
  readonly onClosed: () => void;
}

/** The time limit of a request expired. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
  /** Milliseconds. */
  readonly timeout: number;

  constructor(timeout: number) {
    super('Request timed out');
    this.timeout = timeout;
  }
}

/** Milliseconds in which the response of an abandoned call may arrive. */
const lateResponseTime = 2000;

const channel = traceChannels['quiver:mcp.client'];

/** A request of the application: one message, or one per input round. */
interface Call extends Sending {
  readonly method: string;
  readonly options: EngineRequestOptions;
  readonly timeout: number;
  /** The last message. */
  id: number;
  resolve: (result: Params) => void;
  reject: (error: unknown) => void;
  /** Ends the handlers of the application that respond to the server for it. */
  handling: Set<AbortController> | undefined;
  readonly clock: RequestClock;
}

/**
 * One negotiated connection to a server, over any channel, in both protocol eras. Matches responses to requests, limits their time,
 * reports progress, cancels, responds to the server, and provides the input that results require.
 */
export class Engine implements Receiver {
  isClosed = false;
  /** Number of requests in progress. */
  active = 0;
  server: ServerFacts = {};
  readonly channel: Channel;
  readonly #options: EngineOptions;
  /** Capabilities with the tasks extension. */
  readonly #taskCapabilities: ClientCapabilities | undefined;
  readonly #calls = new Set<Call>();
  /** Calls whose message has no response yet, by its id. */
  readonly #waiting = new Map<number, Call>();
  #progress: Map<string, Call> | undefined;
  #responding: Map<RequestId, AbortController> | undefined;
  readonly #clocks = new RequestClocks();
  readonly #abandoned = new AbandonedCalls();
  #lastId = 0;
  /** Ends the published session; further calls have no effect. */
  #endSession: ((error?: unknown) => void) | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.channel = options.channel;
    const { capabilities, tasks } = options;
    if (tasks)
      this.#taskCapabilities = {
        ...capabilities,
        extensions: { ...capabilities.extensions, [TASKS_EXTENSION]: {} },
      };
  }

  get isModern(): boolean {
    return this.server.era === 'modern';
  }

  /**
   * Sends a request, provides the input that its result requires, and resolves with the checked result. A tool call that the server
   * runs as a task resolves with the task, whose `resultType` is `task`; other results have no `resultType`.
   *
   * @throws {@link RequestTimeoutError}, {@link ConnectionLostError}, {@link InputRoundsError}, {@link ProtocolError} for errors of
   *   the server, `HttpError`, `TypeError` for results that violate the protocol; `signal.reason`
   * @param event - published event of this request
   */
  async request(
    method: string,
    params: Params,
    options: EngineRequestOptions = {},
    event?: McpTraceEvent,
  ): Promise<Params> {
    if (!event && channel.isActive) {
      const sent = this.#createEvent('sent', method, params, options.toolCallId);
      return channel.trace(sent, () => this.request(method, withMeta(params, sent.meta), options, sent));
    }
    const { signal, progressToken, onAcknowledged } = options;
    signal?.throwIfAborted();
    const call = this.#start(method, options);
    const onAbort = signal && (() => this.#end(call, signal.reason, String(signal.reason)));
    if (onAbort) signal.addEventListener('abort', onAbort, { once: true });
    const token = progressToken === undefined ? undefined : this.#trackProgress(call, progressToken);
    const weight = onAcknowledged ? 0 : 1;
    this.active += weight;
    try {
      const described = this.#describe(method, params, options, token);
      let received = await this.#exchange(call, described);
      for (let round = 0; this.isModern && received['resultType'] !== 'complete'; round += 1) {
        if (received['resultType'] === 'task' && method === 'tools/call' && this.#taskCapabilities)
          return requireCreatedTask(received);
        received = await this.#exchange(call, { ...described, ...(await this.#provideInput(call, received, round)) });
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
      this.active -= weight;
      this.#calls.delete(call);
      if (this.#waiting.get(call.id) === call) this.#waiting.delete(call.id);
      this.#clocks.stop(call.clock);
      if (onAbort) signal.removeEventListener('abort', onAbort);
      if (token !== undefined) this.#progress?.delete(token);
    }
  }

  /** Sends a notification. */
  async notify(method: string, params?: Params, isTraced: boolean = channel.isActive): Promise<void> {
    if (isTraced) {
      const event = this.#createEvent('sent', method, params);
      return channel.trace(event, () => this.notify(method, event.meta ? withMeta(params, event.meta) : params, false));
    }
    const described = this.isModern ? this.#describe(method, params ?? {}, {}) : params;
    await this.channel.send({ jsonrpc: '2.0', method, ...(described && { params: described }) }, {});
  }

  /** Publishes the session, from now to its end. */
  traceSession(): void {
    if (!channel.isActive || this.isClosed) return;
    const end = new Promise<void>((resolve, reject) => {
      this.#endSession = (error) => (error === undefined ? resolve() : reject(error as Error));
    });
    channel.trace({ type: 'mcp.session', side: 'client', ...this.#describeLink() }, () => end).catch(() => {});
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
      if (incoming.kind === 'request') void this.#respond(incoming.message, this.#findCall(requestId));
      else this.#receiveNotification(incoming.message);
      this.#options.application.onMessage?.(incoming.message);
    } else {
      const error = new TypeError('The server sent a message that is not a JSON-RPC message.');
      const call = isObject(value) && !('method' in value) ? this.#take(this.#idOf(value['id'])) : undefined;
      if (call) call.reject(error);
      else this.#options.onError(error);
    }
  }

  /** Some servers return a number as text. */
  #idOf(id: unknown): number | undefined {
    const number = typeof id === 'string' ? Number(id) : id;
    return this.#waiting.has(number as number) ? (number as number) : undefined;
  }

  #take(id: number | undefined): Call | undefined {
    const call = this.#waiting.get(id as number);
    this.#waiting.delete(id as number);
    return call;
  }

  /** Settles the request of a response. Drops late, unknown and repeated responses. */
  #settle({ id, result, error, httpStatus }: JsonRpcResponse & { httpStatus?: number }): void {
    const call = this.#take(this.#idOf(id));
    if (!call || result) return call?.resolve(result as Params);
    const { code, message, data } = error as Params;
    if (!Number.isInteger(code) || typeof message !== 'string')
      return call.reject(new TypeError('The server sent an error without a code or a message.'));
    call.reject(new ProtocolError(code as number, message, { data, ...(httpStatus && { httpStatus }) }));
  }

  #start(method: string, options: EngineRequestOptions): Call {
    const { timeout = this.#options.timeout ?? 0, maxTotalTimeout = Number.POSITIVE_INFINITY } = options;
    const { headers, requestContext } = options;
    const call: Call = {
      method,
      options,
      headers,
      requestContext,
      cancel: undefined,
      isCanceled: false,
      timeout,
      id: 0,
      resolve() {},
      reject() {},
      handling: undefined,
      clock: this.#clocks.start(timeout, maxTotalTimeout, () =>
        this.#end(call, new RequestTimeoutError(timeout), 'Request timed out'),
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
      this.#waiting.set(id, call);
      const sent = this.channel.send({ jsonrpc: '2.0', id, method: call.method, params }, call);
      sent?.catch((error: unknown) => this.#take(id)?.reject(error));
    });
  }

  /** Returns the parameters with which a request is repeated whose result is not complete. Its clock stops meanwhile. */
  async #provideInput(call: Call, result: Params, round: number): Promise<Params> {
    const { application, maxInputRounds } = this.#options;
    const controller = new AbortController();
    const required = { method: call.method, result, round, maxInputRounds, handlers: call.options };
    this.#pause(call, controller);
    try {
      return await provideInput(application, required, controller.signal);
    } catch (error) {
      controller.abort(error);
      throw error;
    } finally {
      this.#resume(call, controller);
    }
  }

  /** Stops the clock of a call while a handler responds to the server for it; of all calls without one. */
  #pause(call: Call | undefined, handler: AbortController): void {
    if (call) (call.handling ??= new Set()).add(handler);
    this.#clocks.pause(call?.clock);
  }

  #resume(call: Call | undefined, handler: AbortController): void {
    call?.handling?.delete(handler);
    this.#clocks.resume(call?.clock);
  }

  /** Ends a call before its response, and notifies the server. */
  #end(call: Call, error: unknown, reason: string): void {
    abortHandlers(call, error);
    if (!this.#take(call.id)) return;
    call.reject(error);
    if (!this.isModern && findMethod(call.method)?.isInteractive) this.#abandoned.add(call.options);
    const { onAbandoned } = this.#options;
    if (onAbandoned && call.method === 'tools/call' && this.#createsTasks)
      onAbandoned(this.#awaitLateTask(call, reason), call.options.requestContext);
    else this.#cancel(call, reason);
  }

  /** Whether the client declares the tasks extension, and the server has it. */
  get #createsTasks(): boolean {
    const { extensions } = this.server.capabilities ?? {};
    const hasTasks = isObject(extensions) && TASKS_EXTENSION in extensions;
    return hasTasks && this.isModern && this.#taskCapabilities !== undefined;
  }

  /** Resolves with the id of the task that a late response names. Cancels the request if no response arrives. */
  #awaitLateTask(call: Call, reason: string): Promise<string | undefined> {
    const { id } = call;
    this.active += 1;
    return new Promise<Params>((resolve) => {
      const timer = setTimeout(() => {
        this.#take(id);
        this.#cancel(call, reason);
        resolve({});
      }, lateResponseTime);
      const settle = (received: Params): void => {
        clearTimeout(timer);
        resolve(received);
      };
      this.#waiting.set(id, { ...call, resolve: settle, reject: () => settle({}) });
    }).then((received) => {
      this.active -= 1;
      return received['resultType'] === 'task' ? requireCreatedTask(received).taskId : undefined;
    });
  }

  #cancel(call: Call, reason: string): void {
    // In the modern era over HTTP the end of the HTTP request cancels the message. A handshake cannot be canceled.
    if (call.cancel && this.server.era !== 'legacy') return call.cancel();
    this.notify('notifications/cancelled', { requestId: call.id, reason })
      .catch(() => {})
      .finally(() => call.cancel?.());
  }

  #createEvent(
    direction: McpTraceEvent['direction'],
    method: string,
    params: Params | undefined,
    toolCallId?: string,
  ): McpTraceEvent {
    const { sessionId } = this.channel;
    const origin = { sessionId, toolCallId, ...this.#describeLink() };
    return { type: 'mcp', side: 'client', direction, method, params, ...describeMethod(method, params), ...origin };
  }

  #describeLink(): Pick<McpTraceEvent, 'protocolVersion' | 'transport' | 'serverAddress' | 'serverPort'> {
    const { kind: transport, url } = this.channel;
    const { protocolVersion } = this.server;
    if (!url || transport === 'in-process') return { protocolVersion, transport };
    const serverPort = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    return { protocolVersion, transport, serverAddress: url.hostname, serverPort };
  }

  #describe(method: string, params: Params, handlers: RequestHandlers, progressToken?: string): Params {
    const { clientInfo, capabilities, logLevel } = this.#options;
    const token = progressToken !== undefined && { progressToken };
    if (!this.isModern) return token ? { ...params, _meta: { ...(params['_meta'] as Params), ...token } } : params;
    const facts = findMethod(method);
    const always = (facts?.declaresTasks && this.#taskCapabilities) || capabilities;
    const { onElicitation, onSampling } = handlers;
    const declared =
      onElicitation || onSampling ? { ...declareHandlers(onElicitation, onSampling), ...always } : always;
    const envelope = createEnvelope(this.server.protocolVersion, clientInfo, declared);
    const level = logLevel !== undefined && facts?.isInteractive && { [metaKeys.logLevel]: logLevel };
    return { ...params, _meta: { ...envelope, ...level, ...(params['_meta'] as Params), ...token } };
  }

  #trackProgress(call: Call, wanted: string): string {
    const progress = (this.#progress ??= new Map<string, Call>());
    let token = wanted;
    for (let number = 2; progress.has(token); number += 1) token = `${wanted}#${number}`;
    progress.set(token, call);
    return token;
  }

  #receiveProgress(update: ProgressUpdate): void {
    const call = this.#progress?.get(update.progressToken);
    if (!call) return;
    const { resetTimeoutOnProgress = this.#options.resetTimeoutOnProgress, onProgress } = call.options;
    if (resetTimeoutOnProgress && call.timeout > 0) this.#clocks.extend(call.clock, call.timeout);
    onProgress?.(update);
  }

  #receiveNotification(notification: JsonRpcNotification): void {
    const { method, params = {} } = notification;
    if (method === 'notifications/cancelled') {
      this.#responding?.get(params['requestId'] as RequestId)?.abort(new Error(String(params['reason'] ?? 'canceled')));
    } else if (method === 'notifications/subscriptions/acknowledged') {
      const id = isObject(params['_meta']) ? params['_meta'][metaKeys.subscriptionId] : undefined;
      const honored = isObject(params['notifications']) ? params['notifications'] : {};
      const call = this.#waiting.get(Number(id));
      if (!call?.options.onAcknowledged) return;
      call.clock.expiresAt = Number.POSITIVE_INFINITY;
      call.options.onAcknowledged(honored as SubscriptionFilter);
    } else {
      if (method === 'notifications/progress') this.#receiveProgress(toProgressUpdate(params));
      this.#options.application.notify(notification);
    }
  }

  /**
   * Returns the request that a request of the server belongs to: the one on whose stream it arrived. Other transports do not tell; there,
   * it is the only one in progress that may require input, unless the tool of another caller's abandoned call may still ask.
   */
  #findCall(requestId: RequestId | undefined): Call | undefined {
    if (requestId !== undefined) return this.#waiting.get(requestId as number);
    const [call, ...others] = [...this.#calls].filter(({ method }) => findMethod(method)?.isInteractive);
    const isCertain = others.length === 0 && !this.#abandoned.mayBelongToOther(call?.options ?? {});
    return isCertain ? call : undefined;
  }

  /** Says why a request of the server was not passed to the handlers of a call. */
  #explainUnassigned(error: unknown): unknown {
    if (!(error instanceof ProtocolError) || error.code !== errorCodes.methodNotFound) return error;
    if (![...this.#calls].some(({ options }) => options.onElicitation ?? options.onSampling)) return error;
    const reason =
      'Several calls are in progress or were canceled, and the transport does not tell which of them the request belongs to.';
    return new ProtocolError(error.code, `${error.message}. ${reason}`);
  }

  /** @param call - the request that it belongs to, if that is known */
  async #respond({ id, method, params = {} }: JsonRpcRequest, call: Call | undefined): Promise<void> {
    const controller = new AbortController();
    const responding = (this.#responding ??= new Map());
    responding.set(id, controller);
    this.#pause(call, controller);
    let outcome: Pick<JsonRpcResponse, 'result' | 'error'>;
    try {
      const { application } = this.#options;
      const { signal } = controller;
      const respond = async (): Promise<Params> =>
        method === 'ping' ? {} : application.respond(method, params, signal, call?.options);
      const event = channel.isActive && { ...this.#createEvent('received', method, params), requestId: id };
      outcome = { result: await (event ? channel.trace(event, respond) : respond()) };
    } catch (error) {
      outcome = { error: toErrorObject(call ? error : this.#explainUnassigned(error)) };
    } finally {
      responding.delete(id);
      this.#resume(call, controller);
    }
    if (controller.signal.aborted || this.isClosed) return;
    try {
      await this.channel.send({ jsonrpc: '2.0', id, ...outcome }, {});
    } catch (error) {
      this.onError(error);
    }
  }

  #finish(error: unknown): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#endSession?.(error);
    this.#clocks.close();
    for (const controller of this.#responding?.values() ?? []) controller.abort(error);
    for (const call of this.#calls) abortHandlers(call, error);
    for (const call of [...this.#calls, ...this.#waiting.values()]) call.reject(error);
    this.#waiting.clear();
  }
}

function abortHandlers({ handling }: Call, error: unknown): void {
  for (const handler of handling ?? []) handler.abort(error);
}

function withoutType(received: Params): Params {
  const { resultType, ...result } = received;
  return resultType === undefined ? received : result;
}

/** `_meta` of a modern request, which describes the client. */
export function createEnvelope(
  protocolVersion: string | undefined,
  clientInfo: EngineOptions['clientInfo'],
  capabilities: ClientCapabilities,
): Params {
  return {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: capabilities,
  };
}

/** Parses the parameters of a progress notification. */
export function toProgressUpdate({ progressToken, progress, total, message }: Params): ProgressUpdate {
  return {
    progressToken: String(progressToken),
    progress: progress as number,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}

function toErrorObject(error: unknown): { code: number; message: string; data?: unknown } {
  const { code, message, data } = error as Partial<ProtocolError>;
  return {
    code: Number.isSafeInteger(code) ? (code as number) : errorCodes.internal,
    message: message ?? 'Internal error',
    ...(data !== undefined && { data }),
    ...(isQuiverError(error) && { data: { code: error.code } }),
  };
}
