import { QuiverError } from '@quiver/core';

export function evaluationInvalid(message: string): QuiverError {
  return new QuiverError('EVALUATION_INVALID', message);
}

/** Checks a value of any origin. @throws `EVALUATION_INVALID` */
export function requireStore(store: unknown): void {
  if (typeof (store as { scan?: unknown } | undefined)?.scan !== 'function')
    throw evaluationInvalid('An evaluation needs a store: a vector store, such as a LocalVector.');
}
