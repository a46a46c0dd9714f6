import { toErrorMessage } from '@quiver/core';
import { objectOf, stringList, wholeNumber, type OptionCheck } from '@quiver/core/internal';
import { Result } from '../../content.js';
import { TASKS_EXTENSION } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import type { CallExtension, RegisteredTool } from '../../server/call-extension.js';
import { Caller } from '../../server/caller.js';
import type { Continuation, ContinuableRun } from '../../server/continued-run.js';
import type { ServerState } from '../../server/definition/server-state.js';
import { ModernRequest } from '../../server/eras/modern.js';
import type { AcceptedFilter, Feature } from '../../server/feature.js';
import { invalidFilter, isListOfNames } from '../../server/methods/subscriptions.js';
import type { ServerRequest } from '../../server/request.js';
import { MAX_LISTENED_TASKS } from './task-limits.js';
import { createTaskMethods, requireTasks, supportsTasks, storedCallOf } from './task-methods.js';
import { optionsOfContinuing, parseTaskOptions, type TaskOptions } from './task-options.js';
import { taskMembers, type StoredCall, commonMembers } from './task-record.js';
import { Tasks, type TasksOptions } from './tasks.js';
import { toTimerDelay } from '../../monotonic-now.js';
import { refused, type ProtocolError } from '../../protocol/protocol-error.js';
import { defer } from '../../server/eras/input-round.js';

export const checkTasks: OptionCheck = objectOf<TasksOptions>({
  maxPerCaller: wholeNumber(1),
  maxTotal: wholeNumber(1),
  maxCharacters: wholeNumber(1),
  maxCharactersPerCaller: wholeNumber(1),
  maxResultLength: wholeNumber(1),
  callerData: stringList,
});

/** Tasks as a feature of a server: their protocol, and the calls that become tasks. */
export class TasksFeature extends Tasks implements Feature, CallExtension {
  readonly call: CallExtension = this;
  readonly methods: NonNullable<Feature['methods']> = createTaskMethods(this);
  readonly #server: ServerState;
  readonly #options = new WeakMap<RegisteredTool, TaskOptions>();

  constructor(server: ServerState, options: TasksOptions = {}) {
    super(server.instance, options);
    this.#server = server;
  }

  register(registered: RegisteredTool): boolean {
    const { name, tool } = registered;
    try {
      const options = parseTaskOptions(tool.mcp?.task);
      if (options) this.#options.set(registered, options);
      return options !== undefined;
    } catch (error) {
      this.#server.logger.warn(`Calls of tool '${name}' never become tasks: ${toErrorMessage(error)}`);
      return false;
    }
  }

  async run(request: ServerRequest, registered: RegisteredTool, run: () => Promise<Result>): Promise<Result> {
    if (this.#optionsOf(registered)?.mode === 'required') requireTasks(request);
    return run();
  }

  continuation(request: ServerRequest, registered: RegisteredTool): Continuation | undefined {
    const options = this.#optionsOf(registered);
    if (!options || !supportsTasks(request)) return undefined;
    // The cast: only modern clients support tasks.
    return createPossibleTask(this, request as ModernRequest, options);
  }

  /** Tasks are declared to callers who see a tool whose calls become tasks. */
  extensionFor(request: ServerRequest): string | undefined {
    const { tools } = this.#server;
    const found = tools.all(request).filter((tool) => this.#optionsOf(tool));
    return found.some(({ name }) => tools.find(request, name)) ? TASKS_EXTENSION : undefined;
  }

  async #accept(request: ServerRequest, ids: string[]): Promise<AcceptedFilter | undefined> {
    requireTasks(request);
    const taskIds = await this.known(ids, request.caller.principal ?? '');
    if (taskIds.length === 0) return undefined;
    return { filter: { taskIds }, start: (identity) => this.#watch(request, taskIds, identity) };
  }

  /** @throws ProtocolError -32021 when the filter names tasks and the client does not support them, -32602 for invalid ids */
  acceptFilter(request: ServerRequest, { taskIds = [] }: Params): Promise<AcceptedFilter | undefined> | undefined {
    if (!isListOfNames(taskIds, MAX_LISTENED_TASKS)) throw invalidFilter();
    return taskIds.length > 0 ? this.#accept(request, taskIds) : undefined;
  }

  async #watch(request: ServerRequest, ids: readonly string[], identity: object): Promise<() => Promise<unknown>> {
    const watch = (id: string): Promise<() => Promise<void>> =>
      this.watch(id, (task) =>
        request.notify('notifications/tasks', {
          ...taskMembers(task, request.client.clientCapabilities),
          _meta: identity,
        }),
      );
    // All, so that each that succeeds is ended when another one fails.
    const watches = await Promise.allSettled(ids.map(watch));
    const stops = watches.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    const stop = (): Promise<unknown> => Promise.all(stops.map((each) => each()));
    const failed = watches.find((each) => each.status === 'rejected');
    if (!failed) return stop;
    await stop();
    throw failed.reason;
  }

  #optionsOf(registered: RegisteredTool): TaskOptions | undefined {
    return this.#options.get(registered) ?? (registered.continuesItself ? optionsOfContinuing : undefined);
  }

