import { invalidOptions } from '@quiver/core/internal';
import type { ElementPlace } from '../html/html-tags.js';
import {
  ceilGraphemeBoundary,
  ceilUnspacedWord,
  endOfWhiteSpace,
  floorGraphemeBoundary,
  floorWordBoundary,
  isWhiteSpace,
  nextGraphemeBoundary,
  skipWhiteSpace,
  startOfWhiteSpace,
  trimEnd,
} from './text-boundary.js';

/**
 * A part of a text by its position: `text.slice(start, end)`, in UTF-16 code units.
 *
 * Strategies return spans rather than strings, so that every chunk can be cited.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** Decoded text of the span, where it differs from the span: JSON without escapes. */
  readonly text?: string;
  /** Titles of the headings above the span, outermost first. Only strategies with headings set it. */
  readonly headings?: readonly string[] | undefined;
  /** Further metadata from the strategy. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A strategy with its options: a pure function of the text, and of the requested elements of a page. */
export type Chunker = (text: string, elements?: readonly ElementPlace[]) => Span[];

/** Position of a separator: at the start of the chunk after the cut, or at the end of the chunk before. */
export type SeparatorPosition = 'start' | 'end';

/** The common options, with defaults. */
export interface PackOptions extends SizeOptions {
  /** Size below which a span joins its neighbor; 0 for none. */
  readonly minSize: number;
  readonly stripWhitespace: boolean;
  readonly separatorPosition: SeparatorPosition;
}

/** Range of possible cuts. */
export interface CutWindow {
  /** Start of the chunk, overlap included; always a grapheme boundary. */
  readonly start: number;
  /** The earliest useful cut; an earlier one would repeat the chunk before. */
  readonly first: number;
  /** The earliest cut that leaves a chunk of a reasonable size. */
  readonly preferred: number;
  /** The latest cut that keeps the chunk within `maxSize`; a grapheme boundary. */
  readonly last: number;
}

/** Chooses a cut in the window, at a grapheme boundary. `undefined` means the end of the window. */
export type FindCut = (window: CutWindow) => number | undefined;

/** Below this part of `maxSize`, a chunk is too small to end at a better separator. */
const smallestPart = 4;

/**
 * Returns whether the next span may begin at a place by overlap.
 *
 * @param start - start of the span that the place is in
 */
export type CanBegin = (at: number, start: number) => boolean;

/** Splits the whole text, see {@link createPacker}. */
export function packSpans(text: string, options: PackOptions, findCut: FindCut): Span[] {
  return createPacker(text, options, findCut)(0, text.length);
}

interface CutSpan extends Span {
  /** End of the span, with the white space behind it. */
  readonly cut: number;
}

/** Splits a part of a text. Its bounds must be grapheme boundaries. */
type Packer = (from: number, to: number) => Span[];

/**
 * Returns a function that splits a part of the text into spans in order, each as long as the limits and `findCut` allow. Between two
 * spans nothing is missing but white space, and that only with `stripWhitespace`.
 *
 * A single grapheme cluster longer than `maxSize` becomes one span.
 */
