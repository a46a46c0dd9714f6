import { isObject } from '../../protocol/json-rpc.js';

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

/**
 * A validator's word counts only in the agreed form. Scopes in one text would be searched as text, so that `notes:readonly` passed for
 * `notes:read`, and `valid` that is merely truthy is an accident.
 *
 * @throws `TypeError` that names the member, never its value
 */
export function requireValidationResult(result: unknown): TokenValidationResult {
  const refuse = (what: string): TypeError => new TypeError(`validateToken() must return ${what}.`);
  if (!isObject(result)) throw refuse('an object with `valid: true` or `valid: false`');
  const { valid, scopes, subject, expiresAt, claims } = result;
  if (typeof valid !== 'boolean') throw refuse('an object with `valid: true` or `valid: false`');
  for (const name of ['error', 'errorDescription', 'issuer', 'clientId'] as const) {
    if (result[name] !== undefined && typeof result[name] !== 'string') throw refuse(`\`${name}\` as text`);
  }
  if (subject !== undefined && (typeof subject !== 'string' || subject === '')) {
    throw refuse('`subject` as text that is not empty');
  }
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'))) {
    throw refuse('`scopes` as a list of texts');
  }
  if (expiresAt !== undefined && typeof expiresAt !== 'number') throw refuse('`expiresAt` as seconds since 1970');
  if (claims !== undefined && !isObject(claims)) throw refuse('`claims` as an object');
  return result as unknown as TokenValidationResult;
}
