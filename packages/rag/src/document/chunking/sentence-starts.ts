import { floorGraphemeBoundary } from './grapheme-boundary.js';
import { isWhiteSpace } from './trim-span.js';

/** Returns the positions where sentences start, in order, in linear time; with `enders`, after each of these. */
export function readSentenceStarts(text: string, enders?: readonly string[]): readonly number[] {
  return enders ? readByEnders(text, enders) : readByRules(text);
}

/**
 * Corrects the rules of Unicode. They know no abbreviations, treat every line as a sentence, and find no end before a small letter.
 * So starts after an abbreviation and inside a wrapped line are removed, and starts with a small letter are added.
 */
function readByRules(text: string): readonly number[] {
  const starts = [...segmentStarts(text)].filter((at) => isSentenceStart(text, at));
  const smallStarts = graphemeBoundaries(text, text.matchAll(smallStart)).filter((at) => !continues(text, at));
  return smallStarts.length === 0 ? starts : [...new Set([...starts, ...smallStarts])].sort((a, b) => a - b);
}

/** Unicode finds no end before a small letter, nor before a number that a small letter follows. */
const smallStart = /\.["'”’»)\]]*\s+(?=[\p{Ll}\p{N}])/gu;

function graphemeBoundaries(text: string, matches: Iterable<RegExpMatchArray>): number[] {
  let boundary = 0;
  const ends = Array.from(matches, ({ index = 0, 0: match }) => index + match.length);
  return ends.filter((at) => (boundary = floorGraphemeBoundary(text, at, boundary)) === at);
}

let segmenter: Intl.Segmenter | undefined;
/** Node 20 needs time in proportion to the length of the text for each segment, so it gets a window of the text at a time. */
const windowLength = 1000;

/** @see [UAX #29, Sentence Boundary Rules](https://www.unicode.org/reports/tr29/#Sentence_Boundary_Rules) */
export function* segmentStarts(text: string): Generator<number> {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'sentence' });
  let start = 0;
  for (let length = windowLength; start < text.length;) {
    const end = Math.min(text.length, start + length);
    const found = Array.from(segmenter.segment(text.slice(start, end)), ({ index }) => start + index);
    // More text can move the last start of a window, but no earlier one: the rules look ahead to the end of the next sentence only.
    if (end < text.length) found.pop();
    for (const at of found) if (at > start) yield at;
    if (end === text.length) return;
    const last = found.at(-1) ?? start;
    length = last === start ? length * 2 : windowLength;
    start = last;
  }
}

