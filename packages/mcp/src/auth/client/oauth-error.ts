import { QuiverError } from '@quiver/core';

/** Returns an error with a code. It has the error code of a response, and no `cause`: descriptions and bodies may contain secrets. */
export function toOAuthError(error: unknown, code: string, what: string): QuiverError {
  if (error instanceof QuiverError) return error;
  const oauthCode = oauthErrorCodeOf(error);
  return new QuiverError(code, `${what} (${reasonOf(error)}).`, {
    details: oauthCode === undefined ? {} : { error: oauthCode },
  });
}

/** Returns the `error` of an OAuth response, such as `invalid_grant`. */
export function oauthErrorCodeOf(error: unknown): string | undefined {
  const { code, error: oauthCode } = (error ?? {}) as { code?: unknown; error?: unknown };
  const isResponse = code === 'OAUTH_RESPONSE_BODY_ERROR' || code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR';
  return isResponse && typeof oauthCode === 'string' && /^[a-z_]{1,40}$/.test(oauthCode) ? oauthCode : undefined;
}

/** Returns the cause of a failure without any text of a response. */
export function reasonOf(error: unknown): string {
  const oauthCode = oauthErrorCodeOf(error);
  if (oauthCode !== undefined) return oauthCode;
  const { code, name, message, cause } = (error ?? {}) as Record<'code' | 'name' | 'message' | 'cause', unknown>;
  // The messages of oauth4webapi are constant; what the server sent is in their cause.
  if (typeof code === 'string' && code.startsWith('OAUTH_')) return String(message);
  const { code: causeCode } = (cause ?? {}) as { code?: unknown };
  for (const system of [code, causeCode]) if (typeof system === 'string') return system;
  // Parsers and `Headers` quote what they reject, and with it a token or a secret.
  if (name === 'SyntaxError') return 'the response is malformed';
  if (/header value/i.test(String(message))) return 'a header value contains invalid characters';
  return `${String(name)}: ${String(message).slice(0, 200)}`;
}
