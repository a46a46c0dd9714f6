import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { toPackOptions, type CommonChunkOptions, type MeasureOptions } from './chunk-options.js';
import { createSizeLimit, packSpans, type Chunker, type FindCut } from './pack-spans.js';
import { findWordCut } from './separator-cut.js';
import { isGraphemeBoundary, isWhiteSpace, lastAtOrBefore, startOfWhiteSpace } from './text-boundary.js';

/** Options of the strategy `sentence`. */
export interface SentenceChunkOptions extends CommonChunkOptions, MeasureOptions {
  strategy?: 'sentence';
  /** Size that a chunk may not exceed by another sentence. A longer sentence becomes a chunk. Default 0.8 × `maxSize`. */
  targetSize?: number;
  /** Size below which a chunk takes one more sentence, if it fits. Default 0. */
  minSize?: number;
  /** Texts that end a sentence. Default: the sentence terminals of all scripts, without common abbreviations. */
  sentenceEnders?: readonly string[];
  /** Whether a sentence longer than `maxSize` is cut between words. Default `true`. */
  fallbackToWords?: boolean;
  /** Whether a word longer than `maxSize` is cut. Otherwise it is an error, `CHUNK_SIZE_UNREACHABLE`. Default `true`. */
  fallbackToCharacters?: boolean;
}

/**
 * The `sentence` strategy: whole sentences up to `targetSize`. A longer sentence becomes a chunk, and a sentence longer than `maxSize`
 * is cut between words. The rest at the end is one chunk if it fits.
 */
export function sentence({ minSize = 0, ...given }: SentenceChunkOptions): Chunker {
  const common = toPackOptions(given, { overlap: 0 });
  const { maxSize } = common;
  const { targetSize = Math.ceil(maxSize * 0.8), fallbackToWords = true, fallbackToCharacters = true } = given;
  // Empty texts among others have no effect.
  const sentenceEnders = given.sentenceEnders && [given.sentenceEnders].flat().filter((ender) => ender !== '');
  if (sentenceEnders?.length === 0)
    throw invalidOptions(
      "'sentenceEnders' must name what ends a sentence. Omit it for the sentence terminals of Unicode.",
    );
  return (text) => {
    let sentences: SentenceStarts | undefined;
    const target = createSizeLimit(text, { ...common, maxSize: targetSize });
    const small = createSizeLimit(text, { ...common, maxSize: Math.max(0, minSize - 1) });
    const betweenWords = findWordCut(text, common);
    const cutWithinSentence: FindCut = (window) => {
      const cut = fallbackToWords ? betweenWords(window) : undefined;
      if (cut !== undefined || fallbackToCharacters) return cut;
      throw new QuiverError(
        'CHUNK_SIZE_UNREACHABLE',
        `The text at ${window.start} has no place to cut within maxSize (${maxSize}). Allow fallbackToWords and fallbackToCharacters, or raise maxSize.`,
        { details: { index: window.start, maxSize } },
      );
    };
    return packSpans(text, common, (window) => {
      const { start, first, last } = window;
      const wanted = Math.max(first - 1, Math.min(last, target.reach(start, last)));
      const { candidates, isStart } = (sentences ??= readSentenceStarts(text, sentenceEnders));
      let previous = lastAtOrBefore(candidates, wanted);
      let next = previous + 1;
      while (candidates[previous]! >= first && !isStart(candidates[previous]!, start)) previous--;
      const cut = candidates[previous]! >= first ? candidates[previous] : undefined;
      if (cut !== undefined && (minSize === 0 || !small.fits(start, cut))) return cut;
      while (candidates[next]! <= last && !isStart(candidates[next]!, start)) next++;
      return candidates[next]! <= last ? candidates[next] : (cut ?? cutWithinSentence(window));
    });
  };
}

/** Positions where sentences can start, and whether one does. */
interface SentenceStarts {
  /** Sorted. */
  readonly candidates: readonly number[];
  /** @param knownBoundary - a grapheme boundary at or before the candidate */
  isStart(candidate: number, knownBoundary: number): boolean;
}

/** Reads the sentences of a text in linear time: by the rules below, or after each of the `enders`. */
export function readSentenceStarts(text: string, enders?: readonly string[]): SentenceStarts {
  const candidates: number[] = [];
  const pattern = enders ? toPattern(enders) : terminals;
  for (pattern.lastIndex = 0; pattern.test(text);) candidates.push(pattern.lastIndex);
  return {
    candidates,
    isStart: (at, knownBoundary) =>
      (enders !== undefined || isSentenceStart(text, at)) && isGraphemeBoundary(text, at, knownBoundary),
  };
}

/** Marks after the end of a sentence that belong to it: quotation marks, brackets, Markdown emphasis. */
const closing = String.raw`["'*_\x60\p{Pe}\p{Pf}\p{Pi}]`;

/**
 * Candidates: line breaks, and the sentence terminals of Unicode. After an ASCII terminal, a sentence starts only behind white space:
 * neither `3.14` nor `a?b` contains one.
 *
 * @see [UAX #29, Sentence Boundary Rules](https://www.unicode.org/reports/tr29/#Sentence_Boundary_Rules)
 */
const terminals = new RegExp(
  `[.!?…]${closing}*\\s+|(?![.!?]|．\\p{N})\\p{STerm}+${closing}*\\s*|[\\n\\r\\u2028\\u2029]\\s*`,
  'gu',
);

const sentenceEnd = new RegExp(`[\\p{STerm}.…:;]${closing}*$`, 'u');

/** Sentences do not end before these, nor at a line break inside a sentence, nor after an abbreviation. */
const continuation = /[,:;–—-]/;

function isSentenceStart(text: string, at: number): boolean {
  const end = startOfWhiteSpace(text, 0, at);
  let lineBreaks = 0;
  for (let index = end; index < at; index++) if (isLineBreak(text.charCodeAt(index))) lineBreaks++;
  if (lineBreaks > 1) return true;
  if (lineBreaks === 0) return !continuation.test(text.charAt(at)) && !continues(text, at);
  return sentenceEnd.test(text.slice(Math.max(0, end - 10), end)) ? !continues(text, at) : !isSmall(text, at);
}

/** CR LF counts once. */
function isLineBreak(unit: number): boolean {
  return unit === 0x0a || unit === 0x2028 || unit === 0x2029;
}

function isSmall(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit < 0x80 ? unit >= 0x61 && unit <= 0x7a : /^\p{Ll}/u.test(text.slice(at, at + 2));
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
  const dot = startOfWhiteSpace(text, 0, at) - 1;
  if (text[dot] !== '.') return false;
  let start = dot;
  while (start > Math.max(0, dot - longestWord) && isDigit(text, start - 1)) start--;
  if (start < dot) return dot - start <= 3 && continuesNumber(text, { start, at, digits: dot - start });
  while (start > Math.max(0, dot - longestWord) && isWordPart(text, start - 1)) start--;
  if (start === dot || isDigit(text, start - 1)) return false;
  const isInitial = dot - start === 1;
  // "z. B.": single letters belong together. No abbreviation has more of them, also in a text of initials only.
  while (dot - start < longestWord && isSpacedInitial(text, start)) start -= 3;
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
function toPattern(enders: readonly string[]): RegExp {
  const escaped = enders.map((ender) => {
    const literal = ender.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return ender.charCodeAt(ender.length - 1) < 0x80 ? `${literal}(?=${closingMarks}\\s)` : literal;
  });
  return new RegExp(`(?:${escaped.join('|')})${closingMarks}\\s*`, 'g');
}
