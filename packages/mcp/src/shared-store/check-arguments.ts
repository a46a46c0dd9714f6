import { invalidOptions } from '@quiver/core/internal';
import type { TokenBucket } from './shared-store.js';

/** Longest name in characters: 2,400 bytes in UTF-8, which an index of PostgreSQL can hold. */
const maxNameLength = 800;
/** Longest lifetime in milliseconds: 31 years. */
export const MAX_LIFETIME = 1e12;
/** Bounds of the amount, the capacity and the rate of a token bucket. */
export const bucketBounds = { least: 1e-6, most: 1e12 } as const;

/** @throws `OPTIONS_INVALID` unless the value is a name of a record, log, channel or bucket */
export function checkName(kind: 'key' | 'log' | 'channel' | 'prefix', name: unknown): void {
  checkText(kind, name);
  const { length } = name as string;
  if (length > maxNameLength || (length === 0 && kind !== 'prefix'))
    throw invalidOptions(
      `A ${kind} of a shared store has 1 to ${maxNameLength} characters, not ${length}. Hash longer names.`,
    );
}

/** @throws `OPTIONS_INVALID` unless every store can return the text as it was */
export function checkText(kind: string, text: unknown): void {
  if (typeof text !== 'string')
    throw invalidOptions(`A ${kind} of a shared store is a string, not ${text === null ? 'null' : typeof text}.`);
  // The cast: the libraries of ES2023 lack the method.
  if (text.includes('\0') || !(text as string & { isWellFormed(): boolean }).isWellFormed())
    throw invalidOptions(
      `A ${kind} of a shared store contains the character U+0000 or a lone surrogate. Store the text as JSON.`,
    );
}

/** @throws `OPTIONS_INVALID` for an invalid version, lifetime or number of entries */
export function checkRecordOptions(options: {
  version?: number | undefined;
  ttlMs?: number | undefined;
  maxEntries?: number | undefined;
}): void {
  const { version, ttlMs, maxEntries } = options;
  if (version !== undefined && !(Number.isSafeInteger(version) && version >= 0))
    throw invalidOptions(`The version ${version} of a record is not a whole number of at least 0.`);
  if (ttlMs !== undefined && !(typeof ttlMs === 'number' && ttlMs > 0 && ttlMs <= MAX_LIFETIME))
    throw invalidOptions(
      `The lifetime \`ttlMs\` is ${ttlMs}, not a number of milliseconds above 0 and up to ${MAX_LIFETIME}.`,
    );
  if (maxEntries !== undefined && !(Number.isSafeInteger(maxEntries) && maxEntries > 0))
    throw invalidOptions(`\`maxEntries\` is ${maxEntries}, not a whole number above 0.`);
}

/** @throws `OPTIONS_INVALID` unless the bucket can ever hold the amount */
export function checkBucket(amount: number, { capacity, perSecond }: TokenBucket): void {
  const { least, most } = bucketBounds;
  for (const [name, value] of Object.entries({ amount, capacity, perSecond }))
    if (!(typeof value === 'number' && value >= least && value <= most))
      throw invalidOptions(`The ${name} of a token bucket is ${value}, not a number from 0.000001 to 1e12.`);
  if (amount > capacity)
    throw invalidOptions(
      `The bucket never holds the amount ${amount}: its capacity is ${capacity}. Take less, or raise it.`,
    );
}
