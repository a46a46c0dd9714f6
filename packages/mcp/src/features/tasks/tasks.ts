import { toErrorMessage, withinTime } from '@quiver/core';
import { errorCodes } from '../../protocol/constants.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import { STORE_TIMEOUT, storeTimeout, type Instance } from '../../shared-store/instance.js';
import { setRecent } from '../../set-recent.js';
import { digestOf } from '../../server/digest.js';
import { until } from '../../server/lifecycle.js';
import { toProtocolError } from '../../server/failures.js';
import { DEFAULT_MAX_TASK_RESULT } from './task-limits.js';
import type { ModernRequest } from '../../server/eras/modern.js';
import type { RequestState } from '../../server/client/request-state.js';
import { KeptTasks, type TaskLimits } from './kept-tasks.js';
import { RunningTask, type RunningTaskOptions } from './running-task.js';
import { ResumableRuns } from './resumable-runs.js';
import type { TaskOptions } from './task-options.js';
import { addResponses, endTask, hasEnded, type StoredCall, type TaskEnd, type TaskRecord } from './task-record.js';
import { TaskStorage } from './task-storage.js';

/** Limits of tasks, and the data of callers that is stored with them. */
export interface TasksOptions extends TaskLimits {
  /** Characters of a result as JSON. A task with a longer result fails. Default 4 194 304. */
  maxResultLength?: number;
  /**
   * Names of data about the caller that is stored with tasks of tools with `resume: true`, for the run in another process: entries of
   * the request context, and members of `authInfo.extra`. Their values need a JSON form. Subject, issuer, client id and scopes are
   * always stored, tokens and headers never. Default: none.
   */
  callerData?: readonly string[];
}

export interface TaskStart {
  readonly options: TaskOptions;
  readonly host: ModernRequest;
  readonly answers: RequestState['answers'];
  readonly requestCount: number;
  /** Present when another instance may run the call again. */
  readonly call: StoredCall | undefined;
}

/** Number of the run of the call that became a task. */
const firstRun = 1;
/** Ended tasks that the process remembers until their clients read them. */
const maxUnread = 1000;
/** Kind of the messages between instances: the id of a task that others have changed. */
const inboxKind = 'task';

/** Tasks of a server: those that this process runs, and those of other instances in the shared store. */
export abstract class Tasks {
  readonly callerData: readonly string[];
  readonly #instance: Instance;
  readonly #maxResultLength: number;
  readonly #running = new Map<string, { task: RunningTask; host: ModernRequest }>();
  /** Tools of ended tasks whose end no client has read, by task, where no other instance could answer. */
  readonly #unread = new Map<string, string | undefined>();
  readonly #kept: KeptTasks;
  readonly #stored: TaskStorage;
  readonly #resumable: ResumableRuns;

