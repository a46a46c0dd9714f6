import { isWhiteSpace } from '../document/chunking/text-boundary.js';

/** A text in the form in which quotes are compared. */
export interface FoldedText {
  /** UTF-16 code units. */
  readonly units: Uint16Array;
  /** Place of each unit in the text, and then the length of the text. */
  readonly positions: Int32Array;
}

const space = 0x20;
/** Stands for a run of hyphens. */
export const hyphen = 0x2d;
const quote = 0x27;

/** Typographic characters and the one that stands for them. Others are compared exactly, in upper and lower case. */
const folded = new Map<number, number>([
  // Quotation marks and apostrophes, also primes and guillemets.
  ...[0x22, 0x60, 0xb4, 0xab, 0xbb, 0x2bc, 0x2032, 0x2033, 0x2039, 0x203a].map((unit) => [unit, quote] as const),
  ...Array.from({ length: 8 }, (_, n) => [0x2018 + n, quote] as const),
  // Hyphens, dashes and the minus sign.
  ...[0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212].map((unit) => [unit, hyphen] as const),
]);

/** Soft hyphens, and characters without width. */
const invisible: ReadonlySet<number> = new Set([0xad, 0x200b, 0x2060, 0xfeff]);

/** Replaces runs of white space by one space, typographic quotation marks and hyphens by one form, and leaves out invisible characters. */
export function foldText(text: string): FoldedText {
  const units = new Uint16Array(text.length);
  const positions = new Int32Array(text.length + 1);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const given = text.charCodeAt(at);
    let unit = given;
    if (isWhiteSpace(given)) unit = space;
    else if (given >= 0x7f || given === 0x22 || given === 0x60) {
      if (invisible.has(given)) continue;
      unit = folded.get(given) ?? given;
    }
    // A dash can be written as several hyphens.
    if ((unit === space || unit === hyphen) && length > 0 && units[length - 1] === unit) continue;
    units[length] = unit;
    positions[length] = at;
    length += 1;
  }
  positions[length] = text.length;
  return { units: units.subarray(0, length), positions: positions.subarray(0, length + 1) };
}

/** Returns the folded units of a quote without spaces around it. */
export function foldQuote(text: string): Uint16Array {
  const { units } = foldText(text);
  const start = units[0] === space ? 1 : 0;
  return units.subarray(start, units.at(-1) === space ? Math.max(start, units.length - 1) : units.length);
}
