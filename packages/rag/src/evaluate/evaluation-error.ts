import { QuiverError } from '@quiver/core';

export function evaluationInvalid(message: string): QuiverError {
  return new QuiverError('EVALUATION_INVALID', message);
}