const sentenceEnd = /[\p{STerm}.…:;]["'”’»)\]]*$/u;

/** Whether the start at `at`, which the rules of Unicode found, starts a sentence. */
function isSentenceStart(text: string, at: number): boolean {
  const end = beforeWhiteSpace(text, at);
  let lineBreaks = 0;
  for (let index = end; index < at; index++) if (isLineBreak(text.charCodeAt(index))) lineBreaks++;
  if (lineBreaks > 1) return true;
  if (lineBreaks === 0 || sentenceEnd.test(text.slice(Math.max(0, end - 10), end))) return !continues(text, at);
  return !isSmall(text, at);
}

/** CR LF counts once. */
function isLineBreak(unit: number): boolean {
  return unit === 0x0a || unit === 0x2028 || unit === 0x2029;
}

function isSmall(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit < 0x80 ? unit >= 0x61 && unit <= 0x7a : /^\p{Ll}/u.test(text.slice(at, at + 2));
}

function beforeWhiteSpace(text: string, at: number): number {
  let end = at;
  while (end > 0 && isWhiteSpace(text.charCodeAt(end - 1))) end--;
  return end;
}

/** A sentence continues after these. */
const neverLast: ReadonlySet<string> = new Set(
  (
    'mr mrs ms dr prof rev hon gen sen rep gov capt cmdr lt col sgt st mt ft vs e.g i.e cf viz fig figs no nos vol vols pp eq eqs sec ch ' +
    'approx ca incl resp jan feb mar apr jun jul aug sep sept oct nov dec z.b d.h i.d.r s.o s.u v.a z.t bzw nr abs hr fr art mme mlle sra srta'
  ).split(' '),
);

/** These can be the last word of a sentence. The next sentence then starts with a capital, not with a number. */
const sometimesLast: ReadonlySet<string> = new Set(
  'etc inc ltd co corp jr sr dept est al ed eds p u.s u.k e.u a.m p.m ph.d usw u.a'.split(' '),
);

/** German writes ordinals with a full stop: "3. Mai", "19. Jahrhundert". */
const afterOrdinal: ReadonlySet<string> = new Set(
  (
    'januar jänner februar feber märz april mai juni juli august september oktober november dezember jan feb mär apr jun jul aug sep sept ' +
    'okt nov dez jh jahrhundert jahrhunderts jahrtausend jahrtausends weltkrieg weltkriegs auflage kapitel klasse'
  ).split(' '),
);

const longestWord = 24;
const letter = /[\p{L}\p{M}]/u;
const nextWord = /[\p{L}\p{M}]+/uy;

/** Whether the text before `at` ends in a full stop that does not end the sentence: of an abbreviation, an ordinal or a list number. */
function continues(text: string, at: number): boolean {
  const dot = beforeWhiteSpace(text, at) - 1;
  if (text[dot] !== '.') return false;
  let start = dot;
  while (start > Math.max(0, dot - longestWord) && isDigit(text, start - 1)) start--;
  if (start < dot) return dot - start <= 3 && continuesNumber(text, { start, at, digits: dot - start });
  while (start > Math.max(0, dot - longestWord) && isWordPart(text, start - 1)) start--;
  if (start === dot || isDigit(text, start - 1)) return false;
  const isInitial = dot - start === 1;
  // "z. B.": single letters belong together.
  while (isSpacedInitial(text, start)) start -= 3;
  const word = text.slice(start, dot);
  const name = word.toLowerCase().replace(/\s/g, '');
  if (neverLast.has(name) || (isInitial && /^\p{Lu}/u.test(text.slice(dot - 1, dot)))) return true;
  // The first letter of "z. B.".
  if (isInitial && at - dot === 2 && isLetter(text, at) && text[at + 1] === '.') return true;
  return (sometimesLast.has(name) || name.includes('.')) && /^[\p{Ll}\p{N}]/u.test(text.slice(at, at + 2));
}

function continuesNumber(text: string, { start, at, digits }: { start: number; at: number; digits: number }): boolean {
  let before = start;
  while (before > 0 && /[ \t>*#-]/.test(text.charAt(before - 1))) before--;
  if (before === 0 || text[before - 1] === '\n') return true;
  if (digits > 2 || !isWhiteSpace(text.charCodeAt(start - 1))) return false;
  nextWord.lastIndex = at;
  const next = nextWord.exec(text)?.[0] ?? '';
  return /^\p{Ll}/u.test(next) || afterOrdinal.has(next.toLowerCase());
}

function isSpacedInitial(text: string, start: number): boolean {
  const space = text[start - 1];
  if (space !== ' ' && space !== '\u00a0' && space !== '\u202f') return false;
  return text[start - 2] === '.' && isLetter(text, start - 3) && !isWordPart(text, start - 4);
}

function isWordPart(text: string, at: number): boolean {
  return text[at] === '.' || isLetter(text, at);
}

function isLetter(text: string, at: number): boolean {
  return at >= 0 && letter.test(text.charAt(at));
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x30 && unit <= 0x39;
}

/** Closing marks of a sentence. Their number has a limit, so that a long run of an ender that is one of them takes linear time. */
const closingMarks = String.raw`["'”’»)\]]{0,9}`;

/** An ASCII ender ends a sentence only before white space: `3.14` has none. */
function readByEnders(text: string, enders: readonly string[]): readonly number[] {
  const escaped = enders.map((ender) => {
    const literal = ender.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return ender.charCodeAt(ender.length - 1) < 0x80 ? `${literal}(?=${closingMarks}\\s)` : literal;
  });
  return graphemeBoundaries(text, text.matchAll(new RegExp(`(?:${escaped.join('|')})${closingMarks}\\s*`, 'g')));
}
