import { endsOf } from '../filter/find-part.js';
import type { FoldedText } from './fold-text.js';
import type { Gap, QuoteContent } from './quote-content.js';

/** Place of a part of a quote, in the folded source. */
export interface PartMatch {
  /** Start of the quote. */
  readonly start: number;
  readonly from: number;
  readonly end: number;
  readonly before: PartMatch | undefined;
}

/** Whether a quote can leave out the folded text between two of its parts. */
export type GapTest = (gap: Gap, from: number, to: number) => boolean;

/**
 * Yields the places of a quote in a folded source. The parts must follow each other without overlap, and the nearest ones count. Places of the
 * quote do not overlap.
 *
 * @param spend - takes steps of the search, and ends it with an error
 */
export function* findPlaces(
  { parts, gaps }: QuoteContent,
  units: Uint16Array,
  isGap: GapTest,
  spend: (steps: number) => void,
): Generator<PartMatch> {
  let earlier: readonly PartMatch[] = [];
  for (const [part, pattern] of parts.entries()) {
    const matches: PartMatch[] = [];
    let [at, last, read] = [-1, 0, 0];
    for (const end of endsOf(pattern, units)) {
      const from = end - pattern.length;
      spend(end - read + (parts.length > 1 ? stepsOfPart : 0));
      read = end;
      while (at + 1 < earlier.length && earlier[at + 1]!.end <= from) at += 1;
      const before = earlier[at];
      if (part > 0 && (!before || !isGap(gaps[part]!, before.end, from))) continue;
      const match = { start: before?.start ?? from, from, end, before };
      if (part < parts.length - 1) matches.push(match);
      else if (match.start >= last) {
        last = end;
        yield match;
      }
    }
    spend(units.length - read);
    if (matches.length === 0) return;
    earlier = matches;
  }
}

/** A place of a part costs as much as reading so many characters. */
const stepsOfPart = 1000;

/** The end of a line, and what begins the next one: marks of block quotes, and the marker of a list item. */
const lineBreak = /^(?:[ \n](?:[-*+•][ \n])?|\n(?:>[ \n]?)*(?:\d{1,3}[.)][ \n]|[-*+•][ \n])?)$/;
const ellipsisAlone = /^[ \n]?[[(]?(?:…|\.(?: ?\.){2,})[\])]?[ \n]?$/;
/** Characters of the longest line break or ellipsis that is read. */
const longestFixedGap = 100;

/** @param maxGap - characters that an ellipsis can stand for; 0 for none but an ellipsis of the source */
export function createGapTest(text: string, { starts, ends }: FoldedText, maxGap: number): GapTest {
  return (gap, from, to) => {
    if (gap === 'ellipsis' && to - from <= maxGap) return true;
    const [start, end] = [ends[from - 1]!, starts[to]!];
    if (end - start > longestFixedGap) return false;
    const between = text.slice(start, end).replaceAll(/\s+/g, (space) => (space.includes('\n') ? '\n' : ' '));
    return (gap === 'ellipsis' ? ellipsisAlone : lineBreak).test(between);
  };
}

/** Returns the text of the source for each ellipsis of a quote. */
export function omittedBy(
  { from, before }: PartMatch,
  { gaps }: QuoteContent,
  text: string,
  folded: FoldedText,
): string[] {
  const omitted: string[] = [];
  for (let [next, match, part] = [from, before, gaps.length - 1]; match; part -= 1) {
    if (gaps[part] === 'ellipsis') omitted.push(text.slice(folded.ends[match.end - 1], folded.starts[next]).trim());
    [next, match] = [match.from, match.before];
  }
  return omitted.reverse();
}
