/** What a validator found out about a token. Unless `valid` is `true`, the caller is refused. */
export interface TokenValidationResult {
  valid: boolean;
  /**
   * Why not, as an OAuth error code. `temporarily_unavailable` answers 503 and `server_error` 500: the token may be good, but
   * nobody could tell. Everything else answers 401. Default `invalid_token`.
   */
  error?: string;
  /** A sentence for the developer of the client. Must not repeat the token. */
  errorDescription?: string;
  scopes?: string[];
  /** Who the token speaks for. Sessions are bound to it and the issuer. */
  subject?: string;
  /** Who issued it, where tokens of several authorization servers are accepted. */
  issuer?: string;
  /** The OAuth client that the token was issued to. */
  clientId?: string;
  /** Seconds since 1970. A time in the past refuses the token. */
  expiresAt?: number;
  /** Everything that the authorization server says about the token. */
  claims?: Record<string, unknown>;
}

/**
 * Decides about one bearer token. It may throw: the client is then answered 500 without a word about the cause, and the process
 * lives on.
 *
 * @param token - as the client sent it, one to 8192 characters of the bearer token alphabet
 * @param resource - the identifier of this server; a token for another audience must not be valid
 */
export type TokenValidator = (
  token: string,
  resource: string,
) => TokenValidationResult | PromiseLike<TokenValidationResult>;

/** A token that is not good, with the reason. */
export function invalidToken(errorDescription: string): TokenValidationResult {
  return { valid: false, error: 'invalid_token', errorDescription };
}