  protected override resumes(name?: string): boolean {
    const { tools } = this.#server;
    const named = name === undefined ? [...tools.values()] : [tools.get(name)];
    return named.some((tool) => tool && this.#options.get(tool)?.resume);
  }

  /** Prepares the call of a task to run again, without the client that sent it. */
  protected override toRequest({ requestId, params, authInfo, requestContext }: StoredCall): ModernRequest {
    const message = { jsonrpc: '2.0', id: requestId, method: 'tools/call', params } as const;
    const request = new ModernRequest(this.#server, message, new Caller({ authInfo }), { send: () => false });
    for (const [key, value] of Object.entries(requestContext)) request.requestContext.set(key, value);
    return request;
  }
}

/** Returns what makes a call a task when it takes long. */
function createPossibleTask(tasks: Tasks, request: ModernRequest, options: TaskOptions): Continuation {
  const { mode, after } = options;
  // Those of the start: `onCallTool` hooks run again where another instance resumes the task, and `onRequest` hooks do not.
  const { arguments: args } = request;
  let run: ContinuableRun;
  let cancelTimer: () => void;

  const becomeTask = (): void => {
    // With time before the task, requests for input end the round.
    if (!run.isOpen || (after > 0 && run.round.isEnding)) return;
    const { answers, requestCount } = run.round;
    const call = options.resume ? storedCallOf(request, args, tasks.callerData) : undefined;
    const start = { options, host: request, answers, requestCount, call };
    const creating = tasks.begin(start, (task) => run.continueAs(task));
    if (creating) run.respond(creating.then((record) => Result.of(commonMembers(record), { type: 'task' })));
    else if (mode === 'required') run.fail(noRoom());
    else run.round.keep();
  };
  const continueNow = (): void => {
    try {
      becomeTask();
    } catch (error) {
      // Data of the application that cannot be read must not end the process.
      run.fail(error as Error);
    }
  };
  return {
    takesRequests: after === 0,
    /** @throws ProtocolError with HTTP status 429 when no more tasks can be stored and the tool requires one */
    start(started) {
      if (mode === 'required' && !tasks.hasRoom(request.caller.principal ?? '')) throw noRoom();
      run = started;
      cancelTimer = later(after, continueNow);
    },
    continueNow,
    end: () => cancelTimer(),
  };
}

function noRoom(): ProtocolError {
  return refused(429, 'The server has as many tasks, or results of tasks, as it keeps; call the tool again later');
}

/** @returns a function that prevents the run */
function later(milliseconds: number, run: () => void): () => void {
  // Only the run itself decides.
  if (milliseconds === Infinity) return () => {};
  if (milliseconds === 0) defer(run);
  const timer = milliseconds === 0 ? undefined : setTimeout(run, toTimerDelay(milliseconds));
  return () => clearTimeout(timer);
}
