import { isQuiverError, toErrorMessage, untilAborted, type Logger } from '@quiver/core';
import type { ElicitOptions } from '@quiver/core/tools';
import { createBackOff } from '../../back-off.js';
import { monotonicNow, toTimerDelay } from '../../monotonic-now.js';
import { unref } from '../../unref.js';
import { errorCodes } from '../../protocol/constants.js';
import type { ContinuedRun, ProgressUpdate } from '../../server/continued-run.js';
import type { ModernRequest } from '../../server/eras/modern.js';
import { findFailure, invalidResult, requestTimedOut } from '../../server/client/client-request-errors.js';
import { digestOfRequest, type ClientRequest } from '../../server/client/client-requests.js';
import { MAX_INPUT_ROUNDS } from '../../server/limits.js';
import { TASK_CHECK_INTERVAL, TASK_PROGRESS_INTERVAL } from './task-limits.js';
import { repeatOutcome } from '../../server/client/request-state.js';
import { addRequest, endTask, hasEnded, removeRequests, type TaskEnd, type TaskRecord } from './task-record.js';
import type { ChangedTask, TaskChange, TaskStorage } from './task-storage.js';

export interface RunningTaskOptions {
  readonly id: string;
  /** Request whose run the task continues. */
  readonly host: ModernRequest;
  readonly storage: TaskStorage;
  /** Number of this run in the record. */
  readonly run: number;
  readonly ttlMs: number;
  readonly logger: Logger;
  /** Requests to the client that the run sent before it became a task. */
  readonly requestCount: number;
}

/**
 * The run of a task in this process: carries its requests for input, its progress and its result to the shared store. Nothing is stored
 * before {@link RunningTask.start}.
 */
export class RunningTask implements ContinuedRun {
  readonly id: string;
  readonly #options: RunningTaskOptions;
  readonly #isStored: Promise<void>;
  #markStored!: () => void;
  readonly #waiting = new Map<string, (response: unknown) => void>();
  readonly #keys = new Set<string>();
  #requestCount: number;
  #message: string | undefined;
  #isOver = false;
  #reportTimer: NodeJS.Timeout | undefined;
  #expiryTimer: NodeJS.Timeout | undefined;

