import { setTimeout as sleep } from 'node:timers/promises';
import { isQuiverError, traceChannels, untilAborted } from '@quiver/core';
import type { ActiveSet } from '../../active-set.js';
import { errorCodes } from '../../protocol/constants.js';
import {
  isObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Params,
  type RequestId,
} from '../../protocol/json-rpc.js';
import { findMethod } from '../../protocol/methods.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { createBackOff } from '../../back-off.js';
import type { Engine, EngineOptions } from './engine.js';
import { abortHandlers, UndeliveredError, type Call, type EngineRequestOptions } from './call.js';
import { defaultMaxInputRounds, InputRoundsError, respondToInput } from './respond-to-input.js';
import { isLostConnection, statusOf } from './request-error.js';
import type { RequestClocks } from './request-clocks.js';
import { createMessageEvent } from './traced-connection.js';

const channel = traceChannels['quiver:mcp.client'];

/** Milliseconds in which the tool of a call that was canceled, or timed out, may still send requests. */
const lateRequestTime = 10 * 60_000;

/** Milliseconds before a request is repeated whose result requires no input, only its state back. */
const statePause = 250;

/** Milliseconds for which a response is sent again that belongs to no known call. */
const unassignedTime = 60_000;

/**
 * Responds to the server for the application: to its requests, and to results that require input. The clock of their call is stopped meanwhile.
 *
 * Calls may have handlers of their caller, and stdio does not tell which call a request of the server belongs to. A third of this class decides
 * when only one caller is possible: no request may reach the user of another one.
 */
export class Responder {
  readonly #engine: Engine;
  readonly #options: EngineOptions;
  /** Calls in progress. */
  readonly #calls: ActiveSet<Call>;
  readonly #clocks: RequestClocks;
  readonly #responding = new Map<RequestId, AbortController>();
  /** Callers whose calls ended before their response. Their tools may continue, and ask. */
  readonly #abandoned = new Set<unknown>();
  #abandonedUntil = 0;

  constructor(engine: Engine, options: EngineOptions, calls: ActiveSet<Call>, clocks: RequestClocks) {
    this.#engine = engine;
    this.#options = options;
    this.#calls = calls;
    this.#clocks = clocks;
  }

