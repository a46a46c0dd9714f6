import type { AnyRequestContext } from '@quiver/core/tools';
import type { ClientCapabilities, SubscriptionFilter } from '../../protocol/client-types.js';
import { errorCodes, metaKeys, type LoggingLevel } from '../../protocol/constants.js';
import {
  isObject,
  parseMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Params,
  type RequestId,
} from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { ConnectionLostError, type Channel, type Receiver, type Sending } from '../transports/channel.js';
import { checkResult } from './check-result.js';
import { Deadlines, type Deadline } from './deadlines.js';
import { unknownServer, type ServerFacts } from './server-facts.js';

/** A progress notification. */
export interface ProgressUpdate {
  progressToken: string;
  progress: number;
  total?: number;
  message?: string;
}

export interface EngineRequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; 0 for no limit. Default 0. */
  readonly timeout?: number | undefined;
  /** Milliseconds that progress cannot extend. */
  readonly maxTotalTimeout?: number | undefined;
  /** Whether progress starts the timeout again. */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  readonly requestContext?: AnyRequestContext | undefined;
  /** Requests progress under this token. Later requests with a token in use get a number after it. */
  readonly progressToken?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** Headers of the request, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A request or notification of a server. */
export interface ServerMessage {
  readonly method: string;
  readonly params?: Params;
}

/** Application behind the client: responds to requests of the server and receives its notifications. */
export interface Application {
  /** @throws {@link ProtocolError} for a method without a handler */
  respond(method: string, params: Params, signal: AbortSignal): Promise<Params>;
  notify(notification: JsonRpcNotification): void;
}

export interface EngineOptions {
  readonly channel: Channel;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly capabilities: ClientCapabilities;
  readonly application: Application;
  /** Default 10. */
  readonly maxInputRounds?: number | undefined;
  /** Log level that modern requests declare. */
  readonly logLevel?: LoggingLevel | undefined;
  /** Receives every request and notification of the server: requests when they arrive, notifications after their handler. */
  readonly onMessage?: ((message: ServerMessage) => void) | undefined;
  readonly onError: (error: unknown) => void;
  readonly onSessionLost: () => void;
  /** The connection ended without {@link Engine.close}. */
  readonly onClosed: () => void;
}

/** A stream of change notifications. */
export interface Subscription {
  /** Part of the filter that the server agreed to. */
  readonly honored: SubscriptionFilter;
  /** Resolves when the stream ends, also by `close`. */
  readonly ended: Promise<void>;
  close(): void;
}

/** The time limit of a request expired. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
}

/** The server answered with `input_required` too often. */
export class InputRoundsError extends Error {
  override readonly name = 'InputRoundsError';
}

/** Methods that may require input, and whose requests declare a log level. */
const interactiveMethods: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
const defaultMaxInputRounds = 10;
/** Milliseconds before a request is repeated whose result requires no input, only its state back. */
const statePause = 250;

interface Waiting {
  readonly resolve: (result: Params) => void;
  readonly reject: (error: unknown) => void;
}

/** A request of the application: one message, or one per input round. */
interface Call {
  /** Id of the message without a response. */
  id: number | undefined;
  sending: Sending | undefined;
  /** Ends the handlers that provide input. */
  readonly input: { controller: AbortController | undefined };
}

/**
 * One negotiated connection to a server, over any channel, in both protocol eras. Matches responses to requests, limits their time,
 * reports progress, cancels, responds to the server, and provides the input that results require.
 */