export function createPacker(text: string, options: PackOptions, findCut: FindCut, canBegin?: CanBegin): Packer {
  const { overlap, minSize, stripWhitespace } = options;
  const limit = createSizeLimit(text, options);
  const small = minSize === 0 ? undefined : createSizeLimit(text, { ...options, maxSize: minSize, overlap: minSize });
  const trimmedEnd = (start: number, end: number): number => (stripWhitespace ? trimEnd(text, start, end) : end);
  const skipSpace = (start: number, end: number): number =>
    stripWhitespace ? skipWhiteSpace(text, start, end) : start;

  /** Returns the window that leaves neither this span nor the rest below `minSize`, if there is one. */
  function toWindow(start: number, fresh: number, reached: number, end: number): CutWindow {
    let first = fresh + 1;
    let last = reached;
    if (small) {
      // White space at both ends of a span does not count.
      let least = small.reach(start, reached);
      if (isWhiteSpace(text.charCodeAt(least - 1))) least = endOfWhiteSpace(text, least, reached) + 1;
      least = Math.max(first, least);
      let most = small.reachBack(start, end);
      if (isWhiteSpace(text.charCodeAt(most))) most = startOfWhiteSpace(text, start, most) - 1;
      most = floorGraphemeBoundary(text, Math.min(most, last), start);
      if (least <= most) [first, last] = [least, most];
    }
    const preferred = Math.min(last, Math.max(first, start + Math.floor((reached - start) / smallestPart)));
    return { start, first, preferred, last };
  }

  /** @param fresh - the first character that no span contains yet */
  function nextSpan(start: number, fresh: number, end: number): CutSpan {
    let last = limit.reach(start, end);
    while (last > fresh) {
      if (last === end) return { start, end, cut: end };
      const window = toWindow(start, fresh, last, end);
      const cut = findCut(window) ?? floorWordBoundary(text, window.last, window.preferred);
      const trimmed = trimmedEnd(start, cut);
      // Only sizes that a function measures can grow when a text gets shorter.
      if (limit.fits(start, trimmed)) return { start, end: trimmed, cut };
      last = floorGraphemeBoundary(text, cut - 1, start);
    }
    // The overlap leaves no room: the next character becomes a span without it, even if it is too large.
    const cut = Math.min(end, nextGraphemeBoundary(text, fresh));
    return { start: fresh, end: trimmedEnd(fresh, cut), cut };
  }

  /**
   * Returns the start of a repeated part of a span, which is the start of a word, or any character if the cut is within a word: an id, a
   * URL. Returns `fresh` if there is none, or the next span would contain nothing new.
   */
  function overlapStart(start: number, { end: spanEnd, cut }: CutSpan, fresh: number, end: number): number {
    const earliest = Math.max(start + 1, limit.reachBack(start + 1, cut));
    let known = start;
    let chosen = cut;
    for (let at = earliest; at < cut && chosen === cut; at++) {
      if (!isWhiteSpace(text.charCodeAt(at - 1)) || isWhiteSpace(text.charCodeAt(at))) continue;
      if (canBegin && !canBegin(at, start)) continue;
      known = floorGraphemeBoundary(text, at, known);
      if (known === at) chosen = at;
    }
    if (chosen === cut) {
      const word = ceilUnspacedWord(text, earliest, cut, start);
      const isWithinWord = !isWhiteSpace(text.charCodeAt(cut - 1)) && !isWhiteSpace(text.charCodeAt(cut));
      const first = word === cut && isWithinWord ? ceilGraphemeBoundary(text, earliest, start) : word;
      if (first < cut && (!canBegin || canBegin(first, start))) chosen = first;
    }
    if (chosen >= cut || !limit.mayRepeat(chosen, spanEnd) || limit.reach(chosen, end) <= fresh) return fresh;
    // A repeated part must not begin with white space either.
    return skipSpace(chosen, fresh);
  }

  return (from, to) => {
    const spans: Span[] = [];
    const end = trimmedEnd(from, to);
    let fresh = skipSpace(from, end);
    let start = fresh;
    while (fresh < end) {
      const span = nextSpan(start, fresh, end);
      spans.push({ start: span.start, end: span.end });
      fresh = skipSpace(span.cut, end);
      start = overlap === 0 || fresh >= end ? fresh : overlapStart(start, span, fresh, end);
    }
    return spans;
  };
}

/** The size of a text, for example its number of tokens. */
export type Measure = (text: string) => number;

export interface SizeOptions {
  readonly maxSize: number;
  readonly overlap: number;
  /** Without it, a size is a number of UTF-16 code units. */
  readonly measure?: Measure;
}

/** How far a chunk may go. */
export interface SizeLimit {
  fits(start: number, end: number): boolean;
  /** The last grapheme boundary up to `end` so that the text from `start` fits; `start` when not even one character does. */
  reach(start: number, end: number): number;
  mayRepeat(start: number, end: number): boolean;
  /** The earliest position from `from` on, or one not much later, from which the text up to `end` may be repeated. */
  reachBack(from: number, end: number): number;
}

