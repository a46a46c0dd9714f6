import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type { LoadedDocument, SkippedFile } from '../formats/document-loader.js';
import type { PageImage } from '../formats/pdf/scanned-page.js';
import type { ReadRequest } from '../formats/read-document.js';

/** Value of `workerData`, by which the program of the worker knows that the pool started it. */
export const workerMark = 'quiver-document-worker';

/** Message to the worker, which reads one file at a time. */
export type ToWorker =
  | { type: 'read'; request: ReadRequest; bytes: Uint8Array; hasOcr: boolean }
  /** Response to `documents`. */
  | { type: 'next' }
  /** Request for the images of the page with this call of `ocr`. */
  | { type: 'images'; call: number }
  /** Response to `recognize`. */
  | { type: 'recognized'; text: string }
  | { type: 'recognition failed'; hookError: number };

/** Message from the worker. */
export type FromWorker =
  /** The program has started. */
  | { type: 'ready' }
  | { type: 'skipped'; file: Omit<SkippedFile, 'error'>; error: SerializedError | undefined }
  /** Documents of the file, by their indexes, each with a part of its texts. The worker waits for `next` before it sends more. */
  | { type: 'documents'; documents: { index: number; document: LoadedDocument }[] }
  /** The file was read, or failed. Memory in bytes, with what is not reclaimed yet. */
  | { type: 'end'; error: SerializedError | undefined; usedMemory: number }
  | RecognitionMessage;

/** Message from the worker that belongs to a call of `ocr`. */
export type RecognitionMessage =
  | { type: 'recognize'; call: number; name: string; page: number }
  /** Response to `images`. */
  | { type: 'images'; call: number; images: PageImage[] }
  | { type: 'images failed'; call: number; error: SerializedError };

/** An error as data. Clones of errors lose their code and their class. */
export type SerializedError =
  | { type: 'error' | 'quiver error'; name: string; message: string; stack?: string | undefined; more: ErrorData }
  /** An error that a function of the caller threw on the other thread. */
  | { type: 'hook error'; hookError: number };

interface ErrorData {
  code?: string | undefined;
  details?: Record<string, unknown> | undefined;
  cause?: SerializedError | undefined;
}

/** Error of a function of the caller, which stays on the thread of the caller. */
export class HookError extends Error {
  readonly hookError: number;

  constructor(hookError: number) {
    super('A function of the caller failed.');
    this.hookError = hookError;
  }
}

/** Causes of causes are kept up to this depth. */
const maxCauses = 8;

export function serializeError(thrown: unknown, depth = 0): SerializedError {
  if (thrown instanceof HookError) return { type: 'hook error', hookError: thrown.hookError };
  const { name, stack, code, cause } = (thrown instanceof Error ? thrown : {}) as Error & { code?: unknown };
  const isQuiver = isQuiverError(thrown);
  return {
    type: isQuiver ? 'quiver error' : 'error',
    name: typeof name === 'string' ? name : 'Error',
    message: toErrorMessage(thrown),
    stack: typeof stack === 'string' ? stack : undefined,
    more: {
      code: typeof code === 'string' ? code : undefined,
      details: isQuiver ? thrown.details : undefined,
      cause: cause === undefined || depth >= maxCauses ? undefined : serializeError(cause, depth + 1),
    },
  };
}

/** @param hookErrors - errors of functions of the caller, by their numbers */
export function deserializeError(plain: SerializedError, hookErrors: readonly unknown[]): unknown {
  if (plain.type === 'hook error') return hookErrors[plain.hookError];
  const { name, message, stack, more } = plain;
  const cause = more.cause && deserializeError(more.cause, hookErrors);
  const error =
    plain.type === 'quiver error'
      ? new QuiverError(more.code ?? '', message, { cause, ...(more.details && { details: more.details }) })
      : Object.assign(new Error(message, cause === undefined ? {} : { cause }), {
          name,
          ...(more.code !== undefined && { code: more.code }),
        });
  if (stack !== undefined) error.stack = stack;
  return error;
}
