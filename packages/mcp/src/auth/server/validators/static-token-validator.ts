import { createHash, timingSafeEqual } from 'node:crypto';
import { QuiverError } from '@quiver/core';
import { unchecked, checkOptions, type OptionChecks, stringList, valueThat } from '@quiver/core/internal';
import { acceptRequests, type RequestValidator } from '../authentication.js';
import { invalidToken } from '../token-validator.js';

/** A token and its subject. */
export interface StaticToken {
  token: string;
  subject?: string;
  /** Default `['mcp:read', 'mcp:write']`. */
  scopes?: string[];
  /** Data about the caller, such as a tenant. Tools find them in their request context, and as `authInfo.extra.claims`. */
  claims?: Readonly<Record<string, unknown>>;
}

/** Values are checked below: messages must not quote a token. */
const checks: OptionChecks<StaticToken> = {
  ...unchecked<StaticToken>()('token', 'subject'),
  scopes: stringList,
  claims: valueThat((value) => typeof value === 'object' && value !== null, 'an object'),
};

/**
 * Returns a validator that accepts the given tokens: for tests, and for a few trusted programs. Every token is compared, as a digest
 * and in constant time, so that responses reveal nothing about similar tokens.
 *
 * @throws `OAUTH_TOKENS_MISSING` when no token is given, or an empty one
 *
 * @example
 * const validateToken = createStaticTokenValidator([
 *   { token: 'a-long-random-token', subject: 'nightly-report', scopes: ['reports:read'], claims: { tenant: 'acme' } },
 * ]);
 */
export function createStaticTokenValidator(tokens: readonly (string | StaticToken)[]): RequestValidator {
  if (!Array.isArray(tokens)) throw missing('they are not a list of texts or of { token, subject, scopes, claims }');
  const known = tokens.map((entry) => {
    if (typeof entry === 'object') checkOptions('createStaticTokenValidator', entry, checks);
    const given: StaticToken = typeof entry === 'string' ? { token: entry } : entry;
    const { token, subject, scopes = ['mcp:read', 'mcp:write'], claims } = given;
    if (typeof token !== 'string' || token.trim() === '') throw missing('one of them is empty');
    return { digest: digestOf(token), subject, scopes, claims };
  });
  if (known.length === 0) throw missing('the list is empty');
  return acceptRequests((token) => {
    const digest = digestOf(token);
    let found: (typeof known)[number] | undefined;
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry;
    if (!found) return invalidToken('Token not recognized');
    const { scopes, subject } = found;
    const claims = found.claims && { ...found.claims };
    const cacheFor = Number.POSITIVE_INFINITY;
    const identity = { ...(subject !== undefined && { subject }), ...(claims && { claims, requestContext: claims }) };
    return { valid: true, scopes: [...scopes], ...identity, cacheFor };
  });
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function missing(reason: string): QuiverError {
  return new QuiverError(
    'OAUTH_TOKENS_MISSING',
    `createStaticTokenValidator() needs the tokens to accept, but ${reason}.`,
  );
}
