import { floorGraphemeBoundary, nextGraphemeBoundary } from './grapheme-boundary.js';
import { createSizeLimit, type SizeLimit, type SizeOptions } from './size-limit.js';
import type { Span } from './span.js';
import { isWhiteSpace, skipWhiteSpace, trimEnd } from './trim-span.js';

/** What every strategy is asked for. */
export interface PackOptions extends SizeOptions {
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
  const { overlap, stripWhitespace } = options;
  const end = stripWhitespace ? trimEnd(text, from, to) : to;
  const limit = createSizeLimit(text, options);
  const toSpan = (start: number, cut: number): Span => ({
    start,
    end: stripWhitespace ? trimEnd(text, start, cut) : cut,
  });
  const spans: Span[] = [];
  let fresh = stripWhitespace ? skipWhiteSpace(text, from, end) : from;
  let start = fresh;
  while (fresh < end) {
    const { span, cut } = nextSpan({ start, fresh, end, limit, toSpan }, text, findCut);
    spans.push(span);
    fresh = stripWhitespace ? skipWhiteSpace(text, cut, end) : cut;
    start = overlap === 0 || fresh >= end ? fresh : overlapStart(text, { start, cut, fresh, end, limit }, span.end);
  }
  return spans;
}

interface Progress {
  start: number;
  /** The first character that no span holds yet. */
  fresh: number;
  end: number;
  limit: SizeLimit;
}

interface NextSpan extends Progress {
  toSpan: (start: number, cut: number) => Span;
}

function nextSpan(
  { start, fresh, end, limit, toSpan }: NextSpan,
  text: string,
  findCut: FindCut,
): { span: Span; cut: number } {
  let last = limit.reach(start, end);
  while (last > fresh) {
    if (last === end) return { span: { start, end }, cut: end };
    const preferred = Math.min(last, Math.max(fresh + 1, start + Math.floor((last - start) / smallestPart)));
    const cut = findCut({ start, first: fresh + 1, preferred, last }) ?? last;
    const span = toSpan(start, cut);
    // Only sizes that a function measures can grow when a text gets shorter.
    if (limit.fits(span.start, span.end)) return { span, cut };
    last = floorGraphemeBoundary(text, cut - 1, start);
  }
  // What was to be repeated leaves no room: the next character goes without, whatever its size.
  const cut = Math.min(end, nextGraphemeBoundary(text, fresh));
  return { span: toSpan(fresh, cut), cut };
}

interface Overlap extends Progress {
  cut: number;
}

/** At the start of a word if there is one, else at any grapheme boundary; nowhere if the next chunk would hold nothing new. */
function overlapStart(text: string, { start, cut, fresh, end, limit }: Overlap, repeatedEnd: number): number {
  const earliest = Math.max(start + 1, limit.reachBack(start + 1, cut));
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
  if (chosen >= cut || !limit.mayRepeat(chosen, repeatedEnd)) return fresh;
  return limit.reach(chosen, end) > fresh ? chosen : fresh;
}
