import { getDefaultLogger, QuiverError, toErrorMessage, untilAborted } from '@quiver/core';
import type { LoadedDocument } from './formats/document-loader.js';
import type { ReadHooks, ReadRequest } from './formats/read-document.js';
import { DocumentThread, heapRatio, megabyte, type ReadInThreadOptions } from './worker/document-thread.js';
import { workerMark } from './worker/messages.js';

/** Options of `readInWorker()`. */
export interface ReadInWorkerOptions extends ReadHooks, Pick<ReadInThreadOptions, 'isOwned'> {
  /** In milliseconds. Default 60,000. */
  readonly timeout: number | undefined;
  /** Default: half of the heap limit of the process. */
  readonly maxMemoryMb: number | undefined;
}

const defaultTimeout = 60_000;
/** Part of the heap limit of the process that a file may take by default. */
const defaultHeapShare = 0.5;
/** More memory than machines have. */
const highestMemoryMb = 1_000_000;
/** Number of files that are read at a time. */
const maxThreads = 2;
/** Milliseconds after which an idle thread is ended. */
const idleTime = 5_000;

/**
 * Reads a file in a worker thread. A thread is started for the first file, and reads one file at a time. While it is idle, it does not
 * keep the process running. A file that exceeds a limit, or is aborted, ends its thread and no other one.
 *
 * @returns `undefined` when worker threads are not available, which is logged once
 * @throws as `loadDocument`
 */
export function readInWorker(
  bytes: Uint8Array,
  request: ReadRequest,
  options: ReadInWorkerOptions,
): Promise<LoadedDocument[] | undefined> {
  return pool.read(bytes, request, options);
}

class DocumentThreadPool {
  /** Number of files that are being read. */
  #running = 0;
  /** Files that wait until another one has been read. */
  readonly #waiting: (() => void)[] = [];
  /** Idle threads, with the timers that end them. */
  readonly #idle = new Map<DocumentThread, NodeJS.Timeout>();
  #isReported = false;

  async read(
    bytes: Uint8Array,
    request: ReadRequest,
    options: ReadInWorkerOptions,
  ): Promise<LoadedDocument[] | undefined> {
    await this.#takeTurn(options.signal);
    const { timeout = defaultTimeout, maxMemoryMb } = options;
    let thread: DocumentThread | undefined;
    try {
      thread = await this.#findThread(maxMemoryMb).catch((cause: unknown) => this.#reportUnavailable(cause, options));
      options.signal?.throwIfAborted();
      return await thread?.read(bytes, request, { ...options, timeout });
    } finally {
      if (thread && !thread.isReusable) {
        // The caller does not wait for the end of the thread, but the next file does.
        void thread.end().finally(() => this.#passTurn());
      } else {
        if (thread) this.#keep(thread);
        this.#passTurn();
      }
    }
  }

  async #takeTurn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#running < maxThreads) {
      this.#running += 1;
      return;
    }
    let begin = (): void => undefined;
    const turn = new Promise<void>((resolve) => (begin = resolve));
    this.#waiting.push(begin);
    try {
      await untilAborted(() => turn, signal);
    } catch (error) {
      const index = this.#waiting.indexOf(begin);
      if (index === -1) this.#passTurn();
      else this.#waiting.splice(index, 1);
      throw error;
    }
  }

  #passTurn(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }

  /** Returns an idle thread with this limit, or starts one. */
  async #findThread(memory: number | undefined): Promise<DocumentThread> {
    const runtime = await loadRuntime();
    const maxMemoryMb = Math.min(memory ?? runtime.defaultMemoryMb, highestMemoryMb);
    const threads = [...this.#idle.keys()];
    const found = threads.find((thread) => thread.maxMemoryMb === maxMemoryMb);
    const taken = found ?? (this.#idle.size + this.#running > maxThreads ? threads[0] : undefined);
    if (taken) {
      clearTimeout(this.#idle.get(taken));
      this.#idle.delete(taken);
    }
    if (found) return found;
    await taken?.end();
    return startThread(maxMemoryMb, runtime);
  }

  #keep(thread: DocumentThread): void {
    const remove = (): void => void this.#idle.delete(thread);
    thread.rest(remove);
    const timer = setTimeout(() => {
      remove();
      void thread.end();
    }, idleTime);
    timer.unref();
    this.#idle.set(thread, timer);
  }

  #reportUnavailable(cause: unknown, { timeout, maxMemoryMb }: ReadInWorkerOptions): undefined {
    const problem = `The worker thread that reads files cannot be started: ${toErrorMessage(cause)}`;
    const remedy =
      'In a bundle, add @quiver/loaders/worker as the file document-worker.js next to the bundle, or leave @quiver/loaders out of it';
    if (timeout !== undefined || maxMemoryMb !== undefined) {
      throw new QuiverError(
        'DOCUMENT_WORKER_UNAVAILABLE',
        `${problem}. Without it, timeout and maxMemoryMb have no effect. ${remedy}, or leave the options out.`,
        { cause },
      );
    }
    if (this.#isReported) return;
    this.#isReported = true;
    getDefaultLogger().warn(
      `${problem}. Files are read on the main thread, without limits of time and memory. ${remedy}.`,
    );
  }
}

/** Threads that are reused: at most `maxThreads`, each until it is idle for `idleTime`. */
const pool = new DocumentThreadPool();

interface Runtime {
  readonly Worker: typeof import('node:worker_threads').Worker;
  readonly process: typeof import('node:process');
  readonly defaultMemoryMb: number;
}

async function loadRuntime(): Promise<Runtime> {
  // Not every runtime has these modules.
  const [{ Worker }, { default: process }, { getHeapStatistics }] = await Promise.all([
    import('node:worker_threads'),
    import('node:process'),
    import('node:v8'),
  ]);
  const { heap_size_limit: limit } = getHeapStatistics();
  return { Worker, process, defaultMemoryMb: Math.floor((limit * defaultHeapShare) / megabyte) };
}

async function startThread(maxMemoryMb: number, { Worker, process }: Runtime): Promise<DocumentThread> {
  const execArgv = process.execArgv.filter((argument) => !argument.startsWith('--input-type'));
  const worker = new Worker(new URL('./document-worker.js', import.meta.url), {
    name: 'quiver documents',
    workerData: workerMark,
    // Programs without a file pass an option that threads with a file reject.
    ...(execArgv.length < process.execArgv.length && { execArgv }),
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb * heapRatio },
  });
  const measureProcess = (): number => {
    const { rss, heapTotal, external } = process.memoryUsage();
    return rss - heapTotal - external;
  };
  const thread = new DocumentThread(worker, maxMemoryMb, measureProcess);
  await thread.ready;
  return thread;
}
