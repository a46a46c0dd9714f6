import { QuiverError } from '@quiver/core';

/**
 * An error of the sign-in machinery with a code. Of what an authorization server said only the error code is kept: its description
 * may repeat secrets.
 */
export function explainAuthError(error: unknown, code: string, what: string): QuiverError {
  if (error instanceof QuiverError) return error;
  const { message, name } = error as { message?: unknown; name?: unknown };
  const reason = codeOf(error) ?? codeOf((error as { cause?: unknown }).cause);
  const text = reason ?? `${String(name)}: ${String(message).slice(0, 200)}`;
  // Codes of OAuth are written small, those of the system in capitals.
  const isOAuth = reason !== undefined && /^[a-z_]+$/.test(reason);
  return new QuiverError(code, `${what} (${text}).`, { details: isOAuth ? { error: reason } : {} });
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
