import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type { LoadedDocument, SkippedFile } from '../formats/document-loader.js';
import type { ReadRequest } from '../formats/read-document.js';

/** Value of `workerData`, by which the program of the worker knows that the pool started it. */
export const workerMark = 'quiver-document-worker';

/** Message to the worker, which reads one file at a time. */
export type ToWorker =
  | { type: 'read'; request: ReadRequest; bytes: Uint8Array }
  /** Response to `documents`. */
  | { type: 'next' };

/** Message from the worker. */
export type FromWorker =
  /** The program has started. */
  | { type: 'ready' }
  | { type: 'skipped'; file: Omit<SkippedFile, 'error'>; error: SerializedError | undefined }
  /** Documents of the file, by their indexes, each with a part of its texts. The worker waits for `next` before it sends more. */
  | { type: 'documents'; documents: { index: number; document: LoadedDocument }[] }
  /** The file was read, or failed. Memory in bytes, with what is not reclaimed yet. */
  | { type: 'end'; error: SerializedError | undefined; usedMemory: number };

/** An error as data. Clones of errors lose their code and their class. */
export interface SerializedError {
  isQuiver: boolean;
  name: string;
  message: string;
  stack: string | undefined;
  code: string | undefined;
  details: Record<string, unknown> | undefined;
  cause: SerializedError | undefined;
}

/** Causes of causes are kept up to this depth. */
const maxCauses = 8;

export function serializeError(thrown: unknown, depth = 0): SerializedError {
  const { name, stack, code, cause } = (thrown instanceof Error ? thrown : {}) as Error & { code?: unknown };
  const isQuiver = isQuiverError(thrown);
  return {
    isQuiver,
    name: typeof name === 'string' ? name : 'Error',
    message: toErrorMessage(thrown),
    stack: typeof stack === 'string' ? stack : undefined,
    code: typeof code === 'string' ? code : undefined,
    details: isQuiver ? thrown.details : undefined,
    cause: cause === undefined || depth >= maxCauses ? undefined : serializeError(cause, depth + 1),
  };
}

export function deserializeError({
  isQuiver,
  name,
  message,
  stack,
  code,
  details,
  ...plain
}: SerializedError): unknown {
  const cause = plain.cause && deserializeError(plain.cause);
  const error = isQuiver
    ? new QuiverError(code ?? '', message, { cause, ...(details && { details }) })
    : Object.assign(new Error(message, cause === undefined ? {} : { cause }), { name, ...(code && { code }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}
