import type { McpAuthInfo } from '@quiver/core/tools';
import { setRecent } from '../../set-recent.js';
import { monotonicNow } from '../../monotonic-now.js';
import type { TokenValidationResult } from './token-validator.js';

/** A valid token: the result of its validator, and the identity made from it. */
export interface VerifiedToken {
  readonly validation: TokenValidationResult;
  readonly authInfo: McpAuthInfo;
}

/** Tokens that are kept. About 1 KB each. The oldest is evicted. */
const maxTokens = 10_000;

/**
 * Valid tokens whose validators allow further requests without another validation, by the digest of the token. They end at their expiry, and
 * as soon as their validator withdraws them.
 */
export class VerifiedTokens {
  readonly #maxAge: number;
  readonly #tokens = new Map<string, VerifiedToken & { readonly until: number }>();

  /** @param maxAge - milliseconds after which every token is validated again; 0 keeps none */
  constructor(maxAge: number) {
    this.#maxAge = maxAge;
  }

  find(key: string): VerifiedToken | undefined {
    const known = this.#tokens.get(key);
    if (!known) return undefined;
    if (known.until > monotonicNow() && isCurrent(known.validation)) return known;
    this.#tokens.delete(key);
    return undefined;
  }

  /** Caches a token by its digest, if its validator allows. Returns it. */
  add(key: string, verified: VerifiedToken): VerifiedToken {
    const { cacheFor = 0, expiresAt = Number.POSITIVE_INFINITY } = verified.validation;
    // After its end the validator decides, by its own tolerance.
    const lifetime = Math.min(this.#maxAge, cacheFor, expiresAt * 1000 - Date.now());
    if (!(lifetime > 0)) return verified;
    // All requests with the token share them.
    deepFreeze(verified);
    setRecent(this.#tokens, key, { ...verified, until: monotonicNow() + lifetime }, maxTokens);
    return verified;
  }
}

/** Returns whether the validator still allows the token. Everything but `true`, such as an error or a promise, validates it again. */
function isCurrent({ isCurrent: check }: TokenValidationResult): boolean {
  try {
    return check === undefined || check() === true;
  } catch {
    return false;
  }
}

/** Freezes lists and plain objects. Others, such as bytes and instances of classes, belong to the application. */
function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype && !Array.isArray(value)) return;
  Object.values(Object.freeze(value)).forEach(deepFreeze);
}

export function digestOf(token: string, { hash, createHash }: typeof import('node:crypto')): string {
  // `hash` is missing before Node 20.12. It takes half of the time, which is most of the time of a cached token.
  return hash?.('sha256', token, 'base64') ?? createHash('sha256').update(token).digest('base64');
}
