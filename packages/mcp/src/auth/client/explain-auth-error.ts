import { QuiverError } from '@quiver/core';

/**
 * An error of the sign-in machinery with a code. Of what an authorization server said only the error code is kept: its description
 * may repeat secrets.
 */
export function explainAuthError(error: unknown, code: string, what: string): QuiverError {
  if (error instanceof QuiverError) return error;
  const { code: reason, message, name } = error as { code?: unknown; message?: unknown; name?: unknown };
  const isOAuth = typeof reason === 'string';
  const text = isOAuth ? reason : `${String(name)}: ${String(message).slice(0, 200)}`;
  return new QuiverError(code, `${what} (${text}).`, { details: isOAuth ? { error: reason } : {} });
}
