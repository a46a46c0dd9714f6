import { isQuiverError, type QuiverError } from '@quiver/core';

/** The error that says that the user has to sign in, if that is what went wrong: it may stand behind errors of the transport. */
export function signInRequired(error: unknown): QuiverError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (isQuiverError(at) && at.code === 'OAUTH_AUTHORIZATION_REQUIRED') return at;
  }
  return undefined;
}
