/**
 * A 128-bit hash of a sequence of strings as 32 hexadecimal digits, the same on every platform. It tells contents apart; it is
 * not a cryptographic hash. Parts are kept apart: `['ab', 'c']` and `['a', 'bc']` differ.
 *
 * MurmurHash3_x86_128 over UTF-16 code units, two to a word.
 *
 * @see [MurmurHash3](https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp)
 */
export function contentHash(...parts: readonly string[]): string {
  let hash: Hash = [0, 0, 0, 0];
  for (const part of parts) hash = hashString(part, hash);
  return hash.map((word) => word.toString(16).padStart(8, '0')).join('');
}

type Hash = [number, number, number, number];

const c1 = 0x239b961b;
const c2 = 0xab0e9789 | 0;
const c3 = 0x38b34ae5;
const c4 = 0xa1e38b93 | 0;

function hashString(text: string, [s1, s2, s3, s4]: Hash): Hash {
  let h1 = s1 | 0;
  let h2 = s2 | 0;
  let h3 = s3 | 0;
  let h4 = s4 | 0;
  const { length } = text;
  // Past the end, `charCodeAt` is NaN and counts as 0 in bit operations; the length is mixed in at the end.
  for (let at = 0; at < length; at += 8) {
    const k1 = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
    const k2 = text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16);
    const k3 = text.charCodeAt(at + 4) | (text.charCodeAt(at + 5) << 16);
    const k4 = text.charCodeAt(at + 6) | (text.charCodeAt(at + 7) << 16);
    h1 = (Math.imul(rotate(h1 ^ Math.imul(rotate(Math.imul(k1, c1), 15), c2), 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 = (Math.imul(rotate(h2 ^ Math.imul(rotate(Math.imul(k2, c2), 16), c3), 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 = (Math.imul(rotate(h3 ^ Math.imul(rotate(Math.imul(k3, c3), 17), c4), 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 = (Math.imul(rotate(h4 ^ Math.imul(rotate(Math.imul(k4, c4), 18), c1), 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  h1 ^= length;
  h2 ^= length;
  h3 ^= length;
  h4 ^= length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = finish(h1);
  h2 = finish(h2);
  h3 = finish(h3);
  h4 = finish(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  return [h1 >>> 0, (h2 + h1) >>> 0, (h3 + h1) >>> 0, (h4 + h1) >>> 0];
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function finish(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
