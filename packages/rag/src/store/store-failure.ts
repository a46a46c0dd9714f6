import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';

export interface StoreCall {
  /** For messages, such as `PostgreSQL`. */
  readonly store: string;
  /** What is done, such as `querying the index 'x'`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

/** What to throw for an error of a store's client: our own errors and the reason of an abort stay as they are. */
export function toStoreFailure(
  error: unknown,
  { store, what, signal }: StoreCall,
  details?: Record<string, unknown>,
): unknown {
  if (isQuiverError(error) || (signal?.aborted && error === signal.reason)) return error;
  return new QuiverError('VECTOR_STORE_FAILED', `${store} failed at ${what}: ${toErrorMessage(error)}`, {
    cause: error,
    ...(details && { details }),
  });
}