export function createSizeLimit(text: string, { maxSize, overlap, measure }: SizeOptions): SizeLimit {
  if (measure) return measuredLimit(text, { maxSize, overlap, measure });
  return {
    fits: (start, end) => end - start <= maxSize,
    reach: (start, end) => (end - start <= maxSize ? end : floorGraphemeBoundary(text, start + maxSize, start)),
    mayRepeat: (start, end) => end - start <= overlap,
    reachBack: (from, end) => Math.max(from, end - overlap),
  };
}

/** Part of a limit that may stay unused: every measurement reads the whole chunk, so the search ends a few characters early. */
const slack = 0.02;

/**
 * Limits in sizes that only a function knows. It is called a few times for each chunk, with texts of the length that its
 * last results suggest. Sizes need not grow evenly, nor with every character; every returned limit was measured.
 */
function measuredLimit(text: string, { maxSize, overlap, measure }: Required<SizeOptions>): SizeLimit {
  let unitsPerSize = 1;
  let known = { start: -1, end: -1, reached: -1 };

  function sizeOf(start: number, end: number): number {
    const size = requireSize(measure(text.slice(start, end)));
    if (size > 0 && end - start > 8) unitsPerSize = (end - start) / size;
    return size;
  }

  /** Like `sizeOf`, but infinite if a beginning is too large: reading a word of any length to its end can take quadratic time. */
  function sizeWithinLimit(start: number, end: number): number {
    for (let far = start + Math.ceil(4 * unitsPerSize * maxSize) + 16; far < end; far += far - start)
      if (sizeOf(start, far) > maxSize) return Number.POSITIVE_INFINITY;
    return sizeOf(start, end);
  }

  function search(start: number, end: number): number {
    let fitting = start;
    let tooFar = end + 1;
    let guess = start + unitsPerSize * maxSize;
    for (let round = 1; ; round++) {
      let at = floorGraphemeBoundary(text, Math.min(end, Math.ceil(guess)), start);
      if (at <= fitting) at = nextGraphemeBoundary(text, fitting);
      if (at >= tooFar) return fitting;
      const size = sizeWithinLimit(start, at);
      if (size > maxSize) tooFar = at;
      else if (at === end || size >= maxSize * (1 - slack)) return withRestOfWord(start, at, end);
      else fitting = at;
      guess = start + unitsPerSize * maxSize * (1 - slack / 2);
      if (round < evenRounds && guess > fitting && guess < tooFar) continue;
      // Where sizes grow unevenly, their ratio may never get there; halving does.
      guess = tooFar > end ? 3 * fitting - 2 * start + 1 : (fitting + tooFar) / 2;
    }
  }

  /** A cut between words falls before the word that is reached, so the last one is worth another look. */
  function withRestOfWord(start: number, at: number, end: number): number {
    let wordEnd = at;
    while (wordEnd < end && wordEnd - at < longestWord && !isWhiteSpace(text.charCodeAt(wordEnd))) wordEnd++;
    const boundary = floorGraphemeBoundary(text, Math.min(end, wordEnd + 1), start);
    return boundary > at && sizeOf(start, boundary) <= maxSize ? boundary : at;
  }

  return {
    fits: (start, end) => sizeWithinLimit(start, end) <= maxSize,
    reach(start, end) {
      if (known.start !== start || known.end !== end) known = { start, end, reached: search(start, end) };
      return known.reached;
    },
    mayRepeat: (start, end) => sizeOf(start, end) <= overlap,
    reachBack(from, end) {
      for (let length = unitsPerSize * overlap; length >= 1; length *= 0.9) {
        const at = Math.max(from, end - Math.floor(length));
        if (sizeOf(at, end) <= overlap) return at;
      }
      return end;
    },
  };
}

const longestWord = 40;

/** How often a limit is sought by the ratio of lengths to sizes. */
const evenRounds = 5;

function requireSize(size: unknown): number {
  if (typeof size === 'number' && size >= 0) return size;
  throw invalidOptions(
    `lengthFunction must return a number of at least 0, not ${size instanceof Promise ? 'a promise' : String(size)}.`,
  );
}
