import { createHash } from 'node:crypto';
import { getDefaultLogger, QuiverError, toErrorMessage, type Logger } from '@quiver/core';
import { isObject } from '../../../protocol/json-rpc.js';
import { basicAuthorization } from '../../basic-authorization.js';
import { requireSecureUrl } from '../../secure-url.js';
import { readLimitedText } from '../../read-limited-text.js';
import { redactToken } from '../redact-token.js';
import { judgeClaims } from '../token-claims.js';
import { invalidToken, type TokenValidationResult, type TokenValidator } from '../token-validator.js';
import { createValidationCache } from './validation-cache.js';

export interface IntrospectionOptions {
  /** Credentials of this server at the authorization server, sent as HTTP Basic. */
  clientId?: string;
  clientSecret?: string;
  /** Accepts only tokens of this issuer. Default: whatever the endpoint vouches for. */
  issuer?: string;
  /** Accepts tokens without `aud`. Only for authorization servers that serve nothing but this resource. Default `false`. */
  allowMissingAudience?: boolean;
  /** Milliseconds the endpoint may take. Default 5 000. */
  timeout?: number;
  /** Milliseconds a good answer is remembered, at most until the token expires: a revoked token lives that long. Default 30 000. */
  cacheTtl?: number;
  /** Answers that are remembered. Default 1 000. */
  cacheSize?: number;
  /** Seconds that two clocks may differ. Default 30. */
  clockTolerance?: number;
  logger?: Logger;
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/**
 * Asks the authorization server about every token it has not just been asked about. Parallel requests with one token ask once.
 * An outage, an answer that is not JSON, or a redirect is `temporarily_unavailable` (503), never a bad token.
 *
 * @throws `OAUTH_URL_INSECURE` when the endpoint is neither https nor on this machine
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
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(timeout),
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(options.clientId !== undefined && {
        authorization: basicAuthorization(options.clientId, options.clientSecret ?? ''),
      }),
    },
    body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
  });
  if (response.status === 401 || response.status === 403) {
    await response.body?.cancel();
    options.logger.error(`The authorization server refused the credentials for ${url.origin}: ${response.status}.`);
    return { valid: false, error: 'server_error', errorDescription: 'Tokens cannot be checked' };
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new QuiverError('OAUTH_INTROSPECTION_FAILED', `The endpoint answered ${response.status}.`);
  }
  const answer: unknown = JSON.parse(await readLimitedText(response));
  if (!isObject(answer)) throw new QuiverError('OAUTH_INTROSPECTION_FAILED', 'The answer is not an object.');
  if (answer['active'] !== true) return invalidToken('Token is not active');
  const { token_type: type } = answer;
  if (typeof type === 'string' && !/^(bearer|access_token)$/i.test(type))
    return invalidToken('Token is not a bearer token');
  return judgeClaims(answer, {
    resource,
    issuer,
    clockTolerance,
    allowMissingAudience,
    allowMissingExpiry: true,
    now: options.now() / 1000,
  });
}
