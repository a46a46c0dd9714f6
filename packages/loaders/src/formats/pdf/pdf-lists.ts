import type { PdfSegment } from './pdf-fragments.js';

/** Kind of a list of page numbers. */
export type ListKind = 'contents' | 'index';

/** Kind of a whole page. */
export type PageKind = ListKind | 'some contents';

/** Least number of entries of a list. */
const leastEntries = 8;
/** Entries that the last page of a list may have. */
const leastContinued = 2;
/** Entries with leader dots that are a list on a page with other text. */
const leastLeaders = 3;
/** Share of the lines of a page that are entries, and of the entries that are in order. */
const leastShare = 0.5;
const leastOrdered = 0.85;

const longestEntry = 250;

const leaders = /(?:[.·…]\s?){4,}\s*((?:\d{1,4}(?:, ?|$)){1,20}|[ivxlc]{1,7})$/;
const pagesAtEnd = /[\s,–-]\d{1,4},?$/;
const numberAtEnd = /\s(\d{1,4})$/;
const indexEntry = /^(\p{L}|[^\p{L}\s]{0,3}\p{L}).{0,100}?[\s,]\d{1,4}(?:(?:, ?|[–-])\d{1,4}){0,40}\.?$/u;

/** Whether a line is an entry of a list of pages, with leader dots. */
export function isEntry(line: string): boolean {
  return leaders.test(line.slice(-100));
}

/**
 * Returns whether a page is a table of contents, or a list of figures, or an index of terms: lists of page numbers, which have the words of all
 * questions and no answer. A page with other text has `some contents` where a few entries with leader dots follow each other.
 *
 * @param rows - from top to bottom
 * @param pages - number of pages of the document
 * @param before - kind of the page before it, whose list may end here
 */
export function kindOfPage(
  rows: readonly (readonly PdfSegment[])[],
  pages: number,
  before: PageKind | undefined,
): PageKind | undefined {
  const lines = rows.map(toLine);
  const leastOf = (kind: ListKind): number =>
    Math.max(before === kind ? leastContinued : leastEntries, leastShare * lines.length);
  const led = lines.filter(isEntry);
  const ledKind = kindOfLed(led);
  if (ledKind && led.length >= leastOf(ledKind)) return ledKind;
  // Without dots.
  const numbers = lines.flatMap((line) => {
    const number = Number(numberAtEnd.exec(line.slice(-8))?.[1]);
    return /\p{L}{2}/u.test(line) && number <= pages + 50 ? [number] : [];
  });
  if (numbers.length >= leastOf('contents') && areGrowing(numbers) && numbers[0]! < numbers.at(-1)!) return 'contents';
  const terms = lines.filter((line) => line.length <= longestEntry && indexEntry.test(line));
  if (terms.length >= leastOf('index') && areSorted(terms)) return 'index';
  const continued = before === 'index' ? lines.filter((line) => pagesAtEnd.test(line.slice(-12))) : [];
  if (continued.length >= Math.max(leastContinued, leastShare * lines.length)) return 'index';
  return ledKind === 'contents' && led.length >= leastLeaders ? 'some contents' : undefined;
}

/** Returns the kind of lines with leader dots, which a list of prices has too. */
function kindOfLed(lines: readonly string[]): ListKind | undefined {
  if (lines.length < leastContinued) return undefined;
  const numbers = lines.map((line) => leaders.exec(line.slice(-100))![1]!);
  if (areGrowing(numbers.map(Number).filter(Number.isFinite)) && numbers.every((number) => !number.includes(',')))
    return 'contents';
  return areSorted(lines) ? 'index' : undefined;
}

function toLine(row: readonly PdfSegment[]): string {
  return row
    .map(({ text }) => text)
    .join(' ')
    .trim();
}

function areGrowing(numbers: readonly number[]): boolean {
  return shareInOrder(numbers, (a, b) => a <= b) >= leastOrdered;
}

function areSorted(terms: readonly string[]): boolean {
  const letters = terms.flatMap((term) => /\p{L}/u.exec(term)?.[0].toLowerCase() ?? []);
  return shareInOrder(letters, (a, b) => a <= b) >= leastOrdered;
}

/** 1 for a list without items. */
function shareInOrder<T>(items: readonly T[], isInOrder: (a: T, b: T) => boolean): number {
  const ordered = items.filter((item, index) => index === 0 || isInOrder(items[index - 1]!, item));
  return items.length === 0 ? 1 : ordered.length / items.length;
}
