import {
  checkOptions,
  invalidOptions,
  numberIn,
  type OptionChecks,
  required,
  wholeNumber,
} from '@quiver/core/internal';
import type { AppendOptions, PutOptions, TokenBucket } from './shared-store.js';

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

const recordChecks: OptionChecks<PutOptions & AppendOptions> = {
  version: wholeNumber(0),
  ttlMs: numberIn({ above: 0, most: MAX_LIFETIME }),
  maxEntries: wholeNumber(1),
};

/** @throws `OPTIONS_INVALID` for an invalid version, lifetime or number of entries */
export function checkRecordOptions(options: PutOptions & AppendOptions): void {
  checkOptions('A shared store', options, recordChecks);
}

const bucketValue = required(numberIn(bucketBounds));
const bucketChecks: OptionChecks<TokenBucket & { amount: number }> = {
  amount: bucketValue,
  capacity: bucketValue,
  perSecond: bucketValue,
};

/** @throws `OPTIONS_INVALID` unless the bucket can ever hold the amount */
export function checkBucket(amount: number, { capacity, perSecond }: TokenBucket): void {
  checkOptions('A token bucket', { amount, capacity, perSecond }, bucketChecks);
  if (amount > capacity)
    throw invalidOptions(
      `The bucket never holds the amount ${amount}: its capacity is ${capacity}. Take less, or raise it.`,
    );
}
