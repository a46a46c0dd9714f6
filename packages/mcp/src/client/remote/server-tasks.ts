import { QuiverError, toErrorMessage, withinTime } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import { TASKS_EXTENSION } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import type { RequestExtension } from '../engine/call.js';
import { isCreatedTask } from '../engine/check-result.js';
import type { RemoteServer } from './remote-server.js';

/** Milliseconds that the cancellation of a task may take, and that a disconnect waits for. */
const stopTimeout = 3000;

/** Extension of requests about tasks. */
export const tasksExtension: RequestExtension = { name: TASKS_EXTENSION };

/** A task that a caller waits for. */
export interface AwaitedTask {
  /** Ends the wait with an error, and cancels the task. */
  stop(error: unknown): Promise<void>;
}

/** Tasks of one server that this client has to end: their callers are gone. */
export class ServerTasks {
  /** Extension of tool calls; `undefined` when the server must not run them as tasks. */
  readonly ofCalls: RequestExtension | undefined;
  readonly #server: RemoteServer;
  /** They survive lost connections, and end with the client. */
  readonly #awaited = new Set<AwaitedTask>();
  /** Cancellations of the tasks of abandoned calls. Before the connection ends, they may still receive the id of a task. */
  readonly #late = new Set<Promise<void>>();

  constructor(server: RemoteServer) {
    this.#server = server;
    const onLateResult: RequestExtension['onLateResult'] = (late, requestContext) =>
      void this.#cancelLate(late, requestContext);
    if (server.options.tasks !== false) this.ofCalls = { ...tasksExtension, accepts: isCreatedTask, onLateResult };
  }

  get isEmpty(): boolean {
    return this.#awaited.size + this.#late.size === 0;
  }

  add(task: AwaitedTask): void {
    this.#awaited.add(task);
  }

  delete(task: AwaitedTask): void {
    this.#awaited.delete(task);
  }

  /** Cancels all of them. Resolves after the cancellations are sent, or after a time limit. */
  async stop(): Promise<void> {
    const error = new QuiverError(
      'MCP_CONNECTION_CLOSED',
      `The client was disconnected from MCP server '${this.#server.name}' before a task had ended.`,
    );
    const stopping = Array.from(this.#awaited, (task) => task.stop(error));
    await withinTime(Promise.all([...stopping, ...this.#late]), stopTimeout, () => error).catch(() => {});
  }

  /** Cancels the task of an abandoned call, if its late result names one. */
  async #cancelLate(late: Promise<Params | undefined>, requestContext: AnyRequestContext | undefined): Promise<void> {
    const canceled = late
      .then((result) => (result && isCreatedTask(result) ? this.cancel(result.taskId, requestContext) : undefined))
      .catch((error: unknown) => this.#server.log('debug', toErrorMessage(error), error));
    this.#late.add(canceled);
    await canceled;
    this.#late.delete(canceled);
  }

  /** Resolves when no abandoned call can name a task; `undefined` when none can. */
  lateEnded(): Promise<unknown> | undefined {
    return this.#late.size > 0 ? Promise.all(this.#late) : undefined;
  }

  /** Cancels a task that no caller waits for. A failure is logged. */
  async cancel(taskId: string, requestContext?: AnyRequestContext): Promise<void> {
    try {
      const options = { requestContext, timeout: stopTimeout, extension: tasksExtension };
      await this.#server.request((engine, to) => engine.request('tasks/cancel', { taskId }, to), options);
    } catch (error) {
      this.#server.log('debug', `A task could not be canceled: ${toErrorMessage(error)}`, error, requestContext);
    }
  }
}
