import { QuiverError } from '@quiver/core';

/**
 * An error of the sign-in machinery with a code. Of what an authorization server said only the error code is kept: its description
 * may repeat secrets.
 */
export function explainAuthError(error: unknown, code: string, what: string): QuiverError {
  if (error instanceof QuiverError) return error;
  const reason = errorCodeOf(error);
  // Codes of OAuth are written small, those of the system in capitals.
  const isOAuth = reason !== undefined && /^[a-z_]+$/.test(reason);
  return new QuiverError(code, `${what} (${reasonOf(error)}).`, { details: isOAuth ? { error: reason } : {} });
}

/** What went wrong, in words that repeat nothing of an answer. */
export function reasonOf(error: unknown): string {
  const code = errorCodeOf(error);
  if (code !== undefined) return code;
  const { message, name } = error as { message?: unknown; name?: unknown };
  // Parsers quote what they cannot read, and with it a token.
  if (name === 'SyntaxError' || name === 'ZodError') return 'an answer that does not have the form it should';
  return `${String(name)}: ${String(message).slice(0, 200)}`;
}

function errorCodeOf(error: unknown): string | undefined {
  return codeOf(error) ?? codeOf((error as { cause?: unknown }).cause);
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
