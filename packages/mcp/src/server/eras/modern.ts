import type { ElicitOptions } from '@quiver/core/tools';
import type { Result } from '../../content.js';
import { isLoggingLevel, metaKeys, MODERN_VERSION, type LoggingLevel } from '../../protocol/constants.js';
import { isObject, wholeText } from '../../protocol/json-rpc.js';
import { refused, type ProtocolError } from '../../protocol/protocol-error.js';
import type { ClientCapabilities, Implementation } from '../../protocol/types.js';
import { notSupported } from '../client/client-request-errors.js';
import type { ClientRequest } from '../client/client-requests.js';
import { toTimerDelay } from '../../monotonic-now.js';
import { requireMethod } from '../methods/methods.js';
import { storedCallOf } from '../methods/tasks.js';
import { ServerRequest, type Handler } from '../request.js';
import type { ServerState } from '../definition/server-state.js';
import type { RequestState } from '../client/request-state.js';
import type { ProgressUpdate, RunningTask } from '../tasks/running-task.js';
import type { TaskOptions } from '../tools/task-options.js';
import { commonMembers, type StoredCall } from '../tasks/task-record.js';
import { defer, InputRound, readRequestState } from './input-round.js';

/** A request of the modern era (2026-07-28); everything about the client is in its `_meta`. */
export class ModernRequest extends ServerRequest {
  readonly era = 'modern';
  /** Present while the handler may send requests to the client; the first one begins the round. */
  #beginRound: (() => InputRound) | undefined;
  #round: InputRound | undefined;
  /** State of the round before. */
  #previous: RequestState | undefined;
  /** Makes the run a task; present while it may become one. */
  #becomeTask: (() => void) | undefined;
  /** Present once the run continues as a task. */
  #task: RunningTask | undefined;
  /** Last progress before the task. */
  #progress: ProgressUpdate | undefined;

  get protocolVersion(): string {
    return MODERN_VERSION;
  }

  get clientCapabilities(): ClientCapabilities {
    const declared = this.meta?.[metaKeys.clientCapabilities];
    return isObject(declared) ? declared : {};
  }

  get clientInfo(): Implementation | undefined {
    const clientInfo = this.meta?.[metaKeys.clientInfo];
    // The shape was checked when the request was classified.
    return isObject(clientInfo) ? (clientInfo as unknown as Implementation) : undefined;
  }

  /** A modern client requests log messages per request; without a level it receives none. */
  get logLevel(): LoggingLevel | undefined {
    const level = this.meta?.[metaKeys.logLevel];
    return isLoggingLevel(level) ? level : undefined;
  }

