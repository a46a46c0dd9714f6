import type { McpTraceEvent } from '@quiver/core';
import { RequestContext } from '@quiver/core/request-context';
import type { AnyRequestContext, ElicitOptions } from '@quiver/core/tools';
import type { Result } from '../content.js';
import type { Era } from '../protocol/constants.js';
import { errorText, isObject, type JsonRpcRequest, type Params, type RequestId } from '../protocol/json-rpc.js';
import { requireParamHeaders, type ParamHeader } from '../protocol/param-headers.js';
import { methodNotFound, type ProtocolError } from '../protocol/protocol-error.js';
import { requestEntriesOf } from '../request-entries.js';
import type { ResolvedCall } from './call-extension.js';
import type { Continuation, ProgressUpdate } from './continued-run.js';
import type { Caller } from './caller.js';
import type { ClientRequest } from './client/client-requests.js';
import { createMessageEvent, traces } from './client/message-event.js';
import type { ClientDeclarations, LegacySession, Work } from './client/legacy-session.js';
import { HookContext } from './middleware/hook-context.js';
import type { HookName } from './middleware/middleware.js';
import { runRequestHooks, runResultHooks } from './middleware/run-middleware.js';
import type { CallbackContext } from './definition/server-config.js';
import type { ServerState } from './definition/server-state.js';
import type { ResponseChannel } from './response-channel.js';
import type { ProvidedTools } from './tools/tool-registry.js';
import { ToolContext } from './tools/tool-context.js';

export interface Handler {
  readonly answer: (request: ServerRequest) => Promise<Result>;
  /** Hook of middleware around the method. `onCallTool` is not here: it runs around the tool itself. */
  readonly hook?: Exclude<HookName, 'onRequest' | 'onCallTool'>;
  /** Returns what decides whether the run of a request continues after its response; `undefined` for one that does not. */
  readonly continuation?: (request: ServerRequest) => Continuation | undefined;
}

const noOutput = Symbol('no output');

/**
 * One request on its way through the server: the transport creates it, and the era answers it. Each era has its subclass. Tools and callbacks
 * receive its {@link ToolContext}, hooks its {@link HookContext}.
 */
export abstract class ServerRequest implements Work {
  abstract readonly era: Era;
  readonly requestId: RequestId;
  /** Output of the tool that its schema accepted: a schema that transforms values may not accept it twice. */
  checkedOutput: unknown = noOutput;
  readonly caller: Caller;
  /** Call that the request stands for, where a feature has found it in another one. */
  readonly resolved: ResolvedCall | undefined;
  readonly server: ServerState;
  /** Session of a legacy client. */
  readonly session: LegacySession | undefined;
  readonly #message: JsonRpcRequest;
  readonly #channel: ResponseChannel;
  #callId: string | undefined;
  #controller: AbortController | undefined;
  /** Reject the promises of {@link ServerRequest.untilAborted}. */
  #waiting: ((reason: Error) => void)[] | undefined;
  #requestContext: AnyRequestContext | undefined;
  #toolContext: ToolContext | undefined;
  #hookContext: HookContext | undefined;
  /** Tools that providers found for the request. */
  providedTools: readonly ProvidedTools[] = [];
  #state: 'open' | 'canceled' | 'settled' = 'open';
  #arguments: Record<string, unknown> | undefined;
  /** Reason of {@link ServerRequest.abort}. */
  #abortReason: Error | undefined;
  /** Whether a message was sent before the response. */
  sentMessage = false;
  /** Whether the client received a request, so that the result may depend on the user. */
  sentRequest = false;
  #release: (() => void) | undefined;

  constructor(
    server: ServerState,
    message: JsonRpcRequest,
    caller: Caller,
    channel: ResponseChannel,
    session?: LegacySession,
  ) {
    this.requestId = message.id;
    this.server = server;
    this.session = session;
    this.#message = message;
    this.resolved = resolveCall(server, message);
    this.caller = caller;
    this.#channel = channel;
  }

  abstract get client(): ClientDeclarations;
  /** Sends a request to the client and returns its checked result. */
  protected abstract sendToClient<Value>(request: ClientRequest<Value>, options: ElicitOptions): Promise<Value>;
  /** @throws ProtocolError for every failure that becomes a JSON-RPC error */
  protected abstract answer(): Promise<Result>;
  /** Returns the members that the era adds to a result. */
  protected abstract membersFor(result: Result): object;

  get method(): string {
    return this.#message.method;
  }

  /** Parameters as the client sent them. */
  get params(): Params | undefined {
    return this.#message.params;
  }

  /** Parameters of the call that the request stands for. */
  get callParams(): Params | undefined {
    const { params, resolved } = this;
    return resolved ? { ...params, name: resolved.name, arguments: resolved.arguments } : params;
  }