export class Engine implements Receiver {
  /** Number of requests in progress. */
  active = 0;
  server: ServerFacts = unknownServer;
  readonly channel: Channel;
  readonly #options: EngineOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #deadlines = new Deadlines();
  #progress: Map<string, (update: ProgressUpdate) => void> | undefined;
  #responding: Map<RequestId, AbortController> | undefined;
  #acknowledgements: Map<RequestId, (honored: SubscriptionFilter) => void> | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.channel = options.channel;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isModern(): boolean {
    return this.server.era === 'modern';
  }

  /**
   * Sends a request, provides the input that its result requires, and resolves with the checked result.
   *
   * @throws {@link RequestTimeoutError}, {@link ConnectionLostError}, {@link InputRoundsError}, {@link ProtocolError} for errors of
   *   the server, `HttpError`, `TypeError` for results that violate the protocol; the reason of `signal`
   */
  async request(method: string, params: Params, options: EngineRequestOptions = {}): Promise<Params> {
    const { signal, timeout = 0, maxTotalTimeout: total } = options;
    signal?.throwIfAborted();
    const call: Call = { id: undefined, sending: undefined, input: { controller: undefined } };
    const onExpired = (): void => this.#end(call, new RequestTimeoutError('Request timed out'), 'Request timed out');
    const onAbort = (): void => this.#end(call, signal?.reason, String(signal?.reason));
    const deadline = this.#deadlines.start({ timeout, total, onExpired });
    signal?.addEventListener('abort', onAbort, { once: true });
    const token = options.progressToken === undefined ? undefined : this.#trackProgress(options, deadline);
    this.active += 1;
    try {
      const described = this.#describe(method, params, token);
      const result = await this.#exchange(call, method, described, options);
      const { era } = this.server;
      const isComplete = era === undefined || (era === 'legacy' && !('resultType' in result));
      const complete = isComplete ? result : await this.#complete(call, method, described, options, result);
      await checkResult(method, complete, this.isModern);
      return complete;
    } finally {
      this.active -= 1;
      this.#deadlines.stop(deadline);
      signal?.removeEventListener('abort', onAbort);
      if (token !== undefined) this.#progress?.delete(token);
    }
  }

  /** Sends a notification. */
  async notify(method: string, params?: Params): Promise<void> {
    const described = this.isModern ? this.#describe(method, params ?? {}) : params;
    await this.channel.send({ jsonrpc: '2.0', method, ...(described && { params: described }) }, {});
  }

  /**
   * Opens a stream of change notifications (modern era).
   *
   * @param timeout - milliseconds until the server must have acknowledged it
   * @throws as {@link request}
   */
  listen(filter: SubscriptionFilter, timeout: number): Promise<Subscription> {
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      const sending: Sending = {};
      let onEnded = (): void => {};
      const ended = new Promise<void>((settle) => {
        onEnded = settle;
      });
      const finish = (error?: unknown): void => {
        this.#waiting.delete(id);
        this.#acknowledgements?.delete(id);
        this.#deadlines.stop(deadline);
        reject((error as Error | undefined) ?? new ConnectionLostError('the server ended the subscription'));
        onEnded();
      };
      const close = (error?: unknown): void => {
        if (this.#waiting.has(id)) this.#cancel(id, sending, 'the subscription is no longer needed');
        finish(error);
      };
      const onExpired = (): void => close(new RequestTimeoutError('Request timed out'));
      const deadline = this.#deadlines.start({ timeout, onExpired });
      this.#waiting.set(id, { resolve: () => finish(), reject: finish });
      const acknowledgements = (this.#acknowledgements ??= new Map<RequestId, (honored: SubscriptionFilter) => void>());
      acknowledgements.set(id, (honored) => {
        this.#deadlines.stop(deadline);
        resolve({ honored, ended, close: () => close() });
      });
      const params = this.#describe('subscriptions/listen', { notifications: filter });
      this.#send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params }, sending);
    });
  }

  /** Ends the connection. Requests in progress fail. */
  async close(): Promise<void> {
    this.#finish(new ConnectionLostError('Connection closed'));
    await this.channel.close();
  }

  onMessage(value: unknown): void {
    try {
      this.#receive(value);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  onError(error: unknown): void {
    if (!this.#isClosed) this.#options.onError(error);
  }

  onSessionLost(): void {
    if (!this.#isClosed) this.#options.onSessionLost();
  }

  onClosed(error: unknown = new ConnectionLostError('Connection closed')): void {
    if (this.#isClosed) return;
    this.#finish(error);
    this.#options.onClosed();
  }

  #receive(value: unknown): void {
    const incoming = parseMessage(value);
    if (incoming?.kind === 'response') this.#settle(incoming.message);
    else if (incoming) {
      if (incoming.kind === 'request') void this.#respond(incoming.message);
      else this.#receiveNotification(incoming.message);
      this.#options.onMessage?.(incoming.message);
    } else {
      const error = new TypeError('The server sent a message that is not a JSON-RPC message.');
      const id = isObject(value) && !('method' in value) ? this.#idOf(value['id']) : undefined;
      if (id === undefined) this.#options.onError(error);
      else this.#take(id)?.reject(error);
    }
  }

  /** Some servers return a number as text. */
  #idOf(id: unknown): number | undefined {
    const number = typeof id === 'string' ? Number(id) : id;
    return this.#waiting.has(number as number) ? (number as number) : undefined;
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  /** Settles the request of a response. Drops late, unknown and repeated responses. */
  #settle({ id, result, error, httpStatus }: JsonRpcResponse & { httpStatus?: number }): void {
    const known = this.#idOf(id);
    const waiting = known === undefined ? undefined : this.#take(known);
    if (!waiting) return;
    if (result) return waiting.resolve(result);
    const { code, message, data } = error as Params;
    if (!Number.isInteger(code) || typeof message !== 'string')
      return waiting.reject(new TypeError('The server sent an error without a code or a message.'));
    waiting.reject(new ProtocolError(code as number, message, { data, ...(httpStatus && { httpStatus }) }));
  }

  #exchange(call: Call, method: string, params: Params, options: EngineRequestOptions): Promise<Params> {
    if (this.#isClosed) return Promise.reject(new ConnectionLostError('Not connected'));
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      const { headers, requestContext } = options;
      const sending: Sending = { headers, requestContext, cancel: undefined };
      call.id = id;
      call.sending = sending;
      this.#waiting.set(id, { resolve, reject });
      this.#send({ jsonrpc: '2.0', id, method, params }, sending);
    });
  }

  #send(request: JsonRpcRequest, sending: Sending): void {
    this.channel.send(request, sending).catch((error: unknown) => this.#take(request.id as number)?.reject(error));
  }

  /** Repeats a request with the input that its result requires, until it is complete. */
  async #complete(
    call: Call,
    method: string,
    params: Params,
    options: EngineRequestOptions,
    first: Params,
  ): Promise<Params> {
    const { maxInputRounds = defaultMaxInputRounds } = this.#options;
    let received = first;
    for (let round = 0; ; round += 1) {
      const { resultType, ...result } = received;
      // The member has no meaning in the legacy era.
      if (resultType === 'complete' || !this.isModern) return result;
      if (resultType !== 'input_required' || !interactiveMethods.has(method))
        throw new TypeError(`Invalid result for ${method}: resultType is ${JSON.stringify(resultType)}`);
      if (round === maxInputRounds)
        throw new InputRoundsError(`'${method}' still required input after ${maxInputRounds} rounds`);
      const { requestState } = result;
      const inputResponses = await this.#provideInput(call, result['inputRequests']);
      const input = { ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
      received = await this.#exchange(call, method, { ...params, ...input }, options);
    }
  }

  async #provideInput(call: Call, inputRequests: unknown): Promise<Params | undefined> {
    const entries = isObject(inputRequests) ? Object.entries(inputRequests) : [];
    const controller = new AbortController();
    const { signal } = controller;
    call.input.controller = controller;
    this.#deadlines.pause();
    try {
      const canceled = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
      const input = entries.map(async ([key, request]): Promise<[string, Params]> => {
        const { method, params = {} } = isObject(request) ? request : {};
        if (typeof method !== 'string' || !isObject(params))
          throw new TypeError(`Invalid input request '${key}': method and params are required`);
        const responding = this.#options.application.respond(method, params, signal);
        this.#options.onMessage?.({ method, params });
        return [key, await responding];
      });
      const pause = new Promise<void>(
        (resolve) => void (entries.length === 0 ? setTimeout(resolve, statePause) : resolve()),
      );
      const responses = await Promise.race([canceled, pause.then(() => Promise.all(input))]);
      return entries.length === 0 ? undefined : Object.fromEntries(responses);
    } catch (error) {
      controller.abort(error);
      throw error;
    } finally {
      call.input.controller = undefined;
      this.#deadlines.resume();
    }
  }

  /** Ends a call before its response, and tells the server. */
  #end(call: Call, error: unknown, reason: string): void {
    call.input.controller?.abort(error);
    const { id, sending } = call;
    const waiting = id === undefined ? undefined : this.#take(id);
    if (!waiting || id === undefined) return;
    waiting.reject(error);
    this.#cancel(id, sending ?? {}, reason);
  }

  #cancel(requestId: number, sending: Sending, reason: string): void {
    // In the modern era over HTTP the end of the exchange cancels the request. A handshake cannot be canceled.
    if (sending.cancel && (this.isModern || this.server === unknownServer)) return sending.cancel();
    this.notify('notifications/cancelled', { requestId, reason })
      .catch(() => {})
      .finally(() => sending.cancel?.());
  }

  #describe(method: string, params: Params, progressToken?: string): Params {
    const { clientInfo, capabilities, logLevel } = this.#options;
    const token = progressToken !== undefined && { progressToken };
    if (!this.isModern) return token ? { ...params, _meta: { ...(params['_meta'] as Params), ...token } } : params;
    const envelope = createEnvelope(this.server.protocolVersion, clientInfo, capabilities);
    const level = logLevel !== undefined && interactiveMethods.has(method) && { [metaKeys.logLevel]: logLevel };
    return { ...params, _meta: { ...envelope, ...level, ...(params['_meta'] as Params), ...token } };
  }

  #trackProgress(options: EngineRequestOptions, deadline: Deadline): string {
    const { progressToken = '', resetTimeoutOnProgress, onProgress } = options;
    const progress = (this.#progress ??= new Map<string, (update: ProgressUpdate) => void>());
    let token = progressToken;
    for (let number = 2; progress.has(token); number += 1) token = `${progressToken}#${number}`;
    progress.set(token, (update) => {
      if (resetTimeoutOnProgress) this.#deadlines.restart(deadline);
      onProgress?.(update);
    });
    return token;
  }

  #receiveNotification(notification: JsonRpcNotification): void {
    const { method, params = {} } = notification;
    if (method === 'notifications/cancelled') {
      this.#responding?.get(params['requestId'] as RequestId)?.abort(new Error(String(params['reason'] ?? 'canceled')));
    } else if (method === 'notifications/subscriptions/acknowledged') {
      const id = isObject(params['_meta']) ? params['_meta'][metaKeys.subscriptionId] : undefined;
      const honored = isObject(params['notifications']) ? params['notifications'] : {};
      this.#acknowledgements?.get(Number(id))?.(honored as SubscriptionFilter);
    } else {
      if (method === 'notifications/progress')
        this.#progress?.get(String(params['progressToken']))?.(toProgressUpdate(params));
      this.#options.application.notify(notification);
    }
  }

  async #respond({ id, method, params = {} }: JsonRpcRequest): Promise<void> {
    const controller = new AbortController();
    const responding = (this.#responding ??= new Map());
    responding.set(id, controller);
    this.#deadlines.pause();
    let outcome: Pick<JsonRpcResponse, 'result' | 'error'>;
    try {
      const { application } = this.#options;
      outcome = { result: method === 'ping' ? {} : await application.respond(method, params, controller.signal) };
    } catch (error) {
      outcome = { error: toErrorObject(error) };
    } finally {
      responding.delete(id);
      this.#deadlines.resume();
    }
    if (controller.signal.aborted || this.#isClosed) return;
    await this.channel.send({ jsonrpc: '2.0', id, ...outcome }, {}).catch((error: unknown) => this.onError(error));
  }

  #finish(error: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deadlines.clear();
    for (const controller of this.#responding?.values() ?? []) controller.abort(error);
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(error);
  }
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
  };
}
