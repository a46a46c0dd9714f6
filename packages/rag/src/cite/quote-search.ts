import type { FoldedText } from './fold-text.js';
import type { Gap, QuoteContent } from './quote-content.js';

/** Receives the places where parts of a quote end, in order, and returns the last part when the quote is complete. */
export type QuoteSearch = (part: number, end: number) => PartMatch | undefined;

/** Place of a part of a quote, in the folded source. */
export interface PartMatch {
  /** Start of the quote. */
  readonly start: number;
  /** Start of the part. */
  readonly from: number;
  readonly end: number;
  /** The part before it. */
  readonly before: PartMatch | undefined;
}

/** Places of one part, after those before it. */
interface PartPlaces {
  readonly matches: PartMatch[];
  /** Last one that ends before the next part that was seen. */
  at: number;
}

/** Whether a quote can leave out the folded text between two of its parts. */
export type GapTest = (gap: Gap, from: number, to: number) => boolean;

/**
 * Searches for a quote in one source. The parts must follow each other without overlap, and the nearest ones count. Places of the quote do
 * not overlap.
 */
export function createSearch({ parts, gaps }: QuoteContent, isGap: GapTest): QuoteSearch {
  const places = parts.map((): PartPlaces => ({ matches: [], at: -1 }));
  let last = 0;
  return (part, end) => {
    const from = end - parts[part]!.length;
    const earlier = places[part - 1];
    let before: PartMatch | undefined;
    if (earlier) {
      const { matches } = earlier;
      while (earlier.at + 1 < matches.length && matches[earlier.at + 1]!.end <= from) earlier.at += 1;
      before = matches[earlier.at];
      if (!before || !isGap(gaps[part]!, before.end, from)) return undefined;
    }
    const start = before?.start ?? from;
    if (start < last) return undefined;
    const match = { start, from, end, before };
    if (part < parts.length - 1) {
      places[part]!.matches.push(match);
      return undefined;
    }
    last = end;
    return match;
  };
}

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
