import { QuiverError, type Logger } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import type { OAuthServerOptions } from './oauth-options.js';
import { createAuthorizer, createRequestAuthorizer, type RequestAuthorizer } from './request-authorizer.js';
import type { RequestHead } from './request-head.js';
import type { TokenValidationResult, TokenValidator } from './token-validator.js';

/** A request of which `authenticate` decides. */
export interface AuthenticationRequest {
  readonly method: string;
  readonly path: string;
  /** All headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bearer token of the `Authorization` header; absent when the client sent none. */
  readonly token?: string;
}

/**
 * The caller behind a request. All members but `scopes` become entries of the request context of calls, and `authInfo.extra.claims`.
 * `userId` is `authInfo.extra.subject`, to which sessions are bound.
 */
export interface CallerIdentity {
  userId: string | number;
  scopes?: string[];
  [key: string]: unknown;
}

type Authenticated = CallerIdentity | TokenValidationResult | undefined | null | false;

/** Returns the caller of a request; `undefined`, `null` or `false` rejects it with 401. An error responds with 500. */
export type Authenticate = (request: AuthenticationRequest) => Authenticated | PromiseLike<Authenticated>;

/** A validator of this package. It takes a token, or in its place the request that `authenticate` receives. */
export interface RequestValidator {
  (token: string, resource: string): TokenValidationResult | PromiseLike<TokenValidationResult>;
  (request: AuthenticationRequest): TokenValidationResult | PromiseLike<TokenValidationResult>;
}

/** Validators of this package, whose results depend on the token alone, so that they may be cached. */
const tokenValidators = new WeakMap<
  object,
  { readonly validator: TokenValidator; readonly needsResource: string | undefined }
>();

/** @param needsResource - name of the validator, when it compares the audience of tokens with the resource of the server */
export function acceptRequests(validator: TokenValidator, needsResource?: string): RequestValidator {
  const validate = (given: string | AuthenticationRequest, resource?: string): ReturnType<TokenValidator> => {
    const token = typeof given === 'string' ? given : given.token;
    if (token === undefined) return { valid: false };
    if (resource === undefined && needsResource !== undefined) throw resourceMissing(needsResource);
    // The cast: no other validator reads it.
    return validator(token, resource as string);
  };
  tokenValidators.set(validate, { validator, needsResource });
  return validate;
}

function resourceMissing(validator: string): QuiverError {
  return new QuiverError(
    'OPTIONS_INVALID',
    `${validator} has no resource to compare the audience of a token with. Pass authenticate: { resource, authorizationServers, validateToken }, or set its audience.`,
  );
}

/** @throws as `createOAuthMiddleware()` for OAuth options */
export function createAuthenticator(
  authenticate: Authenticate | OAuthServerOptions,
  logger: Logger,
): RequestAuthorizer {
  if (typeof authenticate === 'object') return createRequestAuthorizer({ oauth: authenticate, logger });
  const known = tokenValidators.get(authenticate);
  if (!known) return createAuthorizer({ oauth: {}, logger, validate: toValidation(authenticate) });
  if (known.needsResource !== undefined) throw resourceMissing(known.needsResource);
  return createAuthorizer({ oauth: { validateToken: known.validator }, logger });
}

function toValidation(authenticate: Authenticate): (head: RequestHead, token?: string) => Promise<unknown> {
  return async ({ method, paths, readHeaders }, token) => {
    const request = { method, path: paths[0] as string, headers: readHeaders(), ...(token !== undefined && { token }) };
    const found: unknown = await authenticate(request);
    if (found === undefined || found === null || found === false) return { valid: false };
    if (isObject(found) && 'valid' in found) return requireSubject(found, token);
    const { userId, scopes, ...values }: Record<string, unknown> = isObject(found) ? found : {};
    if (typeof userId !== 'number' && (typeof userId !== 'string' || userId === '')) {
      throw new TypeError('authenticate() must return an object with `userId`, a validation result, or undefined.');
    }
    const identity = { userId, ...values };
    return {
      valid: true,
      subject: String(userId),
      ...(scopes !== undefined && { scopes }),
      claims: identity,
      requestContext: identity,
    };
  };
}

/** @throws `TypeError` for a valid result without subject and token, which all callers would share */
function requireSubject(result: Record<string, unknown>, token: string | undefined): object {
  if (result['valid'] !== true || result['subject'] !== undefined || token !== undefined) return result;
  throw new TypeError('authenticate() must return a `subject` for a request without a token.');
}
