import { getDefaultLogger, QuiverError, toErrorMessage, type Logger } from '@quiver/core';
import {
  unchecked,
  booleanValue,
  checkOptions,
  functionValue,
  loggerValue,
  type OptionChecks,
} from '@quiver/core/internal';
import type { createRemoteJWKSet, JWTVerifyGetKey, ProtectedHeaderParameters } from 'jose';
import { limitedFetch } from '../../limited-fetch.js';
import { requireSecureUrl } from '../../secure-url.js';
import { validateClaims } from '../validate-claims.js';
import { acceptRequests, type RequestValidator } from '../authentication.js';
import { invalidToken, unavailable, type TokenValidator } from '../token-validator.js';

/** Options of `createJwtValidator()`. */
export interface JwtValidatorOptions {
  /** The `iss` of every token, as an exact string. */
  issuer: string;
  /** URL of the issuer's key set. */
  jwksUri: string | URL;
  /** The `aud` of the tokens. Default: the `resource` of the server. */
  audience?: string;
  /** Signature algorithms that are accepted; only public-key ones. Default RS256, PS256, ES256, ES384, EdDSA and Ed25519. */
  algorithms?: readonly string[];
  /** Accepts tokens that never expire. Default `false`. */
  allowMissingExpiry?: boolean;
  /** Seconds that two clocks may differ. Default 30. */
  clockTolerance?: number;
  /** Timeout of a request for keys in milliseconds. Default 5 000. */
  timeout?: number;
  /** Milliseconds between two requests for keys, however many tokens name unknown ones. Default 30 000. */
  cooldown?: number;
  /** Milliseconds after which known keys are fetched again. They remain in use while that fails. Default 600 000. */
  maxKeyAge?: number;
  /** Receives failures without the token. Default: the default logger. */
  logger?: Logger;
  /** Your own fetch for the key set. */
  fetch?: (url: string, init?: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970. */
  now?: () => number;
}

const defaultAlgorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];
const publicKeyAlgorithm = /^((RS|PS|ES)(256|384|512)|EdDSA|Ed25519)$/;

/** Codes of errors that the token has caused, and not the key set. */
const badTokenCode = /^ERR_(JWT|JWS|JOSE_(ALG|NOT))_|^ERR_JWKS_(NO|MULTIPLE)_MATCHING_KEY/;

const accessTokenType = /^(application\/)?(at\+)?jwt$/i;

/** Header members that name the token's own key. */
const keyHints = ['jku', 'x5u', 'jwk', 'x5c'];

const checks: OptionChecks<JwtValidatorOptions> = {
  ...unchecked<JwtValidatorOptions>()('issuer', 'jwksUri', 'audience', 'algorithms'),
  allowMissingExpiry: booleanValue,
  ...unchecked<JwtValidatorOptions>()('clockTolerance', 'timeout', 'cooldown', 'maxKeyAge'),
  logger: loggerValue,
  fetch: functionValue,
  now: functionValue,
};

/**
 * Returns a validator that checks JWT access tokens with the keys of their issuer. An unknown key id fetches the key set again, at most
 * once per `cooldown`. The server need not check a token again until the keys change, or are due to be fetched again.
 *
 * @throws `OAUTH_ISSUER_MISSING`, `OAUTH_ALGORITHM_UNSAFE`, `OAUTH_URL_INSECURE`
 * @see [RFC 9068 – JWT Profile for Access Tokens](https://www.rfc-editor.org/rfc/rfc9068.html)
 * @see [RFC 8725 – JWT Best Current Practices](https://www.rfc-editor.org/rfc/rfc8725.html)
 *
 * @example
 * const validateToken = createJwtValidator({ issuer: 'https://auth.example.com', jwksUri: 'https://auth.example.com/jwks' });
 */
