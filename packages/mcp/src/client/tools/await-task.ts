import { setTimeout as sleep } from 'node:timers/promises';
import { isQuiverError, QuiverError, toErrorMessage, untilAborted } from '@quiver/core';
import { toTimerDelay } from '../../monotonic-now.js';
import type { CallToolResult } from '../../protocol/types.js';
import { errorCodes, failureKey } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import { repeats } from '../../repeats.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ProgressUpdate } from '../config/handlers.js';
import type { CreatedTask } from '../engine/check-result.js';
import {
  defaultMaxInputRounds,
  InputRoundsError,
  MissingInputError,
  respondToInput,
} from '../engine/respond-to-input.js';
import type { EngineRequestOptions } from '../engine/call.js';
import { RequestClocks, type RequestClock } from '../engine/request-clocks.js';
import { explainRequestError } from '../engine/request-error.js';
import { createBackOff } from '../../back-off.js';
import type { RemoteServer } from '../remote/remote-server.js';
import { getTask, readDescription, updateTask, type RemoteTask, type TaskDescription } from './task.js';

type InputRequired = Extract<RemoteTask, { status: 'input_required' }>;

/** Options of the call that became a task. `timeout` is until the task must have ended, by default `tasks.timeout` of the server. */
export interface AwaitTaskOptions extends EngineRequestOptions {
  /** The progress token. */
  readonly runId: string;
  /** State in which the server has created the task. */
  readonly created?: CreatedTask | undefined;
  /** Last progress of the call before it became a task. */
  readonly progress?: ProgressUpdate | undefined;
  /** Whether the task is canceled when the wait ends early, because no caller can continue it. */
  readonly isOwner: boolean;
}

/** Milliseconds between two polls, where the server does not say. */
const defaultPollInterval = 1000;
/** Milliseconds, so that a server cannot keep the client busy. */
const minPollInterval = 20;
const pollTimeout = 10_000;
const defaultTaskTimeout = 24 * 60 * 60_000;

/**
 * Waits for the end of a task: polls its state, reports its status messages as progress, and responds to its input requests.
 *
 * @throws the error that the call would have thrown; `MCP_TASK_CANCELLED`, `MCP_TASK_NOT_FOUND`, `MCP_REQUEST_TIMEOUT`,
 *   `MCP_INPUT_ROUNDS_EXCEEDED`, `MCP_TASK_INPUT_UNSUPPORTED`; errors of the handlers of input requests; `signal.reason`
 */
export function awaitTask(server: RemoteServer, taskId: string, options: AwaitTaskOptions): Promise<CallToolResult> {
  return new AwaitedTask(server, taskId, options).result();
}

class AwaitedTask {
  readonly #server: RemoteServer;
  readonly #taskId: string;
  readonly #options: AwaitTaskOptions;
  /** Aborts when the wait ends. */
  readonly #end = new AbortController();
  #stopping: Promise<void> | undefined;
  /** Whether nothing remains to be canceled. */
  #isOver = false;
  /** Whether the server has responded about this task. */
  #isKnown = false;
  #pollInterval = defaultPollInterval;
  #lastMessage: string | undefined;
  /** Progress numbers only grow. */
  #progress: number;
  /** Error of the last request, and the time of the first one of a row that failed. */
  #outage: { readonly error: QuiverError; readonly since: number } | undefined;
  /** Keys of input requests that a handler has received. */
  readonly #requested = new Set<string>();
  readonly #responding = new Map<string, AbortController>();
  #inputRounds = 0;
  /** Milliseconds; 0 for no limit. */
  readonly #timeout: number;
  /** The time limit stops while the application responds to input requests, as for direct requests. */
  readonly #clocks = new RequestClocks();
  readonly #clock: RequestClock;

  constructor(server: RemoteServer, taskId: string, options: AwaitTaskOptions) {
    const { tasks } = server.options;
    const ofServer = typeof tasks === 'object' ? tasks.timeout : defaultTaskTimeout;
    const { timeout = ofServer, maxTotalTimeout = Infinity } = options;
    this.#server = server;
    this.#taskId = taskId;
    this.#options = options;
    this.#lastMessage = options.progress?.message;
    this.#progress = Math.ceil(options.progress?.progress ?? 0);
    this.#timeout = timeout;
    this.#clock = this.#clocks.start(timeout, maxTotalTimeout, () => void this.stop(this.#timedOut()));
  }

