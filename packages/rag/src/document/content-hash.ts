import { QuiverError } from '@quiver/core';

/**
 * Returns a 128-bit hash of a sequence of strings as 32 hexadecimal digits, the same on every platform. It is not a cryptographic
 * hash; those of the Web Crypto API are asynchronous. The parts are separated: `['ab', 'c']` and `['a', 'bc']` differ. Stored ids
 * depend on it.
 *
 * MurmurHash3_x86_128 of the parts in UTF-16 (little-endian), continued from one part to the next.
 *
 * @see [MurmurHash3](https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp)
 */
export function contentHash(...parts: readonly string[]): string {
  const state = [0, 0, 0, 0];
  for (const part of parts) addToHash(state, part, 0, part.length);
  return toHex(state);
}

/** Returns the first 32 bits of the hash of a string. */
export function wordHash(text: string): number {
  const state = [0, 0, 0, 0];
  addToHash(state, text, 0, text.length);
  return state[0]! >>> 0;
}

/**
 * Returns the function that hashes an identity and a part of a text, as {@link contentHash} does. The identity is read once, and the part
 * in place: reading a slice takes 1.6 times as long.
 */
export function createPartHash(identity: string): (text: string, start: number, end: number) => string {
  const begun = [0, 0, 0, 0];
  addToHash(begun, identity, 0, identity.length);
  const state = [0, 0, 0, 0];
  return (text, start, end) => {
    for (let at = 0; at < 4; at++) state[at] = begun[at]!;
    addToHash(state, text, start, end);
    return toHex(state);
  };
}

/** Four words of 32 bits, which the functions below change in place: an array for each part took a third of the time of hashing chunks. */
type HashState = number[];

const digits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const hexUnits = Array.from({ length: 32 }, () => 0);

/** Writes all digits at once: concatenation took 2.3 times as long, and would return a tree of strings, which takes twice the memory. */
function toHex(state: HashState): string {
  for (let at = 0; at < 32; at++) hexUnits[at] = digits[(state[at >> 3]! >>> (28 - 4 * (at & 7))) & 15]!;
  return String.fromCharCode(...hexUnits);
}

function addToHash(state: HashState, text: string, start: number, end: number): void {
  let h1 = state[0]!;
  let h2 = state[1]!;
  let h3 = state[2]!;
  let h4 = state[3]!;
  const whole = end - ((end - start) % 8);
  for (let at = start; at < whole; at += 8) {
    h1 ^= mix(text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16), c1, 15, c2);
    h1 = (Math.imul(rotate(h1, 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 ^= mix(text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16), c2, 16, c3);
    h2 = (Math.imul(rotate(h2, 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 ^= mix(text.charCodeAt(at + 4) | (text.charCodeAt(at + 5) << 16), c3, 17, c4);
    h3 = (Math.imul(rotate(h3, 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 ^= mix(text.charCodeAt(at + 6) | (text.charCodeAt(at + 7) << 16), c4, 18, c1);
    h4 = (Math.imul(rotate(h4, 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  const length = 2 * (end - start);
  const unit = (at: number): number => (at < end ? text.charCodeAt(at) : 0);
  const word = (at: number): number => unit(at) | (unit(at + 1) << 16);
  state[0] = h1 ^ mix(word(whole), c1, 15, c2);
  state[1] = h2 ^ mix(word(whole + 2), c2, 16, c3);
  state[2] = h3 ^ mix(word(whole + 4), c3, 17, c4);
  state[3] = h4 ^ mix(word(whole + 6), c4, 18, c1);
  finishState(state, length);
}

function finishState(state: HashState, length: number): void {
  let h1 = state[0]! ^ length;
  let h2 = state[1]! ^ length;
  let h3 = state[2]! ^ length;
  let h4 = state[3]! ^ length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = finish(h2 + h1);
  h3 = finish(h3 + h1);
  h4 = finish(h4 + h1);
  h1 = (finish(h1) + h2 + h3 + h4) | 0;
  state[0] = h1;
  state[1] = (h2 + h1) | 0;
  state[2] = (h3 + h1) | 0;
  state[3] = (h4 + h1) | 0;
}

const c1 = 0x239b961b;
const c2 = 0xab0e9789 | 0;
const c3 = 0x38b34ae5;
const c4 = 0xa1e38b93 | 0;

function mix(word: number, first: number, bits: number, second: number): number {
  return Math.imul(rotate(Math.imul(word, first), bits), second);
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function finish(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/**
 * JSON with sorted keys, so that equal values give equal strings.
 *
 * @throws `METADATA_INVALID` for values that JSON cannot carry: cycles, bigint, depth beyond the call stack
 */
export function canonicalJson(value: unknown): string {
  try {
    // 0.2 µs instead of 2.
    if (typeof value === 'string') return JSON.stringify(value);
    return JSON.stringify(value, (_key, member: unknown) => sortKeys(member)) ?? 'null';
  } catch (error) {
    throw new QuiverError('METADATA_INVALID', 'Metadata must be plain JSON data, without cycles and bigint.', {
      cause: error,
    });
  }
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const record = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(record)
      .sort()
      .map((key) => [key, record[key]]),
  );
}
