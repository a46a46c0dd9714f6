import { createHash } from 'node:crypto';
import { getDefaultLogger, QuiverError, toErrorMessage, type Logger } from '@quiver/core';
import { isObject } from '../../../protocol/json-rpc.js';
import { basicAuthorization } from '../../basic-authorization.js';
import { requireSecureUrl } from '../../secure-url.js';
import { limitedFetch } from '../../limited-fetch.js';
import { redactToken } from '../redact-token.js';
import { validateClaims } from '../validate-claims.js';
import { invalidToken, type TokenValidationResult, type TokenValidator } from '../token-validator.js';

export interface IntrospectionOptions {
  /** Credentials of this server at the authorization server, sent as HTTP Basic. */
  clientId?: string;
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
  logger?: Logger;
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/**
 * Returns a validator that sends tokens to the introspection endpoint of the authorization server. Parallel requests with one token
 * cause one request, and results are cached. An unavailable server, a response that is not JSON, or a redirect is
 * `temporarily_unavailable` (503), never an invalid token.
 *
 * @throws `OAUTH_URL_INSECURE` when the endpoint is neither https nor a loopback address
 * @see [RFC 7662 – OAuth 2.0 Token Introspection](https://www.rfc-editor.org/rfc/rfc7662.html)
 */
export function createIntrospectionValidator(
  endpoint: string | URL,
  options: IntrospectionOptions = {},
): TokenValidator {
  const url = requireSecureUrl(endpoint, 'the introspection endpoint');
  const { cacheTtl = 30_000, cacheSize = 1000, now = Date.now, logger = getDefaultLogger() } = options;
  const cache = createValidationCache({ ttl: cacheTtl, maxEntries: cacheSize, now });
  return (token, resource) => {
    const key = createHash('sha256').update(`${resource}\n${token}`).digest('base64');
    return cache(key, async () => {
      try {
        return await introspect(url, token, resource, { ...options, now, logger });
      } catch (error) {
        logger.error(`Token introspection at ${url.origin} failed: ${redactToken(toErrorMessage(error), token)}`);
        return {
          valid: false,
          error: 'temporarily_unavailable',
          errorDescription: 'Tokens cannot be checked right now',
        };
      }
    });
  };
}

async function introspect(
  url: URL,
  token: string,
  resource: string,
  options: IntrospectionOptions & { now: () => number; logger: Logger },
): Promise<TokenValidationResult> {
  const {
    fetch = globalThis.fetch,
    timeout = 5000,
    clockTolerance = 30,
    issuer,
    allowMissingAudience = false,
  } = options;
  const { clientId, clientSecret = '' } = options;
  const response = await limitedFetch(
    fetch,
    url,
    {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(clientId !== undefined && { authorization: basicAuthorization(clientId, clientSecret) }),
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
    },
    timeout,
  );
  const { status } = response;
  if (status === 401 || status === 403) {
    options.logger.error(`The authorization server rejected the credentials for ${url.origin}: status ${status}.`);
    return { valid: false, error: 'server_error', errorDescription: 'Tokens cannot be checked' };
  }
  if (status !== 200)
    throw new QuiverError('OAUTH_INTROSPECTION_FAILED', `The endpoint responded with status ${status}.`);
  const answer: unknown = await response.json();
  if (!isObject(answer)) throw new QuiverError('OAUTH_INTROSPECTION_FAILED', 'The response is not a JSON object.');
  if (answer['active'] !== true) return invalidToken('Token is not active');
  const { token_type: type } = answer;
  if (typeof type === 'string' && !/^(bearer|access_token)$/i.test(type))
    return invalidToken('Token is not a bearer token');
  return validateClaims(answer, {
    resource,
    issuer,
    clockTolerance,
    allowMissingAudience,
    allowMissingExpiry: true,
    now: options.now() / 1000,
  });
}

interface ValidationCacheOptions {
  /** Milliseconds that a valid result is cached; an invalid one for a sixth of it. */
  readonly ttl: number;
  readonly maxEntries: number;
  readonly now: () => number;
}

type Load = () => Promise<TokenValidationResult>;

/** Returns a cache of results that shares one request among parallel callers. Outages are not cached. */
function createValidationCache({
  ttl,
  maxEntries,
  now,
}: ValidationCacheOptions): (key: string, load: Load) => Promise<TokenValidationResult> {
  const entries = new Map<string, { result: TokenValidationResult; until: number }>();
  const running = new Map<string, Promise<TokenValidationResult>>();

  const store = (key: string, result: TokenValidationResult): void => {
    const lifetime = lifetimeOf(result);
    if (lifetime <= 0) return;
    entries.delete(key);
    entries.set(key, { result, until: now() + lifetime });
    const [oldest] = entries.keys();
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
  };

  const lifetimeOf = ({ valid, error, expiresAt }: TokenValidationResult): number => {
    if (!valid) return error === 'invalid_token' ? ttl / 6 : 0;
    return expiresAt === undefined ? ttl : Math.min(ttl, expiresAt * 1000 - now());
  };

  return (key, load) => {
    const known = entries.get(key);
    if (known && known.until > now()) return Promise.resolve(known.result);
    const shared = running.get(key);
    if (shared) return shared;
    const loading = load()
      .then((result) => {
        store(key, result);
        return result;
      })
      .finally(() => running.delete(key));
    running.set(key, loading);
    return loading;
  };
}
