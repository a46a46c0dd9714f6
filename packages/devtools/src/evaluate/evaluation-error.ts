import { QuiverError } from '@quiver/core';

/** Settings of `checkOptions` for functions that evaluate. */
export const evaluationSettings: { readonly code: string } = { code: 'EVALUATION_INVALID' };

export function evaluationInvalid(message: string): QuiverError {
  return new QuiverError(evaluationSettings.code, message);
}
