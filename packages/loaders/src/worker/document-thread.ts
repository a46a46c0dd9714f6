import type { HeapInfo } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import { toErrorMessage, type QuiverError } from '@quiver/core';
import { limitExceeded, unreadableDocument, type LoadedDocument } from '../formats/document-loader.js';
import type { ReadHooks, ReadRequest } from '../formats/read-document.js';
import { deserializeError, type FromWorker, type ToWorker } from './messages.js';

/** Options of the reading of one file. */
export interface ReadInThreadOptions extends ReadHooks {
  /** In milliseconds. */
  readonly timeout: number;
  /** Whether the bytes may be detached from the calling thread. */
  readonly isOwned: boolean;
}

/**
 * Heap of a thread as a multiple of the memory that a file may take. V8 ends the process when one allocation exceeds the heap, for
 * example of an array that grows. Therefore the memory is measured, and the heap has room for what is allocated between two measurements.
 */
export const heapRatio = 4;
/** Part of the heap that a file may take when the process has a lower limit than `heapRatio` demands. */
const limitedHeapShare = 0.5;
/** Part of its memory above which an idle thread is replaced, so that the next file does not pay for what is not reclaimed yet. */
const idleShare = 0.25;
/** Milliseconds between two measurements. */
const measureInterval = 50;
/** The longest time of a timer. */
const maxTimeout = 2 ** 31 - 1;
export const megabyte = 1_048_576;

/** A worker thread that reads one file at a time. */
export class DocumentThread {
  readonly maxMemoryMb: number;
  /** Settles when the program of the thread has started, or could not. */
  readonly ready: Promise<void>;
  /** Whether the thread can read another file. */
  isReusable = true;
  readonly #worker: Worker;
  readonly #measureProcess: () => number;
  #onMessage: (message: FromWorker) => void = () => undefined;
  /** Called with what ended the thread. */
  #onEnd: (cause: unknown) => void = () => undefined;

  /** @param measureProcess - returns the memory of the process in bytes, without the heap of the calling thread */
  constructor(worker: Worker, maxMemoryMb: number, measureProcess: () => number) {
    this.#worker = worker;
    this.maxMemoryMb = maxMemoryMb;
    this.#measureProcess = measureProcess;
    const fail = (cause: unknown): void => {
      this.isReusable = false;
      this.#onEnd(cause);
    };
    worker.on('message', (message: FromWorker) => this.#onMessage(message));
    worker.on('messageerror', fail);
    worker.on('error', fail);
    worker.on('exit', (code) => fail(new Error(`the thread ended with the exit code ${code}`)));
    this.ready = new Promise((resolve, reject) => {
      this.#onMessage = () => resolve();
      this.#onEnd = reject;
    });
  }

  /** Lets the process end while the thread is idle. */
  rest(onEnd: () => void): void {
    this.#onMessage = () => undefined;
    this.#onEnd = onEnd;
    this.#worker.unref();
  }

  async end(): Promise<void> {
    this.isReusable = false;
    await this.#worker.terminate();
  }

  /** @throws as `loadDocument` */
  async read(
    bytes: Uint8Array,
    request: ReadRequest,
    { onSkip, signal, timeout, isOwned }: ReadInThreadOptions,
  ): Promise<LoadedDocument[]> {
    const { name } = request;
    const documents: LoadedDocument[] = [];
    const send = (message: ToWorker): void => this.#worker.postMessage(message, []);
    let release = (): void => undefined;
    const end = new Promise<void>((resolve, reject) => {
      const stop = (error: unknown): void => {
        this.isReusable = false;
        reject(error as Error);
      };
      const timer = setTimeout(() => stop(outOfTime(name, timeout)), Math.min(timeout, maxTimeout));
      const measuring = this.#watchMemory((maxMb) => stop(outOfMemory(name, maxMb)));
      const onAbort = (): void => stop(signal?.reason);
      signal?.addEventListener('abort', onAbort);
      release = () => {
        signal?.removeEventListener('abort', onAbort);
        clearInterval(measuring);
        clearTimeout(timer);
      };
      const receive = (message: FromWorker): void => {
        if (message.type === 'documents') {
          for (const { index, document } of message.documents) {
            const { docs } = (documents[index] ??= { ...document, docs: [] });
            for (const doc of document.docs) docs.push(doc);
          }
          send({ type: 'next' });
        } else if (message.type === 'skipped') {
          const { file, error } = message;
          onSkip(error ? { ...file, error: deserializeError(error) } : file);
        } else if (message.type === 'end') {
          this.isReusable = message.usedMemory < this.maxMemoryMb * megabyte * idleShare;
          if (message.error) reject(deserializeError(message.error) as Error);
          else resolve();
        }
      };
      this.#onMessage = (message) => {
        try {
          receive(message);
        } catch (error) {
          // A function of the caller failed.
          stop(error);
        }
      };
      this.#onEnd = (cause) => {
        const isOutOfMemory = (cause as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
        const problem = `its parser failed: ${toErrorMessage(cause)}.`;
        stop(isOutOfMemory ? outOfMemory(name, this.maxMemoryMb) : unreadableDocument(name, problem, cause));
      };
    });
    try {
      this.#worker.ref();
      const { buffer } = bytes;
      const isWhole = buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength;
      const sent = isOwned && isWhole ? bytes : new Uint8Array(bytes);
      const message: ToWorker = { type: 'read', request, bytes: sent };
      this.#worker.postMessage(message, [sent.buffer as ArrayBuffer]);
      await end;
      return documents;
    } finally {
      release();
    }
  }

  /** Measures the memory until the timer is cleared. */
  #watchMemory(onExceeded: (maxMb: number) => void): NodeJS.Timeout {
    const max = this.maxMemoryMb * megabyte;
    // Since Node 22.16, also of a busy thread. Before, only the growth of the process can be measured.
    const worker: { getHeapStatistics?: () => Promise<HeapInfo> } = this.#worker;
    const start = worker.getHeapStatistics ? 0 : this.#measureProcess();
    const measure = async (): Promise<void> => {
      const heap = await worker.getHeapStatistics?.();
      const used = heap ? heap.used_heap_size + heap.external_memory : this.#measureProcess() - start;
      const allowed = heap ? Math.min(max, heap.heap_size_limit * limitedHeapShare) : max;
      if (used > allowed) onExceeded(Math.floor(allowed / megabyte));
    };
    let isMeasuring = false;
    return setInterval(() => {
      if (isMeasuring) return;
      isMeasuring = true;
      measure()
        // The thread has ended.
        .catch(() => undefined)
        .finally(() => (isMeasuring = false));
    }, measureInterval);
  }
}

function outOfTime(name: string, timeout: number): QuiverError {
  const problem = `reading it takes more than ${timeout} milliseconds`;
  return limitExceeded(name, problem, { limit: 'time', max: timeout }, 'Raise the timeout if you trust the file');
}

function outOfMemory(name: string, max: number): QuiverError {
  const problem = `reading it takes more than ${max} MB of memory`;
  const remedy = 'Raise maxMemoryMb, and --max-old-space-size if the process has this option, if you trust the file';
  return limitExceeded(name, problem, { limit: 'memory', max }, remedy);
}
