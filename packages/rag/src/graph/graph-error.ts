import { QuiverError } from '@quiver/core';

export function graphInvalid(message: string, cause?: unknown): QuiverError {
  return new QuiverError('GRAPH_INVALID', message, { cause });
}
