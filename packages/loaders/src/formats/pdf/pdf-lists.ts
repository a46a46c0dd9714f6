import { toRows, type PdfSegment } from './pdf-fragments.js';

/** Fewer entries are no list. */
const leastEntries = 8;
/** Share of the lines of a page that are entries, and of the entries that are in order. */
const leastShare = 0.5;
const leastOrdered = 0.85;

const longestEntry = 250;

const leaders = /(?:[.·…]\s?){4,}\s*(\d{1,4}|[ivxlc]{1,7})$/;
const numberAtEnd = /\s(\d{1,4})$/;
const indexEntry = /^(\p{L}|[^\p{L}\s]{0,3}\p{L}).{0,100}?[\s,]\d{1,4}(?:(?:, ?|[–-])\d{1,4}){0,40}\.?$/u;

/**
 * Returns whether a page is a table of contents, or a list of figures, or an index of terms: lists of page numbers, which have the words of all
 * questions and no answer.
 */
export function kindOfPage(segments: readonly PdfSegment[], pages: number): 'contents' | 'index' | undefined {
  const lines = toRows(segments).map((row) =>
    row
      .map(({ text }) => text)
      .join(' ')
      .trim(),
  );
  const least = Math.max(leastEntries, leastShare * lines.length);
  if (lines.filter((line) => leaders.test(line.slice(-60))).length >= least) return 'contents';
  // Without dots, page numbers that grow.
  const numbers = lines.flatMap((line) => {
    const number = Number(numberAtEnd.exec(line.slice(-8))?.[1]);
    return /\p{L}{2}/u.test(line) && number <= pages + 50 ? [number] : [];
  });
  if (
    numbers.length >= least &&
    shareInOrder(numbers, (a, b) => a <= b) >= leastOrdered &&
    numbers[0]! < numbers.at(-1)!
  )
    return 'contents';
  const terms = lines
    .filter((line) => line.length <= longestEntry && indexEntry.test(line))
    .map((line) => /\p{L}/u.exec(line)![0].toLowerCase());
  return terms.length >= least && shareInOrder(terms, (a, b) => a <= b) >= leastOrdered ? 'index' : undefined;
}

function shareInOrder<T>(items: readonly T[], isInOrder: (a: T, b: T) => boolean): number {
  const ordered = items.filter((item, index) => index === 0 || isInOrder(items[index - 1]!, item));
  return ordered.length / items.length;
}