  constructor(options: RunningTaskOptions) {
    this.id = options.id;
    this.#options = options;
    this.#requestCount = options.requestCount;
    this.#isStored = new Promise((resolve) => {
      this.#markStored = resolve;
    });
  }

  start(): void {
    const { host, ttlMs } = this.#options;
    this.#expiryTimer = unref(
      setTimeout(
        () => host.stop(new DOMException('The task has reached its ttlMs.', 'TimeoutError')),
        toTimerDelay(ttlMs),
      ),
    );
    this.#markStored();
  }

  /**
   * Requests input from the client, and waits for it. An invalid response is requested again, under another key.
   * Which client can provide it is not known before a request for the state of the task declares the capability.
   *
   * @throws `ELICITATION_NOT_SUPPORTED` (or `SAMPLING_…`, `ROOTS_…`, and so on below) when the client reports that it cannot provide it
   * @throws `ELICITATION_TIMEOUT`, `ELICITATION_FAILED` when the client reports a failure, `ELICITATION_ANSWER_INVALID` (but
   *   `SAMPLING_FAILED`, `ROOTS_FAILED`) after 10 invalid responses
   */
  async request<Result>(request: ClientRequest<Result>, options: ElicitOptions): Promise<Result> {
    this.#requestCount += 1;
    return this.requestAs(options.key ?? `input-${this.#requestCount}`, request, options);
  }

  /** As {@link RunningTask.request}, for a request that is counted, and has a key unless another request has it. */
  async requestAs<Result>(
    base: string,
    request: ClientRequest<Result>,
    { timeout, signal: given }: ElicitOptions,
  ): Promise<Result> {
    const { host } = this.#options;
    // It takes only whole numbers that fit a timer.
    const timedOut = timeout === undefined ? undefined : AbortSignal.timeout(Math.ceil(toTimerDelay(timeout)));
    const signal = AbortSignal.any([host.signal, given, timedOut].filter((each) => each !== undefined));
    try {
      for (let round = 1; round <= MAX_INPUT_ROUNDS; round += 1) {
        const result = await untilAborted(() => this.#ask(base, request, signal), signal);
        if (result !== undefined) return result;
      }
    } catch (error) {
      if (!timedOut?.aborted || signal.reason !== timedOut.reason) throw error;
      throw requestTimedOut(request, timeout);
    }
    throw invalidResult(request);
  }

  /** Writes the progress of the run as the status message, at most four times a second. */
  report({ progress, total, message }: ProgressUpdate): void {
    this.#message = message ?? (total === undefined ? String(progress) : `${progress} of ${total}`);
    if (!this.#reportTimer) this.#writeReport();
  }

  /** Looks for responses of the client and for the end of the task, which other requests may have written. */
  async check(): Promise<void> {
    await this.#isStored;
    const { storage, logger } = this.#options;
    try {
      this.#notice((await storage.read(this.id))?.record);
    } catch (error) {
      logger.warn(`The state of a task cannot be read: ${toErrorMessage(error)}`, error);
    }
  }

  /**
   * Writes the end of the task, unless it has one. While the store is unavailable, tries again until the task expires.
   *
   * @returns whether the task has ended; `false` when another run continues it
   */
  async end(end: TaskEnd): Promise<boolean> {
    const { logger, ttlMs } = this.#options;
    this.#isOver = true;
    const message = this.#message;
    let hasEndedNow = false;
    const deadline = monotonicNow() + ttlMs;
    const attempts = createBackOff({ first: 500 });
    for (;;) {
      try {
        const changed = await this.change((record) => {
          const ended = endTask(record, end);
          return ended && { ...ended, ...(message !== undefined && { statusMessage: message }) };
        });
        hasEndedNow = !changed || hasEnded(changed.record);
        break;
      } catch (error) {
        logger.error(`The end of a task cannot be stored: ${toErrorMessage(error)}`, error);
        attempts.failed();
        const wait = attempts.remaining();
        if (monotonicNow() + wait > deadline || isQuiverError(error, 'TASK_RECORD_INVALID')) break;
        await new Promise((resolve) => unref(setTimeout(resolve, wait)));
      }
    }
    clearTimeout(this.#expiryTimer);
    clearTimeout(this.#reportTimer);
    return hasEndedNow;
  }

  /**
   * Leaves the task to other instances, when its call may run again; otherwise it fails. Then ends the run.
   *
   * @returns whether another instance may continue the task
   */
  async release(reason: string): Promise<boolean> {
    const error = { code: errorCodes.internal, message: reason };
    const released = await this.change((record) =>
      record.call ? { ...record, instance: '', run: record.run + 1 } : endTask(record, { status: 'failed', error }),
    ).catch((problem: unknown) => {
      this.#options.logger.error(`A task cannot be released: ${toErrorMessage(problem)}`, problem);
      return undefined;
    });
    this.#options.host.stop(new DOMException(reason, 'AbortError'));
    return released?.isChanged === true && !hasEnded(released.record);
  }

  /** @returns the state of the task; `undefined` when it has expired. Nothing changes when another run has taken it over */
  async change(change: TaskChange): Promise<ChangedTask | undefined> {
    await this.#isStored;
    const { storage, run } = this.#options;
    const changed = await storage.change(this.id, (record) =>
      record.run === run && !hasEnded(record) ? change(record) : undefined,
    );
    this.#notice(changed?.record);
    return changed;
  }

  async #ask<Result>(base: string, request: ClientRequest<Result>, signal: AbortSignal): Promise<Result | undefined> {
    const digest = await digestOfRequest(request);
    let chosen: string | undefined;
    const changed = await this.change((record) => {
      // The change is made again when another writer was faster.
      if (chosen !== undefined) this.#keys.delete(chosen);
      const key = this.#chooseKey(base, digest, record);
      chosen = key;
      this.#keys.add(key);
      const isKnown = Object.hasOwn(record.responses, key) || Object.hasOwn(record.answers, key);
      return isKnown ? undefined : addRequest(record, key, request, digest);
    }).catch((error: unknown) => {
      if (chosen !== undefined) this.#keys.delete(chosen);
      throw error;
    });
    const key = chosen ?? base;
    if (signal.aborted) await this.#withdraw(key);
    signal.throwIfAborted();
    const { answers = {}, responses = {} }: Partial<TaskRecord> = changed?.record ?? {};
    // The cast: the result was parsed in an earlier input round, for the same request.
    const known = Object.hasOwn(answers, key) ? answers[key] : undefined;
    if (known) return repeatOutcome(known) as Result;
    const response = Object.hasOwn(responses, key) ? responses[key] : await this.#responseTo(key, signal);
    const failure = findFailure(request, response);
    if (failure) throw failure;
    return request.parse(response);
  }

  /** Returns a key that belongs to no other request: of this run, or of the run of an instance that died. */
  #chooseKey(base: string, digest: string, { asked }: TaskRecord): string {
    let key = base;
    for (let number = 2; this.#keys.has(key) || (Object.hasOwn(asked, key) && asked[key] !== digest); number += 1)
      key = `${base}-${number}`;
    return key;
  }

  #responseTo(key: string, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = unref(setInterval(() => void this.check(), TASK_CHECK_INTERVAL));
      const stop = (): void => {
        clearInterval(timer);
        this.#waiting.delete(key);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        stop();
        void this.#withdraw(key).then(() => reject(signal.reason as Error));
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.set(key, (response) => {
        stop();
        resolve(response);
      });
      // A response may have arrived since the request was stored.
      void this.check();
    });
  }

  async #withdraw(key: string): Promise<void> {
    await this.change((record) => removeRequests(record, [key])).catch((error: unknown) =>
      this.#options.logger.warn(`A request for input was not withdrawn: ${toErrorMessage(error)}`, error),
    );
  }

  #notice(record: TaskRecord | undefined): void {
    if (this.#isOver) return;
    const { host, run } = this.#options;
    if (record?.run !== run || hasEnded(record)) {
      const reason = record?.status === 'cancelled' ? 'was canceled by its client' : 'has expired or was taken over';
      host.stop(new DOMException(`The task ${reason}.`, 'AbortError'));
    } else {
      for (const [key, resolve] of this.#waiting)
        if (Object.hasOwn(record.responses, key)) resolve(record.responses[key]);
    }
  }

  #writeReport(): void {
    const message = this.#message;
    if (message === undefined) return;
    this.change((record) =>
      record.statusMessage === message ? undefined : { ...record, statusMessage: message },
    ).catch((error: unknown) =>
      this.#options.logger.warn(`The progress of a task was not stored: ${toErrorMessage(error)}`, error),
    );
    this.#reportTimer = unref(
      setTimeout(() => {
        this.#reportTimer = undefined;
        if (this.#message !== message) this.#writeReport();
      }, TASK_PROGRESS_INTERVAL),
    );
  }
}
