import { QuiverError } from '@quiver/core';

export function evaluationInvalid(message: string, details?: Record<string, unknown>): QuiverError {
  return new QuiverError('EVALUATION_INVALID', message, details ? { details } : {});
}
