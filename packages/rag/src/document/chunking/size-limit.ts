import { QuiverError } from '@quiver/core';
import { floorGraphemeBoundary, isWhiteSpace, nextGraphemeBoundary } from './text-boundary.js';

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

/** The part of a limit that may stay unused: every question reads the whole chunk, so the last few characters are not sought. */
const slack = 0.02;

/**
 * Limits in sizes that only a function knows. It is asked about texts of the length that its last answers suggest, a few times
 * for each chunk. Sizes need not grow evenly, nor with every character; whatever is returned was measured.
 */
function measuredLimit(text: string, { maxSize, overlap, measure }: Required<SizeOptions>): SizeLimit {
  let unitsPerSize = 1;
  let known = { start: -1, end: -1, reached: -1 };

  function sizeOf(start: number, end: number): number {
    const size = requireSize(measure(text.slice(start, end)));
    if (size > 0 && end - start > 8) unitsPerSize = (end - start) / size;
    return size;
  }

  function search(start: number, end: number): number {
    let fitting = start;
    let tooFar = end + 1;
    let guess = start + unitsPerSize * maxSize;
    for (let round = 1; ; round++) {
      let at = floorGraphemeBoundary(text, Math.min(end, Math.ceil(guess)), start);
      if (at <= fitting) at = nextGraphemeBoundary(text, fitting);
      if (at >= tooFar) return fitting;
      const size = sizeOf(start, at);
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
    fits(start, end) {
      const far = start + Math.ceil(4 * unitsPerSize * maxSize) + 16;
      return (end <= far || sizeOf(start, far) <= maxSize) && sizeOf(start, end) <= maxSize;
    },
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
  throw new QuiverError(
    'CHUNK_OPTIONS_INVALID',
    `lengthFunction must return a number of at least 0, not ${size instanceof Promise ? 'a promise' : String(size)}.`,
  );
}