  /** Name of the tool or prompt, or URI of the resource. */
  get name(): string | undefined {
    const name = this.resolved?.name ?? this.params?.['name'] ?? this.params?.['uri'];
    return typeof name === 'string' ? name : undefined;
  }

  /** Arguments of the request. Middleware may replace them, while `params` stay as the client sent them. */
  get arguments(): Record<string, unknown> | undefined {
    const { resolved, params } = this;
    // The cast: invalid arguments of a client are refused by the method.
    return this.#arguments ?? resolved?.arguments ?? (params?.['arguments'] as Record<string, unknown> | undefined);
  }

  set arguments(value: Record<string, unknown> | undefined) {
    this.#arguments = value ?? {};
  }

  /**
   * Refuses a tool call whose arguments and headers differ. Only over Streamable HTTP do clients of the modern era repeat arguments, those of the
   * tool that they name.
   *
   * @throws ProtocolError -32020
   */
  requireParamHeaders(declared: readonly ParamHeader[]): void {
    const { header } = this.#channel;
    if (declared.length > 0 && header && !this.resolved && this.era === 'modern')
      requireParamHeaders(declared, this.params?.['arguments'], (name) => header.call(this.#channel, name));
  }

  /** Request context that the tool receives: the entries of the caller, and the request as `mcp.extra`. Created on first use. */
  get requestContext(): AnyRequestContext {
    return (this.#requestContext ??= new RequestContext(requestEntriesOf(this.caller.authInfo)).set(
      'mcp.extra',
      this.toolContext,
    ));
  }

  /** State that {@link ServerRequest.endRound} kept in the round before. */
  get kept(): unknown {
    return undefined;
  }

  /** Whether the run may continue after the response, when its tool decides that. */
  get mayContinue(): boolean {
    return false;
  }

  /**
   * Ends the round with requests to the client that another program made. The run never continues: the client sends the request again, with
   * the responses. Only requests of the modern era have rounds.
   *
   * @param _kept - travels through the client, signed
   */
  endRound(_inputRequests: unknown, _kept: unknown): Promise<never> {
    return Promise.reject(methodNotFound(`${this.method} cannot require input`));
  }

  /** Lets the run continue after the response, if there is room. Only in the modern era. */
  continueNow(): void {}

  /** Id of the call: random, and in the modern era the same in all its rounds. Created on first use. */
  get callId(): string {
    return (this.#callId ??= crypto.randomUUID());
  }

  /**
   * Runs the request, among those in flight of its session.
   *
   * @param event - published event of this request
   * @returns the result; `undefined` when the client canceled the request, which then receives no response
   */
  async run(session?: LegacySession, event?: McpTraceEvent): Promise<string | Uint8Array | undefined> {
    if (!event && traces.isActive) {
      // Runs within the trace, so that what the tool does belongs to its span.
      const received = this.#createEvent();
      return traces.trace(received, () => this.run(session, received));
    }
    session?.inFlight.add(this.requestId, this);
    try {
      const hasHooks = this.server.middleware.onRequest.length > 0;
      const result = await (hasHooks ? runRequestHooks(this.server, this, () => this.#prepared()) : this.#prepared());
      if (event) {
        event.isToolError = result.isError;
        event.protocolVersion = this.client.protocolVersion;
      }
      if (this.#state === 'canceled') return undefined;
      return result.toBody(this.membersFor(result));
    } catch (error) {
      if (this.#state === 'canceled') return undefined;
      throw error;
    } finally {
      if (event) event.isCanceled = this.#state === 'canceled';
      // No message may follow the response.
      if (this.#state === 'open') this.#state = 'settled';
      session?.inFlight.delete(this.requestId);
    }
  }

  /** Answers once the tools of providers are known: hooks before may decide which those are. */
  #prepared(): Promise<Result> {
    const finding = this.server.providers.flatMap((provider) => provider.find?.(this) ?? []);
    // Without providers of tools nothing is awaited: a handshake takes effect before the next message.
    if (finding.length === 0) return this.answer();
    return Promise.all(finding).then((found) => {
      this.providedTools = found.flat();
      return this.answer();
    });
  }

  /** Runs a method of the server, with the hooks around it. */
  protected runMethod({ hook, answer }: Handler): Promise<Result> {
    if (!hook || this.server.middleware[hook].length === 0) return answer(this);
    return runResultHooks(this.server, hook, this, () => answer(this));
  }

  #createEvent(): McpTraceEvent {
    const { method, requestId, caller } = this;
    const { transport = 'custom', sessionId, http } = caller;
    const { protocolVersion } = this.client;
    const origin = { requestId, protocolVersion, sessionId, clientAddress: http?.remoteAddress };
    return createMessageEvent('received', method, this.callParams, { ...origin, transport });
  }

  /** Fires when the client cancels the request or disconnects, and by {@link ServerRequest.abort}. Created on first use. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }

  /** Aborts the signal, so that the operation ends and the client receives a response, also of a task. */
  abort(reason: Error): void {
    if (this.signal.aborted) return;
    this.#abortReason = reason;
    this.stop(reason);
  }

  /**
   * Starts an operation unless the signal is aborted, and stops waiting for it when the signal aborts. A listener of the signal would take 8 % of
   * a call over stdio with 32 calls in flight.
   */
  untilAborted<Value>(start: () => Promise<Value>): Promise<Value> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason as Error);
    return new Promise((resolve, reject) => {
      // Most requests have one: `push` into an empty array reserves places for seventeen.
      if (this.#waiting) this.#waiting.push(reject);
      else this.#waiting = [reject];
      start().then(resolve, reject);
    });
  }

  /** Whether the run ended without a result: the client canceled the request, or its round ended. */
  get isDiscarded(): boolean {
    return this.signal.aborted && this.signal.reason !== this.#abortReason;
  }

  cancel(reason?: Error): void {
    // Every modern response ends here, and an error takes a stack.
    if (this.#state !== 'open') return;
    this.#state = 'canceled';
    this.stop(reason ?? new DOMException('The request was canceled by the MCP client.', 'AbortError'));
    this.release();
  }

  failureText(error: ProtocolError): string {
    return errorText(this.requestId, error);
  }

  /** Keeps a request open that has no end of its own. Settles when the client cancels it or the transport closes. */
  hold(): Promise<void> {
    if (this.#state !== 'open') return Promise.resolve();
    return new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  /** Ends a held request with its result: a transport calls it before it waits for in-flight requests. */
  release(): void {
    this.#release?.();
    this.#release = undefined;
  }

  get isHeld(): boolean {
    return this.#release !== undefined;
  }

  /**
   * Aborts the run: the response is an `input_required` result.
   *
   * @returns whether the request was open
   */
  abandon(): boolean {
    if (this.#state !== 'open') return false;
    this.#state = 'settled';
    this.stop(
      new DOMException('The call ended with an input_required result; it runs again with the input.', 'AbortError'),
    );
    return true;
  }

  /** Aborts the signal and the waiting for tools. A run may continue after the response: then it has no result. */
  stop(reason: Error): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
    for (const reject of this.#waiting ?? []) reject(reason);
  }

  /**
   * Sends a notification that belongs to this request.
   *
   * @returns whether it was sent; after the response or a cancellation it is not
   */
  notify(method: string, params: object): boolean {
    return this.send({ jsonrpc: '2.0', method, params });
  }

  /** As {@link ServerRequest.notify}, for any message. */
  send(message: object): boolean {
    if (this.#state !== 'open') return false;
    this.sentMessage = true;
    return this.#channel.send(JSON.stringify(message));
  }

  /** `context.mcp` and `context.mcp.extra` of tools. Created on first use. */
  get toolContext(): ToolContext {
    return (this.#toolContext ??= new ToolContext(this));
  }

  /** Request as the callbacks of resources and prompts receive it. */
  get callbackContext(): CallbackContext {
    return { mcp: this.toolContext, extra: this.toolContext };
  }

  /** Request as hooks and `visible` receive it. Created on first use. */
  get hookContext(): HookContext {
    return (this.#hookContext ??= new HookContext(this));
  }

  get meta(): Readonly<Record<string, unknown>> | undefined {
    const meta = this.params?.['_meta'];
    return isObject(meta) ? meta : undefined;
  }

  /** Sends progress, if the client requested it. */
  report(update: ProgressUpdate): void {
    const progressToken = this.meta?.['progressToken'];
    if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return;
    this.notify('notifications/progress', { progressToken, ...update });
  }

  /** Ends the event stream before the response. After the response it does nothing. */
  closeStream(): void {
    if (this.#state === 'open') this.#channel.closeStream?.();
  }

  /**
   * Never leaves a rejection unhandled: a tool that does not await its request must not end the process when a client cannot answer or
   * disconnects.
   */
  ask<Value>(create: () => ClientRequest<Value>, options: ElicitOptions = {}): Promise<Value> {
    this.sentRequest = true;
    const result = (async () => this.sendToClient(create(), options))();
    result.catch(() => {});
    return result;
  }
}

/** Returns the call that a request stands for; `undefined` for the one that it names, and for other methods. */
export function resolveCall({ calls }: ServerState, message: JsonRpcRequest): ResolvedCall | undefined {
  if (message.method !== 'tools/call') return undefined;
  for (const extension of calls) {
    const resolved = extension.resolve?.(message);
    if (resolved) return resolved;
  }
  return undefined;
}
