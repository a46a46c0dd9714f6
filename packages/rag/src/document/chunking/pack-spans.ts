import { floorGraphemeBoundary, nextGraphemeBoundary } from './grapheme-boundary.js';
import type { Span } from './span.js';
import { isWhiteSpace, skipWhiteSpace, trimEnd } from './trim-span.js';

/** What every strategy is asked for, in UTF-16 code units. */
export interface PackOptions {
  readonly maxSize: number;
  readonly overlap: number;
  readonly stripWhitespace: boolean;
}

/** Where a strategy may choose a cut: after `start`, within the limits. */
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

/** Chooses a cut in the window, at a grapheme boundary; `undefined` leaves it to the end of the window. */
export type FindCut = (window: CutWindow) => number | undefined;

/** Below this part of `maxSize`, a chunk is too small to end at a better separator. */
const smallestPart = 4;

/**
 * Divides `text.slice(from, to)` into spans in order, each as long as the limits and `findCut` allow. The bounds must be
 * grapheme boundaries. Between two spans nothing is missing but white space, and that only with `stripWhitespace`.
 *
 * A single grapheme cluster longer than `maxSize` becomes a span of its own.
 */
export function packSpans(text: string, from: number, to: number, options: PackOptions, findCut: FindCut): Span[] {
  const { maxSize, overlap, stripWhitespace } = options;
  const end = stripWhitespace ? trimEnd(text, from, to) : to;
  const spans: Span[] = [];
  let fresh = stripWhitespace ? skipWhiteSpace(text, from, end) : from;
  let start = fresh;
  while (fresh < end) {
    const cut = nextCut(text, { start, fresh, end, maxSize }, findCut);
    spans.push({ start, end: stripWhitespace ? trimEnd(text, start, cut) : cut });
    fresh = stripWhitespace ? skipWhiteSpace(text, cut, end) : cut;
    start = overlap === 0 ? fresh : overlapStart(text, { start, cut, fresh, overlap, maxSize });
  }
  return spans;
}

interface Progress {
  start: number;
  /** The first character that no span holds yet. */
  fresh: number;
  end: number;
  maxSize: number;
}

function nextCut(text: string, { start, fresh, end, maxSize }: Progress, findCut: FindCut): number {
  if (end - start <= maxSize) return end;
  const last = floorGraphemeBoundary(text, start + maxSize, start);
  if (last <= fresh) return Math.min(end, nextGraphemeBoundary(text, fresh));
  const preferred = Math.min(last, Math.max(fresh + 1, start + Math.floor(maxSize / smallestPart)));
  return findCut({ start, first: fresh + 1, preferred, last }) ?? last;
}

interface Overlap {
  start: number;
  cut: number;
  fresh: number;
  overlap: number;
  maxSize: number;
}

/** At the start of a word if there is one, else at any grapheme boundary; nowhere if the next chunk would hold nothing new. */
function overlapStart(text: string, { start, cut, fresh, overlap, maxSize }: Overlap): number {
  const earliest = Math.max(start + 1, cut - overlap);
  let chosen: number | undefined;
  let known = start;
  for (let at = earliest; at < cut && chosen === undefined; at++) {
    if (!isWhiteSpace(text.charCodeAt(at - 1)) || isWhiteSpace(text.charCodeAt(at))) continue;
    known = floorGraphemeBoundary(text, at, known);
    if (known === at) chosen = at;
  }
  if (chosen === undefined) {
    const floor = floorGraphemeBoundary(text, earliest, start);
    chosen = floor === earliest ? earliest : nextGraphemeBoundary(text, floor);
  }
  if (chosen >= cut) return fresh;
  return floorGraphemeBoundary(text, chosen + maxSize, chosen) > fresh ? chosen : fresh;
}
