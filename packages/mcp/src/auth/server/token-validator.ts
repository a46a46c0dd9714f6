import { toErrorMessage, withinTime, type Logger } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import { redactToken } from '../redact-token.js';

/** Result of a token validation. Unless `valid` is `true`, the request is rejected. */
export interface TokenValidationResult {
  valid: boolean;
  /** OAuth error code. `temporarily_unavailable` (503) and `server_error` (500): not checked. Default `invalid_token` (401). */
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
  /** Entries with which the request context of calls begins, such as a tenant. Default none: claims are not among them. */
  requestContext?: Record<string, unknown>;
  /**
   * Milliseconds for which a valid result holds for further requests with the token, at most until `expiresAt` and the `cacheTtl` of the
   * server. Default 0: each request is validated. Requests share the result, whose lists and plain objects are frozen.
   */
  cacheFor?: number;
  /** Called before a cached result is used. Unless it returns `true`, the token is validated again, for example after its key was withdrawn. */
  isCurrent?: () => boolean;
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

export function invalidToken(errorDescription: string): TokenValidationResult {
  return { valid: false, error: 'invalid_token', errorDescription };
}

/** Returns the result for a token that cannot be checked now, and logs the reason without the token. */
export function unavailable(what: string, error: unknown, token: string, logger: Logger): TokenValidationResult {
  logger.error(`${what}: ${redactToken(toErrorMessage(error), token)}`);
  return { valid: false, error: 'temporarily_unavailable', errorDescription: 'Tokens cannot be checked right now' };
}

export interface ValidationOptions {
  /** Token that errors must not quote. */
  readonly token: string;
  /** Milliseconds that the validator has to settle. */
  readonly timeout: number;
  readonly logger: Logger;
}

/** Error of every validator that does not settle in time: the stack of a new one would cost each request 4 µs. */
const late = new Error('The token validator did not settle in time.');

/** Calls a validator and checks its result. Never rejects: failures are logged without the token, and become results. */
export async function settleValidation(
  validate: () => unknown,
  { token, timeout, logger }: ValidationOptions,
): Promise<TokenValidationResult> {
  try {
    const result = validate();
    // A timer for what is known already would take half of the time.
    const isPending = typeof (result as PromiseLike<unknown> | undefined)?.then === 'function';
    return requireResult(isPending ? await withinTime(Promise.resolve(result), timeout, () => late) : result);
  } catch (error) {
    if (error === late) {
      logger.error(`The token validator did not settle within ${timeout} ms; the request was answered with 503.`);
      return { valid: false, error: 'temporarily_unavailable' };
    }
    logger.error(`The token validator failed: ${redactToken(toErrorMessage(error), token)}`);
    return { valid: false, error: 'server_error' };
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** The optional members of a result: their check, and their form in words. */
const members: Readonly<Record<string, readonly [check: (value: unknown) => boolean, form: string]>> = {
  error: [isText, 'as text'],
  errorDescription: [isText, 'as text'],
  issuer: [isText, 'as text'],
  clientId: [isText, 'as text'],
  subject: [(value) => isText(value) && value !== '', 'as text that is not empty'],
  scopes: [(value) => Array.isArray(value) && value.every(isText), 'as a list of texts'],
  expiresAt: [(value) => typeof value === 'number', 'as seconds since 1970'],
  claims: [isObject, 'as an object'],
  requestContext: [isObject, 'as an object'],
  cacheFor: [(value) => typeof value === 'number' && value >= 0, 'as milliseconds'],
  isCurrent: [(value) => typeof value === 'function', 'as a function'],
};

/**
 * Accepts results in the documented form only. Scopes in one string would be searched as text, so that `notes:readonly` passed for
 * `notes:read`, and `valid` that is merely truthy is an accident.
 *
 * @throws `TypeError` that names the member, never its value
 */
function requireResult(result: unknown): TokenValidationResult {
  if (!isObject(result) || typeof result['valid'] !== 'boolean') {
    throw new TypeError('validateToken() must return an object with `valid: true` or `valid: false`.');
  }
  for (const [name, [check, form]] of Object.entries(members)) {
    if (result[name] === undefined || check(result[name])) continue;
    throw new TypeError(`validateToken() must return \`${name}\` ${form}.`);
  }
  return result as unknown as TokenValidationResult;
}