  async result(): Promise<CallToolResult> {
    const { signal } = this.#options;
    const onAbort = (): void => void this.stop(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#server.tasks.add(this);
    // The task exists, also when the signal fired before.
    if (signal?.aborted) onAbort();
    try {
      return await untilAborted(() => this.#follow(), this.#end.signal);
    } catch (error) {
      void this.stop(error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#finish(new Error('The task has ended.'));
      if (!this.#stopping) this.#server.tasks.delete(this);
    }
  }

  /** Ends the wait. Settles when the server has acknowledged the cancellation of the task, or cannot. */
  stop(error: unknown): Promise<void> {
    return (this.#stopping ??= this.#stop(error));
  }

  async #stop(error: unknown): Promise<void> {
    this.#finish(error);
    const { isOwner, requestContext } = this.#options;
    if (isOwner && !this.#isOver) await this.#server.tasks.cancel(this.#taskId, requestContext);
    this.#server.tasks.delete(this);
  }

  #finish(reason: unknown): void {
    this.#clocks.close();
    this.#end.abort(reason);
    for (const controller of this.#responding.values()) controller.abort(reason);
  }

  async #follow(): Promise<CallToolResult> {
    const { created } = this.#options;
    if (created) {
      this.#isKnown = true;
      this.#learn(readDescription(created));
      if (created.status === 'working' || created.status === 'input_required') await this.#pause(this.#pollInterval);
    }
    for (;;) {
      const task = await this.#send((options) => getTask(this.#server, this.#taskId, options));
      this.#learn(task);
      if (task.status === 'completed') return task.result;
      if (task.status === 'failed' || task.status === 'cancelled') {
        this.#isOver = true;
        throw this.#toError(task);
      }
      if (task.status === 'input_required' && task.requiredCapabilities) await this.#refuseInput(task);
      else this.#provideInput(task.status === 'input_required' ? task.inputRequests : {});
      await this.#pause(this.#pollInterval);
    }
  }

  /** Learns the poll interval, and reports a new status message. */
  #learn({ pollIntervalMs = defaultPollInterval, statusMessage }: TaskDescription): void {
    this.#pollInterval = toTimerDelay(Math.max(pollIntervalMs, minPollInterval));
    if (statusMessage === undefined || statusMessage === this.#lastMessage) return;
    this.#lastMessage = statusMessage;
    this.#progress += 1;
    const { runId, onProgress } = this.#options;
    const { resetTimeoutOnProgress = this.#server.options.resetTimeoutOnProgress } = this.#options;
    if (resetTimeoutOnProgress && this.#timeout > 0) this.#clocks.extend(this.#clock, this.#timeout);
    if (!onProgress && this.#server.options.enableProgressTracking === false) return;
    const params = { progressToken: runId, progress: this.#progress, message: statusMessage };
    try {
      onProgress?.({ ...params });
    } catch (error) {
      this.#server.log('debug', toErrorMessage(error), error);
    }
    this.#server.application.notify({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }

  /** Passes new input requests to their handlers, and ends the handlers of requests that the task no longer waits for. */
  #provideInput(requests: Record<string, unknown>): void {
    for (const [key, controller] of this.#responding)
      if (!Object.hasOwn(requests, key)) controller.abort(new Error('The task no longer waits for this input.'));
    const added = Object.entries(requests).filter(([key]) => !this.#requested.has(key));
    if (added.length === 0) return;
    const { maxInputRounds = defaultMaxInputRounds } = this.#server.options;
    if (this.#inputRounds === maxInputRounds)
      throw this.#explain(new InputRoundsError(`the task still required input after ${maxInputRounds} rounds`));
    this.#inputRounds += 1;
    for (const [key, request] of added) {
      this.#requested.add(key);
      const controller = new AbortController();
      this.#responding.set(key, controller);
      this.#clocks.pause(this.#clock);
      void this.#respond(key, request, controller.signal);
    }
  }

  /** The server withholds requests that this client cannot provide. Another client may, unless this one owns the task: then the tool learns it. */
  async #refuseInput({ inputRequests, requiredCapabilities }: InputRequired): Promise<void> {
    if (!this.#options.isOwner) throw this.#unsupported(JSON.stringify(requiredCapabilities));
    const added = Object.entries(inputRequests).filter(([key]) => !this.#requested.has(key));
    if (added.length === 0) return;
    const responses = added.map(([key, request]) => {
      this.#requested.add(key);
      const subject = isObject(request) && subjects.get(request['method']);
      const code = `${subject || 'INPUT'}_NOT_SUPPORTED`;
      const failure = { code, message: 'The client did not declare the capability.' };
      return [key, { action: 'cancel', _meta: { [failureKey]: failure } }] as const;
    });
    await this.#send((options) => updateTask(this.#server, this.#taskId, Object.fromEntries(responses), options));
  }

  #unsupported(what: string, cause?: unknown): QuiverError {
    const { name } = this.#server;
    return new QuiverError(
      'MCP_TASK_INPUT_UNSUPPORTED',
      `A task of MCP server '${name}' waits for input that this client does not provide: ${what}. The task is unchanged. Set the handler, for example by \`mcp.elicitation.onRequest('${name}', …)\`, or respond by \`mcp.tasks.update()\`, and wait for the result again.`,
      { cause, details: { server: name, taskId: this.#taskId } },
    );
  }

  async #respond(key: string, request: unknown, signal: AbortSignal): Promise<void> {
    try {
      const { application } = this.#server;
      const response = await untilAborted(
        () => respondToInput(application, key, request, signal, this.#options),
        signal,
      );
      // A computed key never sets the prototype, also where it is `__proto__`.
      const responses = { [key]: response };
      await this.#send((options) => updateTask(this.#server, this.#taskId, responses, options));
    } catch (error) {
      if (!signal.aborted) void this.stop(this.#explainUnanswered(error));
    } finally {
      this.#responding.delete(key);
      this.#clocks.resume(this.#clock);
    }
  }

  /** Sends a request that may be repeated, until the server responds. */
  async #send<Result>(send: (options: EngineRequestOptions) => Promise<Result>): Promise<Result> {
    const { signal } = this.#end;
    const { requestContext, onElicitation, onSampling, relay } = this.#options;
    const options = { signal, requestContext, onElicitation, onSampling, relay, timeout: pollTimeout };
    const backOff = createBackOff();
    const start = performance.now();
    for (;;) {
      try {
        const result = await send(options);
        this.#isKnown = true;
        this.#outage = undefined;
        return result;
      } catch (error) {
        signal.throwIfAborted();
        this.#isOver ||= isQuiverError(error, 'MCP_TASK_NOT_FOUND');
        if (!this.#isKnown || !repeats.aboutTask.isCause(error)) throw error;
        this.#outage = { error, since: this.#outage?.since ?? performance.now() };
        if (performance.now() - start > repeats.aboutTask.limit) {
          // The task may still run: its id permits to continue it.
          this.#isOver = true;
          const { code, message, cause, details } = error;
          throw new QuiverError(code, message, { cause, details: { ...details, taskId: this.#taskId } });
        }
        this.#server.log('info', `Repeating a request about a task: ${error.message}`, error, requestContext);
        backOff.failed();
        await this.#pause(Math.max(this.#pollInterval, backOff.remaining()));
      }
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.#end.signal });
  }

  #timedOut(): QuiverError {
    const { isOwner, maxTotalTimeout = Infinity } = this.#options;
    const limit = Math.min(this.#timeout || Infinity, maxTotalTimeout);
    const { name } = this.#server;
    const { error: cause, since = 0 } = this.#outage ?? {};
    const seconds = Math.ceil((performance.now() - since) / 1000);
    const message = cause
      ? `MCP server '${name}' has been unavailable for ${seconds} s, and the limit of ${limit} ms for one of its tasks is over: whether the task ended is unknown. ${cause.message}`
      : `A task of MCP server '${name}' did not end within ${limit} ms. ${isOwner ? 'It was canceled. ' : ''}Raise \`tasks.timeout\` of the server or \`maxTotalTimeout\` of the call if it needs longer, or start it with \`mcp.tasks.start()\`.`;
    return new QuiverError('MCP_REQUEST_TIMEOUT', message, { cause, details: { server: name, taskId: this.#taskId } });
  }

  #toError(task: RemoteTask): QuiverError {
    if (task.status === 'failed') {
      const { code, message, data } = task.error;
      return this.#explain(new ProtocolError(code, message, { data }));
    }
    const reason = task.statusMessage === undefined ? '' : ` It reported: ${task.statusMessage}`;
    return new QuiverError(
      'MCP_TASK_CANCELLED',
      `The task was canceled on MCP server '${this.#server.name}' before it had a result.${reason}`,
      { details: { server: this.#server.name, taskId: this.#taskId } },
    );
  }

  #explainUnanswered(error: unknown): QuiverError {
    const cause = error instanceof MissingInputError ? error.cause : undefined;
    const hasNoHandler = cause instanceof ProtocolError && cause.code === errorCodes.methodNotFound;
    if (!hasNoHandler || this.#options.isOwner) return this.#explain(error);
    return this.#unsupported(cause.message, cause);
  }

  #explain(error: unknown): QuiverError {
    return explainRequestError(error, this.#server.name);
  }
}

/** Subjects of the errors that tools receive, by method. */
const subjects: ReadonlyMap<unknown, string> = new Map([
  ['elicitation/create', 'ELICITATION'],
  ['sampling/createMessage', 'SAMPLING'],
  ['roots/list', 'ROOTS'],
]);
