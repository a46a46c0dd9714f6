export type BearerToken =
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'token'; readonly token: string };

const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;
const maxTokenLength = 8192;

/**
 * Parses the bearer token of a request. More than one place, or more than one value, is an error.
 *
 * @param authorization - every `Authorization` header, in order
 * @param query - the query of the request; a token in it is never used
 * @see [RFC 6750, section 2.1 – Authorization Request Header Field](https://www.rfc-editor.org/rfc/rfc6750.html#section-2.1)
 */
export function parseBearerToken(authorization: readonly string[], query: string): BearerToken {
  const [header, ...more] = authorization;
  if (more.length > 0) return { kind: 'malformed', reason: 'More than one Authorization header' };
  if (header === undefined || !/^bearer(\s|$)/i.test(header)) return { kind: 'none' };
  const token = bearer.exec(header)?.[1];
  if (token === undefined) return { kind: 'malformed', reason: 'The Authorization header is malformed' };
  if (new URLSearchParams(query).has('access_token')) {
    return { kind: 'malformed', reason: 'More than one way of sending a token' };
  }
  // Real tokens stay below this; a client must not make the server hash and decode megabytes.
  return token.length > maxTokenLength ? { kind: 'token', token: '' } : { kind: 'token', token };
}

/** Returns the token of an `Authorization` header, or `undefined`. */
export function extractBearerToken(header: string | null | undefined): string | undefined {
  const found = parseBearerToken(typeof header === 'string' ? [header] : [], '');
  return found.kind === 'token' && found.token !== '' ? found.token : undefined;
}