  /**
   * Returns the result of an earlier round at once; otherwise the promise never settles and the round ends. In a task the run waits
   * for the result.
   */
  async sendToClient<Value>(request: ClientRequest<Value>, options: ElicitOptions): Promise<Value> {
    if (this.#task) return this.#task.request(request, options);
    this.#round ??= this.#beginRound?.();
    if (this.#round) return this.#round.request(request, options);
    throw notSupported(
      request,
      'A client of this protocol version accepts requests only from tools/call, prompts/get and resources/read.',
    );
  }

  /** The rounds of a call have one id. */
  override get callId(): string {
    return this.#previous?.id ?? super.callId;
  }

  override get upstreamState(): unknown {
    return this.#previous?.upstream;
  }

  override get acceptsTasks(): boolean {
    return this.#becomeTask !== undefined;
  }

  override becomeTask(): void {
    this.#becomeTask?.();
  }

  override passOn(inputRequests: unknown, state: unknown): Promise<never> {
    this.#round ??= this.#beginRound?.();
    if (!this.#round) return super.passOn(inputRequests, state);
    this.#round.passOn(inputRequests, state);
    return new Promise(() => {});
  }

  override report(update: ProgressUpdate): void {
    if (this.#task) return this.#task.report(update);
    this.#progress = update;
    super.report(update);
  }

  toText(result: Result): string {
    return this.server.modernResults.toText(this.method, result);
  }

  protected answer(): Result | Promise<Result> {
    const method = requireMethod(this);
    return method.isInteractive ? this.#answerWithInput(method) : this.runMethod(method);
  }

  /**
   * Returns the result of a request whose handler may send requests to the client. The response is the result, or an `input_required` result that
   * the client answers by sending its request again. The handler then runs again from its start, and requests that have a result
   * return at once.
   *
   * @throws ProtocolError -32602 for a `requestState` that was not issued for this request, -32021 when the client lacks a capability
   * @see [MCP 2026-07-28, multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
   */
  #answerWithInput(method: Handler): Promise<Result> {
    const state = this.params?.['requestState'];
    if (state === undefined) return this.#runRound(method, undefined);
    return readRequestState(this, state).then((previous) =>
      this.server.answeredRounds.once(state, this, () => this.#runRound(method, previous)),
    );
  }

  /** Runs a handler that may send requests to the client. The round may end before the run, whose result is then ignored. */
  #runRound(method: Handler, previous: RequestState | undefined): Promise<Result> {
    this.#previous = previous;
    const options = method.taskOptions?.(this);
    if (options) return this.#runTask(method, previous, options);
    return new Promise((resolve, reject) => {
      this.#beginRound = () => new InputRound(this, previous, resolve);
      Promise.resolve(this.runMethod(method)).then(resolve, reject);
    });
  }

  /**
   * As {@link ModernRequest.#runRound}, for a request that becomes a task when it takes long. The run continues after the response.
   *
   * @throws ProtocolError with HTTP status 429 when no more tasks can be stored and the tool requires one
   */
  #runTask(method: Handler, previous: RequestState | undefined, options: TaskOptions): Promise<Result> {
    const { tasks } = this.server;
    // `onCallTool` hooks run again where another instance resumes the task, and `onRequest` hooks do not.
    const { principal = '', signal, arguments: args } = this;
    const noRoom = (): ProtocolError =>
      refused(429, 'The server has as many tasks, or results of tasks, as it keeps; call the tool again later');
    // Before the tool has any effect.
    if (options.mode === 'required' && !tasks.hasRoom(principal)) return Promise.reject(noRoom());
    return new Promise((resolve, reject) => {
      const round = new InputRound(this, previous, resolve, options.after === 0);
      this.#round = round;
      let isOver = false;
      const becomeTask = (): void => {
        // With time before the task, requests for input end the round.
        if (isOver || signal.aborted || (options.after > 0 && round.isEnding)) return;
        const { requestCount, answers } = round;
        const call = options.resume ? storedCallOf(this, args) : undefined;
        const start = { options, principal, host: this, answers, requestCount, call };
        const creating = tasks.begin(start, (task) => {
          this.#task = task;
          round.handOver(task);
          if (this.#progress) task.report(this.#progress);
          return run.then((result) => this.#textOf(result));
        });
        if (creating) {
          resolve(creating.then((record) => this.server.modernResults.create('task', commonMembers(record))));
        } else if (options.mode === 'required') {
          const error = noRoom();
          this.stop(error);
          reject(error);
        } else round.keep();
      };
      const startTask = (): void => {
        try {
          becomeTask();
        } catch (error) {
          // Data of the application that cannot be read must not end the process.
          this.stop(error as Error);
          reject(error as Error);
        }
      };
      this.#becomeTask = startTask;
      const cancelTimer = later(options.after, startTask);
      const run = (async () => this.runMethod(method))();
      const end = (): void => {
        isOver = true;
        cancelTimer();
      };
      run.then(end, end);
      run.then(resolve, reject);
    });
  }

  /** Runs a call again whose instance died, as its task. */
  async resume(task: RunningTask): Promise<string> {
    this.#task = task;
    return this.#textOf(await this.runMethod(requireMethod(this)));
  }

  #textOf(result: Result): string {
    return result.whole === undefined ? this.toText(result) : wholeText(result.whole);
  }
}

/** Prepares the call of a task to run again, without the client that sent it. */
export function resumeCall(
  server: ServerState,
  { requestId, params, authInfo, requestContext }: StoredCall,
): ModernRequest {
  const message = { jsonrpc: '2.0', id: requestId, method: 'tools/call', params } as const;
  const request = new ModernRequest(server, message, { authInfo }, { send: () => false });
  for (const [key, value] of Object.entries(requestContext)) request.requestContext.set(key, value);
  return request;
}

/** @returns a function that prevents the run */
function later(milliseconds: number, run: () => void): () => void {
  // Only the run itself decides.
  if (milliseconds === Infinity) return () => {};
  if (milliseconds === 0) defer(run);
  const timer = milliseconds === 0 ? undefined : setTimeout(run, toTimerDelay(milliseconds));
  return () => clearTimeout(timer);
}
