import { toErrorMessage, type Logger } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import { redactToken } from './redact-token.js';

/** Result of a token validation. Unless `valid` is `true`, the request is rejected. */
export interface TokenValidationResult {
  valid: boolean;
  /**
   * OAuth error code of an invalid token. `temporarily_unavailable` responds with 503 and `server_error` with 500: the token may be
   * valid, but could not be checked. Every other code responds with 401. Default `invalid_token`.
   */
  error?: string;
  /** A sentence for the developer of the client. Must not contain the token. */
  errorDescription?: string;
  scopes?: string[];
  /** Subject of the token. Sessions are bound to it and the issuer. */
  subject?: string;
  /** Issuer of the token, where tokens of several authorization servers are accepted. */
  issuer?: string;
  /** The OAuth client that the token was issued to. */
  clientId?: string;
  /** Seconds since 1970. A time in the past rejects the token. */
  expiresAt?: number;
  /** All claims of the token. */
  claims?: Record<string, unknown>;
}

/**
 * Validates one bearer token. It may throw: the client then receives 500 without details, and the process continues.
 *
 * @param token - as the client sent it, one to 8192 characters of the bearer token alphabet
 * @param resource - the identifier of this server; a token for another audience must not be valid
 */
export type TokenValidator = (
  token: string,
  resource: string,
) => TokenValidationResult | PromiseLike<TokenValidationResult>;

/** Returns the result for an invalid token. */
export function invalidToken(errorDescription: string): TokenValidationResult {
  return { valid: false, error: 'invalid_token', errorDescription };
}

export interface ValidateTokenOptions {
  readonly validator: TokenValidator;
  readonly resource: string;
  /** Milliseconds that the validator has to settle. */
  readonly timeout: number;
  readonly logger: Logger;
}

/**
 * Calls a validator. Never rejects: a validator that throws, or returns something else than a result, counts as `server_error`, and one
 * that does not settle in time as `temporarily_unavailable`. Both are logged without the token.
 */
export async function validateToken(
  token: string,
  { validator, resource, timeout, logger }: ValidateTokenOptions,
): Promise<TokenValidationResult> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const result = validator(token, resource);
    if (typeof (result as PromiseLike<unknown> | undefined)?.then !== 'function') return requireResult(result);
    const deadline = new Promise<TokenValidationResult>((resolve) => {
      timer = setTimeout(resolve, timeout, timedOut);
    });
    const settled = await Promise.race([result, deadline]);
    if (settled !== timedOut) return requireResult(settled);
    logger.error(`The token validator did not settle within ${timeout} ms; the request was answered with 503.`);
    return timedOut;
  } catch (error) {
    logger.error(`The token validator failed: ${redactToken(toErrorMessage(error), token)}`);
    return { valid: false, error: 'server_error' };
  } finally {
    clearTimeout(timer);
  }
}

const timedOut: TokenValidationResult = { valid: false, error: 'temporarily_unavailable' };

/**
 * Accepts results in the documented form only. Scopes in one string would be searched as text, so that `notes:readonly` passed for
 * `notes:read`, and `valid` that is merely truthy is an accident.
 *
 * @throws `TypeError` that names the member, never its value
 */
function requireResult(result: unknown): TokenValidationResult {
  const invalid = (what: string): TypeError => new TypeError(`validateToken() must return ${what}.`);
  if (!isObject(result)) throw invalid('an object with `valid: true` or `valid: false`');
  const { valid, scopes, subject, expiresAt, claims } = result;
  if (typeof valid !== 'boolean') throw invalid('an object with `valid: true` or `valid: false`');
  for (const name of ['error', 'errorDescription', 'issuer', 'clientId'] as const) {
    if (result[name] !== undefined && typeof result[name] !== 'string') throw invalid(`\`${name}\` as text`);
  }
  if (subject !== undefined && (typeof subject !== 'string' || subject === '')) {
    throw invalid('`subject` as text that is not empty');
  }
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'))) {
    throw invalid('`scopes` as a list of texts');
  }
  if (expiresAt !== undefined && typeof expiresAt !== 'number') throw invalid('`expiresAt` as seconds since 1970');
  if (claims !== undefined && !isObject(claims)) throw invalid('`claims` as an object');
  return result as unknown as TokenValidationResult;
}
