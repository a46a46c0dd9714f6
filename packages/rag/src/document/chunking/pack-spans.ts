import {
  floorGraphemeBoundary,
  floorWordBoundary,
  isWhiteSpace,
  nextGraphemeBoundary,
  skipWhiteSpace,
  trimEnd,
} from './text-boundary.js';
import { createSizeLimit, type SizeLimit, type SizeOptions } from './size-limit.js';
import type { Span } from './span.js';

/** Whether a separator stands at the start of the chunk after the cut or at the end of the chunk before. */
export type SeparatorPosition = 'start' | 'end';

/** The common options, with defaults. */
export interface PackOptions extends SizeOptions {
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

/** Splits the whole text, see {@link createPacker}. */
export function packSpans(text: string, options: PackOptions, findCut: FindCut): Span[] {
  return createPacker(text, options, findCut)(0, text.length);
}

/**
 * Returns a function that splits a part of the text into spans in order, each as long as the limits and `findCut` allow. The bounds
 * of the part must be grapheme boundaries. Between two spans nothing is missing but white space, and that only with `stripWhitespace`.
 *
 * A single grapheme cluster longer than `maxSize` becomes a span of its own.
 */
export function createPacker(
  text: string,
  options: PackOptions,
  findCut: FindCut,
): (from: number, to: number) => Span[] {
  const { overlap, stripWhitespace } = options;
  const limit = createSizeLimit(text, options);
  const toSpan = (start: number, cut: number): Span => ({
    start,
    end: stripWhitespace ? trimEnd(text, start, cut) : cut,
  });
  return (from, to) => {
    const end = stripWhitespace ? trimEnd(text, from, to) : to;
    const spans: Span[] = [];
    let fresh = stripWhitespace ? skipWhiteSpace(text, from, end) : from;
    let start = fresh;
    while (fresh < end) {
      const { span, cut } = nextSpan({ start, fresh, end, limit, toSpan }, text, findCut);
      spans.push(span);
      fresh = stripWhitespace ? skipWhiteSpace(text, cut, end) : cut;
      if (overlap === 0 || fresh >= end) start = fresh;
      else {
        start = overlapStart(text, { start, cut, fresh, end, limit }, span.end);
        // A repeated part must not begin with white space either.
        if (stripWhitespace && start < fresh) start = skipWhiteSpace(text, start, fresh);
      }
    }
    return spans;
  };
}

interface Progress {
  start: number;
  /** The first character that no span contains yet. */
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
    const cut = findCut({ start, first: fresh + 1, preferred, last }) ?? floorWordBoundary(text, last, preferred);
    const span = toSpan(start, cut);
    // Only sizes that a function measures can grow when a text gets shorter.
    if (limit.fits(span.start, span.end)) return { span, cut };
    last = floorGraphemeBoundary(text, cut - 1, start);
  }
  // The overlap leaves no room: the next character becomes a span without it, whatever its size.
  const cut = Math.min(end, nextGraphemeBoundary(text, fresh));
  return { span: toSpan(fresh, cut), cut };
}

interface Overlap extends Progress {
  cut: number;
}

/** Returns the start of a word if there is one, otherwise any grapheme boundary; `fresh` if the next chunk would contain nothing new. */
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