  constructor(instance: Instance, options: TasksOptions) {
    this.#instance = instance;
    this.#maxResultLength = options.maxResultLength ?? DEFAULT_MAX_TASK_RESULT;
    this.#kept = new KeptTasks(options);
    this.#stored = new TaskStorage(instance, this.#kept);
    this.callerData = options.callerData ?? [];
    this.#resumable = new ResumableRuns({
      instance,
      hasTools: () => this.resumes(),
      recover: (id) => this.#recoverById(id),
    });
    instance.onStart(() => this.#resumable.watch());
    instance.on<string>(inboxKind, (id) => void this.#running.get(id)?.task.check());
  }

  /** Returns whether calls of a tool may run again in this process; without a name, whether those of any tool. */
  protected abstract resumes(toolName?: string): boolean;
  protected abstract toRequest(call: StoredCall): ModernRequest;

  get runs(): number {
    return this.#running.size;
  }

  /** Continues tasks whose process has died, also when no request asks for them. */
  onListen(): void {
    if (this.resumes()) void this.#instance.start().catch(this.#instance.warn);
  }

  hasRoom(principal: string): boolean {
    return this.#kept.hasRoom(principal);
  }

  /**
   * Makes a run a task, and stores it.
   *
   * @param run - receives the task; settles with the result of the call as JSON
   * @returns the state of the task, once the store has it; rejects with the error of the store, and then the run is ended. `undefined` when
   *   a limit is reached
   */
  begin(start: TaskStart, run: (task: RunningTask) => Promise<string>): Promise<TaskRecord> | undefined {
    const { options, host, requestCount } = start;
    const { principal = '' } = host.caller;
    if (!this.hasRoom(principal)) return undefined;
    const { ttlMs } = options;
    const task = this.#createRun({ id: this.#stored.createId(), host, ttlMs, requestCount, run: firstRun });
    this.#kept.add(task.id, principal, ttlMs);
    const running = run(task);
    // The run may fail before the task is stored.
    running.catch(() => {});
    return this.#store(task, start, running);
  }

  async #store(
    task: RunningTask,
    { options, host, answers, call }: TaskStart,
    run: Promise<string>,
  ): Promise<TaskRecord> {
    const createdAt = new Date().toISOString();
    const instance = this.#instance;
    try {
      await instance.start();
      const record: TaskRecord = {
        taskId: task.id,
        status: 'working',
        createdAt,
        lastUpdatedAt: createdAt,
        ttlMs: options.ttlMs,
        pollIntervalMs: options.pollIntervalMs,
        owner: await digestOfOwner(host.caller.principal),
        creator: instance.id,
        instance: instance.id,
        run: firstRun,
        inputRequests: {},
        asked: Object.fromEntries(Object.entries(answers).map(([key, { question }]) => [key, question])),
        responses: {},
        answers,
        ...(call && { call }),
      };
      if (call) await this.#resumable.add(task.id, options.ttlMs);
      await this.#stored.create(record);
      this.#track(task, host, run, call !== undefined);
      return record;
    } catch (error) {
      this.#kept.delete(task.id);
      host.stop(error as Error);
      throw error;
    }
  }

  /**
   * Returns a task of a caller. A task whose process has died is taken over, if its call may run again, or fails.
   *
   * @throws ProtocolError -32602, the same for ids that are unknown, have expired, or belong to another caller
   */
  async find(id: unknown, principal: string): Promise<TaskRecord> {
    const record = await this.#read(id, principal);
    const current = record && (await this.#recover(record));
    if (current && hasEnded(current)) this.#unread.delete(current.taskId);
    if (!current) throw invalidParams('Unknown task: it does not exist, has expired, or belongs to another caller.');
    return current;
  }

  async update({ taskId }: TaskRecord, responses: Readonly<Record<string, unknown>>): Promise<void> {
    const changed = await this.#stored.change(taskId, (record) => addResponses(record, responses));
    if (changed?.isChanged) await this.#notify(changed.record);
  }

  async cancel({ taskId }: TaskRecord): Promise<void> {
    const changed = await this.#stored.change(taskId, (record) => endTask(record, { status: 'cancelled' }));
    if (changed?.isChanged) await this.#notify(changed.record);
  }

  async known(ids: readonly string[], principal: string): Promise<string[]> {
    const records = await Promise.all(ids.map((id) => this.#read(id, principal)));
    return ids.filter((_, index) => records[index] !== undefined);
  }

  /** Calls back with the state of a task: at once, and after every change. @returns a function that ends that */
  async watch(id: string, listener: (record: TaskRecord) => void): Promise<() => Promise<void>> {
    let lastVersion = 0;
    let reading: Promise<void> = Promise.resolve();
    const report = async (): Promise<void> => {
      const stored = await this.#stored.read(id);
      // Several changes may have been made before the first of them is read.
      if (!stored || stored.version === lastVersion) return;
      lastVersion = stored.version;
      listener(stored.record);
    };
    const onChange = (): void => {
      reading = reading
        .then(report)
        .catch((error: unknown) =>
          this.#instance.logger.warn(`The state of a task cannot be read: ${toErrorMessage(error)}`, error),
        );
    };
    const stop = await this.#stored.watch(id, onChange);
    onChange();
    return stop;
  }

  /** Whether clients still poll tasks that only this process can answer for. */
  get isAwaited(): boolean {
    return !this.#instance.isShared && (this.#unread.size > 0 || this.#running.size > 0);
  }

  /**
   * Waits for the tasks of this process. Those that have not ended in time are left to other instances, when their call may run
   * again; the others fail.
   */
  async close(graceMilliseconds: number): Promise<void> {
    this.#resumable.close();
    await until(() => this.#running.size === 0, graceMilliseconds);
    if (this.#unread.size > 0) {
      const tools = [...new Set(this.#unread.values())].join(', ');
      this.#instance.logger.warn(
        `The server ends, and the results of ${this.#unread.size} tasks were not read by their clients. Tools: ${tools}.`,
      );
    }
    const reason = 'The server was closed while the task was running. Call the tool again.';
    const release = async ({ task }: { task: RunningTask }): Promise<void> => {
      if (await task.release(reason)) await this.#resumable.release(task.id);
    };
    const releasing = Promise.all([...this.#running.values()].map(release));
    await withinTime(releasing, STORE_TIMEOUT, storeTimeout).catch((error: unknown) => {
      this.#instance.logger.warn(`Tasks were not released: ${toErrorMessage(error)}`, error);
      for (const { host } of this.#running.values()) host.stop(new DOMException(reason, 'AbortError'));
    });
  }

  /** Ends the tasks of a client over stdio that has disconnected. With a shared store another process can continue them. */
  onDisconnect(): void {
    if (this.#instance.isShared) return;
    for (const { task, host } of this.#running.values())
      if (host.caller.transport === 'stdio') void task.release('The client disconnected while the task was running.');
  }

  #createRun(options: Omit<RunningTaskOptions, 'storage' | 'logger'>): RunningTask {
    return new RunningTask({ ...options, storage: this.#stored, logger: this.#instance.logger });
  }

  #track(task: RunningTask, host: ModernRequest, run: Promise<string>, isResumable: boolean): void {
    task.start();
    // A run that another instance has taken over in between.
    void this.#running.get(task.id)?.task.check();
    this.#running.set(task.id, { task, host });
    void run
      .then(
        (result) => this.#toEnd(task.id, result),
        (error: unknown): TaskEnd => {
          const { code, message, data } = toProtocolError(this.#instance.logger, error);
          return { status: 'failed', error: { code, message, ...(data !== undefined && { data }) } };
        },
      )
      .then((end) => task.end(host.isDiscarded ? { status: 'cancelled' } : end))
      .then((hasEndedNow) => (hasEndedNow && isResumable ? this.#resumable.delete(task.id) : undefined))
      .finally(() => {
        const isGone = host.isDiscarded || host.caller.transport === 'stdio' || this.#instance.isShared;
        if (!isGone) setRecent(this.#unread, task.id, host.name, maxUnread);
        if (this.#running.get(task.id)?.task === task) this.#running.delete(task.id);
      });
  }

  #toEnd(id: string, result: string): TaskEnd {
    const maxResultLength = this.#maxResultLength;
    const fail = (code: string, reason: string): TaskEnd => {
      const message = `The result of the task has ${result.length} characters; ${reason}`;
      this.#instance.logger.warn(`${code}: ${message}`);
      return { status: 'failed', error: { code: errorCodes.internal, message, data: { code } } };
    };
    if (result.length > maxResultLength)
      return fail('TASK_RESULT_TOO_LONG', `this server stores at most ${maxResultLength}.`);
    const full = this.#kept.reserve(id, result.length);
    if (!full) return { status: 'completed', result };
    return fail(
      'TASK_RESULTS_FULL',
      `${Math.max(0, full.left)} are left of the limit of stored tasks (${full.name}). Call the tool again when other tasks have reached their ttlMs.`,
    );
  }

  async #read(id: unknown, principal: string): Promise<TaskRecord | undefined> {
    const stored = typeof id === 'string' ? await this.#stored.read(id) : undefined;
    return stored?.record.owner === (await digestOfOwner(principal)) ? stored.record : undefined;
  }

  async #recover(record: TaskRecord): Promise<TaskRecord | undefined> {
    const instance = this.#instance;
    const { taskId, instance: runner } = record;
    if (hasEnded(record) || (await instance.isAlive(runner))) return record;
    await instance.start();
    // One of several instances writes first; the others see its change.
    const changed = await this.#stored.change(taskId, (latest) => {
      if (hasEnded(latest) || latest.run !== record.run) return undefined;
      if (!latest.call) return endTask(latest, diedWithProcess);
      return { ...latest, instance: instance.id, run: latest.run + 1 };
    });
    // Another instance takes over from one that was closed meanwhile: it gives no sign of life.
    if (changed?.isChanged && changed.record.call && !this.#resumable.isClosed) {
      await this.#resumable.add(taskId, record.ttlMs);
      this.#resume(changed.record, changed.record.call);
    }
    return changed?.record;
  }

  #resume({ taskId: id, ttlMs, run }: TaskRecord, call: StoredCall): void {
    const host = this.toRequest(call);
    this.#kept.add(id, host.caller.principal ?? '', ttlMs);
    const task = this.#createRun({ id, host, ttlMs, requestCount: 0, run });
    this.#track(task, host, host.repeat(task), true);
  }

  /** Without a request, a task of a tool that only other instances have is left to them. */
  async #recoverById(id: string): Promise<{ hasEnded: boolean }> {
    const record = (await this.#stored.read(id))?.record;
    if (!record || hasEnded(record)) return { hasEnded: true };
    if (this.resumes(String(record.call?.params['name']))) await this.#recover(record);
    return { hasEnded: false };
  }

  /** Lets the run of a task notice a change: in this process at once, in another one soon. */
  async #notify({ taskId, instance: runner }: TaskRecord): Promise<void> {
    const instance = this.#instance;
    const running = this.#running.get(taskId);
    if (running) return running.task.check();
    // The change is stored; without the message the run notices it later.
    await instance
      .send(runner, inboxKind, taskId)
      .catch((error: unknown) => instance.logger.warn(`An instance was not notified: ${toErrorMessage(error)}`, error));
  }
}

const diedWithProcess: TaskEnd = {
  status: 'failed',
  error: { code: errorCodes.internal, message: 'The process that ran the task has ended. Call the tool again.' },
};

/** Identifies the caller of a task. A digest, because the principal may contain a token. */
function digestOfOwner(principal = ''): Promise<string> {
  return digestOf(['task', principal]);
}