  /** Returns the call that a request of the server belongs to, where the transport does not tell and only one caller is possible. */
  findCall(): Call | undefined {
    const [call, ...others] = [...this.#calls].filter(({ method }) => findMethod(method)?.isInteractive);
    const caller = call?.options.relay?.caller;
    const isOfOneCaller = caller !== undefined && others.every(({ options }) => options.relay?.caller === caller);
    return (others.length === 0 || isOfOneCaller) && !this.#mayBelongToOther(call?.options ?? {}) ? call : undefined;
  }

  /** @param call - the request that it belongs to, if that is known */
  async respond({ id, method, params = {} }: JsonRpcRequest, call: Call | undefined): Promise<void> {
    const { application } = this.#options;
    const controller = new AbortController();
    this.#responding.set(id, controller);
    this.#pause(call, controller);
    let outcome: Pick<JsonRpcResponse, 'result' | 'error'>;
    try {
      const { signal } = controller;
      const respond = async (): Promise<Params> =>
        method === 'ping' ? {} : application.respond(method, params, signal, call?.options);
      const event = channel.isActive && {
        ...createMessageEvent(this.#engine, 'received', method, params),
        requestId: id,
      };
      outcome = { result: await (event ? channel.trace(event, respond) : respond()) };
    } catch (error) {
      outcome = { error: toErrorObject(call ? error : this.#explainUnassigned(error)) };
    } finally {
      this.#responding.delete(id);
      this.#resume(call, controller);
    }
    if (!controller.signal.aborted) await this.#deliver({ jsonrpc: '2.0', id, ...outcome }, method, call);
  }

  /** Sends a response, and again until the server has accepted it or its call has ended. The id makes repetitions safe. */
  async #deliver(response: JsonRpcResponse, method: string, call: Call | undefined): Promise<void> {
    const engine = this.#engine;
    const backOff = createBackOff({ first: 200, cap: 5000 });
    const deadline = performance.now() + unassignedTime;
    const isAwaited = (): boolean => !engine.isClosed && (call ? this.#calls.has(call) : performance.now() < deadline);
    if (engine.isClosed) return;
    do {
      try {
        await engine.channel.send(response, {});
        if (call) call.undelivered = undefined;
        return;
      } catch (cause) {
        const error = new UndeliveredError(method, cause);
        engine.onError(error);
        if (call) call.undelivered = error;
        if (!isTemporary(cause)) return call?.reject(error);
        backOff.failed();
        await sleep(backOff.remaining());
      }
    } while (isAwaited());
  }

  /** Ends the handler of a request that the server has canceled. */
  cancel(id: RequestId, reason: unknown): void {
    this.#responding.get(id)?.abort(new Error(String(reason ?? 'canceled')));
  }

  /**
   * Returns the parameters with which a call is repeated: the input that its result requires, and the state that it returns.
   *
   * @param round - number of such results before this one
   * @throws {@link InputRoundsError}; `TypeError` for a result that requires no input; errors of {@link respondToInput}; the reason for which
   *   the call has ended
   */
  async provideInput(call: Call, result: Params, round: number): Promise<Params> {
    const { application, maxInputRounds = defaultMaxInputRounds } = this.#options;
    const { method, options } = call;
    const { resultType, inputRequests, requestState } = result;
    if (resultType !== 'input_required' || !findMethod(method)?.isInteractive)
      throw new TypeError(`Invalid result for ${method}: resultType is ${JSON.stringify(resultType)}`);
    if (round === maxInputRounds)
      throw new InputRoundsError(`'${method}' still required input after ${maxInputRounds} rounds`);
    const requests = isObject(inputRequests) ? Object.entries(inputRequests) : [];
    const controller = new AbortController();
    const { signal } = controller;
    const respond = async ([key, request]: [string, unknown]): Promise<[string, Params]> => [
      key,
      await respondToInput(application, key, request, signal, options),
    ];
    this.#pause(call, controller);
    try {
      const state = requestState !== undefined && { requestState };
      if (requests.length === 0) return await untilAborted(() => sleep(statePause, { ...state }), signal);
      const responses = await untilAborted(() => Promise.all(requests.map(respond)), signal);
      return { inputResponses: Object.fromEntries(responses), ...state };
    } catch (error) {
      controller.abort(error);
      throw error;
    } finally {
      this.#resume(call, controller);
    }
  }

  /** Remembers a call that ended before its response. */
  abandon({ options }: Call): void {
    this.#abandonedUntil = performance.now() + lateRequestTime;
    // Two callers are enough to doubt every one.
    if (this.#abandoned.size < 2) this.#abandoned.add(callerOf(options));
  }

  /** Ends all handlers. */
  close(error: unknown): void {
    for (const controller of this.#responding.values()) controller.abort(error);
    for (const call of this.#calls) abortHandlers(call, error);
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

  /** Returns whether a request of the server may belong to an abandoned call of another caller. */
  #mayBelongToOther(options: EngineRequestOptions): boolean {
    if (performance.now() >= this.#abandonedUntil) this.#abandoned.clear();
    const own = callerOf(options);
    return [...this.#abandoned].some((other) => other !== own);
  }

  /** Says why a request of the server was not passed to the handlers of a call. */
  #explainUnassigned(error: unknown): unknown {
    if (!(error instanceof ProtocolError) || error.code !== errorCodes.methodNotFound) return error;
    if (![...this.#calls].some(({ options }) => options.onElicitation ?? options.onSampling ?? options.relay))
      return error;
    const reason =
      'Several calls are in progress or were canceled, and the transport does not tell which one this is for.';
    return new ProtocolError(error.code, `${error.message}. ${reason}`);
  }
}

/** Without a request context, calls with one handler ask one user. `undefined` stands for a caller too: that of calls with neither. */
function callerOf({ relay, requestContext, onElicitation, onSampling }: EngineRequestOptions): unknown {
  return relay?.caller ?? requestContext ?? onElicitation ?? onSampling;
}

/** Whether a balancer or a restart may be the reason. */
function isTemporary(error: unknown): boolean {
  const status = statusOf(error) ?? 0;
  return status === 429 || status >= 500 || isLostConnection(error);
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
