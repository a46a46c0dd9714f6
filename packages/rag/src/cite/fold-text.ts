import { isWhiteSpace } from '../document/chunking/text-boundary.js';

/** A text in the form in which quotes are compared. */
export interface FoldedText {
  /** UTF-16 code units. */
  readonly units: Uint16Array;
  /** Place of each unit in the text. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

const space = 0x20;
const hyphen = 0x2d;
const quote = 0x27;

/** Typographic characters and the one that stands for them. Others are compared exactly, in upper and lower case. */
const folded = new Map<number, number>([
  // Quotation marks and apostrophes, also primes and guillemets.
  ...[0x22, 0x60, 0xb4, 0xab, 0xbb, 0x2bc, 0x2032, 0x2033, 0x2039, 0x203a].map((unit) => [unit, quote] as const),
  ...Array.from({ length: 8 }, (_, n) => [0x2018 + n, quote] as const),
  // Hyphens, dashes and the minus sign.
  ...[0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212].map((unit) => [unit, hyphen] as const),
]);

/** Soft hyphens, characters without width, and marks of the direction. */
const invisible: ReadonlySet<number> = new Set([
  0xad, 0x200b, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff,
]);

/** A character with combining marks, or a syllable in letters of Hangul. The bound limits the time that composition takes. */
const combined = /[^\p{M}\u1160-\u11ff][\p{M}\u1160-\u11ff]{1,30}/gu;

/**
 * Replaces runs of white space by one space, typographic quotation marks and hyphens by one form, and letters with combining marks by
 * composed ones (NFC), and leaves out invisible characters.
 *
 * @param marks - flags of the code units to leave out in addition
 */
export function foldText(text: string, marks?: Uint8Array): FoldedText {
  const units = new Uint16Array(text.length);
  const starts = new Int32Array(text.length);
  const ends = new Int32Array(text.length);
  let length = 0;
  const add = (given: number, start: number, end: number): void => {
    let unit = given;
    if (given >= 0x7f && invisible.has(given)) return;
    if (isWhiteSpace(given)) unit = space;
    else if (given >= 0x7f || given === 0x22 || given === 0x60) unit = folded.get(given) ?? given;
    // A dash can be written as several hyphens.
    if ((unit === space || unit === hyphen) && length > 0 && units[length - 1] === unit) ends[length - 1] = end;
    else {
      units[length] = unit;
      starts[length] = start;
      ends[length] = end;
      length += 1;
    }
  };
  let at = 0;
  const addUntil = (end: number): void => {
    for (; at < end; at += 1) if (!marks?.[at]) add(text.charCodeAt(at), at, at + 1);
  };
  for (const { 0: given, index } of text.matchAll(combined)) {
    const composed = given.normalize('NFC');
    // A few letters have no composed form, and can become longer.
    if (composed === given || composed.length > given.length || marks?.[index]) continue;
    addUntil(index);
    at = index + given.length;
    for (let unit = 0; unit < composed.length; unit += 1) add(composed.charCodeAt(unit), index, at);
  }
  addUntil(text.length);
  return { units: units.subarray(0, length), starts: starts.subarray(0, length), ends: ends.subarray(0, length) };
}

/** Returns the folded units of a quote without spaces around it. */
export function foldQuote(text: string, marks?: Uint8Array): Uint16Array {
  const { units } = foldText(text, marks);
  const start = units[0] === space ? 1 : 0;
  return units.subarray(start, units.at(-1) === space ? Math.max(start, units.length - 1) : units.length);
}
