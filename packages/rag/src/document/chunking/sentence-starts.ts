import { endsInAbbreviation } from './abbreviations.js';
import { floorGraphemeBoundary, isGraphemeBoundary } from './grapheme-boundary.js';
import { lastAtOrBefore } from './sorted-search.js';

/** Where sentences start in a text. Both bounds count. */
export interface Sentences {
  lastStart(from: number, to: number): number | undefined;
  nextStart(from: number, to: number): number | undefined;
}

/** Sentences in any script; with `enders`, those that end in one of these. */
export function readSentences(text: string, enders?: readonly string[]): Sentences {
  return enders ? readByEnders(text, enders) : readByRules(text);
}

let segmenter: Intl.Segmenter | undefined;

/**
 * By the rules of Unicode, which know no abbreviations, take every line for a sentence, and see no end before a small letter.
 * So starts after an abbreviation and in the middle of a wrapped line are left out, and starts with a small letter added.
 *
 * @see [UAX #29, Sentence Boundary Rules](https://www.unicode.org/reports/tr29/#Sentence_Boundary_Rules)
 */
function readByRules(text: string): Sentences {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'sentence' });
  const segments = segmenter.segment(text);
  let segment = { start: 0, end: 0 };

  /** The same question is asked many times about a long segment, and each answer costs its whole length. */
  function segmentAt(at: number): { start: number; end: number } {
    if (at < segment.start || at >= segment.end) {
      const found = segments.containing(at);
      segment = found
        ? { start: found.index, end: found.index + found.segment.length }
        : { start: text.length, end: text.length };
    }
    return segment;
  }

  function lastStart(from: number, to: number): number | undefined {
    let end = to;
    for (let at = to; at >= from;) {
      const { start } = segmentAt(at);
      const inner = lastInnerStart(text, Math.max(start, from), end);
      if (inner !== undefined) return inner;
      if (start < from) return undefined;
      if (isSentenceStart(text, start)) return start;
      end = start;
      at = start - 1;
    }
    return undefined;
  }

  function nextStart(from: number, to: number): number | undefined {
    for (let at = from; at <= to && at < text.length;) {
      const { start, end } = segmentAt(at);
      if (start >= from && isSentenceStart(text, start)) return start;
      const inner = innerStarts(text, Math.max(start, from), Math.min(end, to)).next();
      if (!inner.done) return inner.value;
      at = end;
    }
    return undefined;
  }

  return { lastStart, nextStart };
}

const lineBreak = /[\n\r\u2028\u2029]/;
const contextLength = 40;

/** Whether the boundary at `at`, which Unicode's rules found, is one. */
function isSentenceStart(text: string, at: number): boolean {
  if (at === 0 || at >= text.length) return false;
  const before = text.slice(Math.max(0, at - contextLength), at);
  const words = before.trimEnd();
  const gap = before.slice(words.length);
  if (/\n[^\S\n]*\n/.test(gap)) return true;
  if (lineBreak.test(gap) && !/[\p{STerm}.…:;]["'”’»)\]]*$/u.test(words))
    return !/^\p{Ll}/u.test(text.slice(at, at + 2));
  return !endsInAbbreviation(words, text.slice(at, at + 2));
}

/** Unicode sees no end before a small letter, nor before a number that a small letter follows. */
const smallStart = /\.["'”’»)\]]*\s+(?=[\p{Ll}\p{N}])/gu;

function* innerStarts(text: string, from: number, to: number): Generator<number> {
  const offset = Math.max(0, from - 4);
  for (const { index, 0: match } of text.slice(offset, to + 2).matchAll(smallStart)) {
    const at = offset + index + match.length;
    if (at < from || at > to) continue;
    const words = text.slice(Math.max(0, at - contextLength), at).trimEnd();
    if (!endsInAbbreviation(words, text.slice(at, at + 2)) && isGraphemeBoundary(text, at, offset)) yield at;
  }
}

function lastInnerStart(text: string, from: number, to: number): number | undefined {
  let last: number | undefined;
  for (const at of innerStarts(text, from, to)) last = at;
  return last;
}

/** Of a sentence; their number has a limit, so that a long run of an ender that is one of them is read in linear time. */
const closingMarks = String.raw`["'”’»)\]]{0,9}`;

/** An ender within ASCII ends a sentence only before white space: `3.14` has none. */
function readByEnders(text: string, enders: readonly string[]): Sentences {
  let starts: number[] | undefined;
  const find = (): number[] => {
    const escaped = enders.map((ender) => {
      const literal = ender.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
      return ender.charCodeAt(ender.length - 1) < 0x80 ? `${literal}(?=${closingMarks}\\s)` : literal;
    });
    const pattern = new RegExp(`(?:${escaped.join('|')})${closingMarks}\\s*`, 'g');
    let boundary = 0;
    return Array.from(text.matchAll(pattern), ({ index, 0: match }) => index + match.length).filter((at) => {
      boundary = floorGraphemeBoundary(text, at, boundary);
      return boundary === at;
    });
  };
  return {
    lastStart(from, to) {
      starts ??= find();
      const at = starts[lastAtOrBefore(starts, to)];
      return at !== undefined && at >= from ? at : undefined;
    },
    nextStart(from, to) {
      starts ??= find();
      const at = starts[lastAtOrBefore(starts, from - 1) + 1];
      return at !== undefined && at <= to ? at : undefined;
    },
  };
}
