import { createHash } from 'node:crypto';
import { getDefaultLogger, QuiverError, type Logger } from '@quiver/core';
import {
  unchecked,
  booleanValue,
  checkOptions,
  functionValue,
  loggerValue,
  type OptionChecks,
} from '@quiver/core/internal';
import { setRecent } from '../../../set-recent.js';
import { isObject } from '../../../protocol/json-rpc.js';
import { basicAuthorization } from '../../basic-authorization.js';
import { requireSecureUrl } from '../../secure-url.js';
import { limitedFetch } from '../../limited-fetch.js';
import { validateClaims } from '../validate-claims.js';
import { acceptRequests, type RequestValidator } from '../authentication.js';
import { invalidToken, unavailable, type TokenValidationResult, type TokenValidator } from '../token-validator.js';

/** Options of `createIntrospectionValidator()`. */
export interface IntrospectionOptions {
  /** Credentials of this server at the authorization server, sent as HTTP Basic. */
  clientId?: string;
  /** Secret of this server at the authorization server. */
  clientSecret?: string;
  /** Accepts only tokens of this issuer. Default: all that the endpoint accepts. */
  issuer?: string;
  /** Accepts tokens without `aud`. Only for authorization servers that serve nothing but this resource. Default `false`. */
  allowMissingAudience?: boolean;
  /** Timeout of a request in milliseconds. Default 5 000. */
  timeout?: number;
  /** Milliseconds that a valid result is cached, at most until the token expires: a revoked token lives that long. Default 30 000. */
  cacheTtl?: number;
  /** Results that are cached. The oldest is evicted. Default 1 000. */
  cacheSize?: number;
  /** Seconds that two clocks may differ. Default 30. */
  clockTolerance?: number;
  /** Receives failures without the token. Default: the default logger. */
  logger?: Logger;
  /** Your own fetch for introspection requests. */
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970. */
  now?: () => number;
}

const checks: OptionChecks<IntrospectionOptions> = {
  ...unchecked<IntrospectionOptions>()('clientId', 'clientSecret', 'issuer'),
  allowMissingAudience: booleanValue,
  ...unchecked<IntrospectionOptions>()('timeout', 'cacheTtl', 'cacheSize', 'clockTolerance'),
  logger: loggerValue,
  fetch: functionValue,
  now: functionValue,
};

/**
 * Returns a validator that sends tokens to the introspection endpoint of the authorization server. Parallel requests with one token
 * cause one introspection, and results are cached. Failures are `temporarily_unavailable` (503), never an invalid token.
 *
 * @throws `OAUTH_URL_INSECURE` when the endpoint is neither https nor a loopback address
 * @see [RFC 7662 – OAuth 2.0 Token Introspection](https://www.rfc-editor.org/rfc/rfc7662.html)
 *
 * @example
 * const validateToken = createIntrospectionValidator('https://auth.example.com/introspect', { clientId: 'server', clientSecret: 'secret' });
 */
export function createIntrospectionValidator(
  endpoint: string | URL,
  options: IntrospectionOptions = {},
): RequestValidator {
  checkOptions('createIntrospectionValidator', options, checks);
  const url = requireSecureUrl(endpoint, 'the introspection endpoint');
  const { cacheTtl = 30_000, cacheSize = 1000, now = Date.now, logger = getDefaultLogger() } = options;
  /** Results by the digest of resource and token: pending ones without an end, so that parallel requests share one. */
  const cache = new Map<string, { result: Promise<TokenValidationResult>; until: number }>();

  /** Outages are not cached, and invalid tokens for a sixth of the time. */
  const lifetimeOf = ({ valid, error, expiresAt }: TokenValidationResult): number => {
    if (!valid) return error === 'invalid_token' ? cacheTtl / 6 : 0;
    return expiresAt === undefined ? cacheTtl : Math.min(cacheTtl, expiresAt * 1000 - now());
  };

  const validate: TokenValidator = (token, resource) => {
    const key = createHash('sha256').update(`${resource}\n${token}`).digest('base64');
    const known = cache.get(key);
    if (known && known.until > now()) return known.result;
    const result = introspect(url, token, resource, { ...options, now, logger })
      .catch((error: unknown) => unavailable(`Token introspection at ${url.origin} failed`, error, token, logger))
      .then((found) => {
        entry.until = now() + lifetimeOf(found);
        return found;
      });
    const entry = { result, until: Number.POSITIVE_INFINITY };
    setRecent(cache, key, entry, cacheSize);
    return result;
  };
  return acceptRequests(validate, options.allowMissingAudience ? undefined : 'createIntrospectionValidator()');
}

async function introspect(
  url: URL,
  token: string,
  resource: string,
  options: IntrospectionOptions & { now: () => number; logger: Logger },
): Promise<TokenValidationResult> {
  const { fetch = globalThis.fetch, timeout = 5000, clockTolerance = 30, issuer, clientId } = options;
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    ...(clientId !== undefined && { authorization: basicAuthorization(clientId, options.clientSecret ?? '') }),
  };
  const body = new URLSearchParams({ token, token_type_hint: 'access_token' }).toString();
  const response = await limitedFetch(fetch, url, { method: 'POST', headers, body }, timeout);
  const { status } = response;
  if (status === 401 || status === 403) {
    options.logger.error(`The authorization server rejected the credentials for ${url.origin}: status ${status}.`);
    return { valid: false, error: 'server_error', errorDescription: 'Tokens cannot be checked' };
  }
  const claims: unknown = status === 200 ? await response.json() : undefined;
  if (!isObject(claims)) {
    throw new QuiverError('OAUTH_INTROSPECTION_FAILED', `The response is not a JSON object; its status is ${status}.`);
  }
  const { active, token_type: type } = claims;
  if (active !== true) return invalidToken('Token is not active');
  if (typeof type === 'string' && !/^(bearer|access_token)$/i.test(type)) {
    return invalidToken('Token is not a bearer token');
  }
  return validateClaims(claims, {
    resource,
    issuer,
    clockTolerance,
    allowMissingAudience: options.allowMissingAudience ?? false,
    allowMissingExpiry: true,
    now: options.now() / 1000,
  });
}