export function createJwtValidator(options: JwtValidatorOptions): RequestValidator {
  checkOptions('createJwtValidator', options, checks);
  const { algorithms = defaultAlgorithms, now = Date.now, logger = getDefaultLogger() } = options;
  const unsafe = algorithms.find((algorithm) => !publicKeyAlgorithm.test(algorithm));
  if (unsafe !== undefined || algorithms.length === 0) {
    throw new QuiverError(
      'OAUTH_ALGORITHM_UNSAFE',
      `createJwtValidator() accepts public-key algorithms such as RS256 or ES256, not ${unsafe ?? 'an empty list'}.`,
    );
  }
  if (typeof options.issuer !== 'string' || options.issuer === '') {
    throw new QuiverError(
      'OAUTH_ISSUER_MISSING',
      'createJwtValidator() needs issuer, the exact iss of the tokens that are accepted, such as https://auth.example.com.',
    );
  }
  const keys = createKeySet(requireSecureUrl(options.jwksUri, 'the key set'), options);
  const { issuer, allowMissingExpiry = false, clockTolerance = 30 } = options;
  const validate: TokenValidator = async (token, resource) => {
    // Loaded with the first token: most programs that import this package check none.
    const { base64url, decodeProtectedHeader, jwtVerify } = await import('jose');
    let header: ProtectedHeaderParameters;
    try {
      header = decodeProtectedHeader(token);
      // RFC 7515, section 2: each token has one spelling. Lists of revoked tokens compare texts.
      if (token.split('.').some((part) => base64url.encode(base64url.decode(part)) !== part))
        return invalidToken('Token is not encoded canonically');
    } catch {
      return invalidToken('Token is not a signed JWT');
    }
    // Checked before any key is fetched. RFC 8725, section 3.11: other types of token are not access tokens.
    const { typ } = header;
    if (keyHints.some((name) => name in header)) return invalidToken('Token names its own key');
    if (typ !== undefined && !accessTokenType.test(typ)) return invalidToken('Token is not an access token');
    // Before the check: keys that change during it end the result.
    const isCurrent = keys.watch();
    try {
      const time = now();
      const { payload } = await jwtVerify(token, keys.find, {
        algorithms: [...algorithms],
        clockTolerance,
        currentDate: new Date(time),
      });
      const result = validateClaims(payload, {
        resource: options.audience ?? resource,
        issuer,
        clockTolerance,
        allowMissingAudience: false,
        allowMissingExpiry,
        now: time / 1000,
      });
      return { ...result, cacheFor: Number.POSITIVE_INFINITY, isCurrent };
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'ERR_JWT_EXPIRED') return invalidToken('Token has expired');
      if (badTokenCode.test(String(code))) return invalidToken('Token signature or claims are not valid');
      return unavailable('The keys of the authorization server cannot be fetched', error, token, logger);
    }
  };
  return acceptRequests(validate, options.audience === undefined ? 'createJwtValidator()' : undefined);
}

interface KeySet {
  readonly find: JWTVerifyGetKey;
  /** Returns a function that says whether the keys are still those of now, and recent. */
  watch(): () => boolean;
}

/**
 * Returns the keys behind a URL. Fetches them when there are none, when they are old, and when a token names an unknown key; never
 * twice within the cooldown, whether the last attempt succeeded or not. Known keys outlive an outage.
 */
function createKeySet(url: URL, options: JwtValidatorOptions): KeySet {
  const { timeout = 5000, cooldown = 30_000, maxKeyAge = 600_000, fetch = globalThis.fetch } = options;
  const { now = Date.now, logger = getDefaultLogger() } = options;
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  let loadedAt: number | undefined;
  /** The loaded keys as text. */
  let loaded: string | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const refresh = async (): Promise<void> => {
    const jose = await import('jose');
    keys ??= jose.createRemoteJWKSet(url, {
      // The times of the library end the use of known keys, and allow a request per token while there are none.
      cacheMaxAge: Number.POSITIVE_INFINITY,
      cooldownDuration: Number.POSITIVE_INFINITY,
      [jose.customFetch]: (to, init) => limitedFetch((target, more) => fetch(String(target), more), to, init, timeout),
    });
    if (!keys.reloading && now() - triedAt < cooldown) return;
    if (!keys.reloading) triedAt = now();
    try {
      await keys.reload();
      loadedAt = now();
      loaded = JSON.stringify(keys.jwks());
    } catch (error) {
      if (loadedAt === undefined) throw error;
      const reason = toErrorMessage(error);
      logger.warn(`The key set at ${url.origin} cannot be refreshed; the known keys remain in use: ${reason}`);
    }
  };

  const isRecent = (): boolean => loadedAt !== undefined && now() - loadedAt <= maxKeyAge;
  const find: JWTVerifyGetKey = async (header, token) => {
    if (!isRecent()) await refresh();
    if (!keys || loadedAt === undefined) {
      throw new QuiverError('OAUTH_KEYS_UNAVAILABLE', `The key set at ${url.origin} was not available a moment ago.`);
    }
    try {
      return await keys(header, token);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error;
      await refresh();
      return keys(header, token);
    }
  };
  const watch: KeySet['watch'] = () => {
    const known = loaded;
    return () => loaded === known && isRecent();
  };
  return { find, watch };
}
