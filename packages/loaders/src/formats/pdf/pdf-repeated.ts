import { headingSize, textOf, type Line } from './pdf-lines.js';
import type { PdfPage } from './pdf-page.js';

/** Number of pages with a line that makes it a header or a footer; distance of two of them; lines at an edge that are compared. */
const [minPages, longestGap, edgeLines] = [3, 3, 2];

/** Lines that say again what is in the text. */
export interface Repeated {
  /** Headers and footers, which are not a part of the text of their page. */
  readonly running: ReadonlySet<Line>;
  /** Bold and large lines, each the first with its key. */
  readonly titles: ReadonlyMap<string, Line>;
}

/**
 * Finds headers and footers: lines at the edges of three neighboring pages or more whose texts are equal, apart from one number that grows with
 * the pages, or whose first or last cell is the number of the page, or whose cells are titles above.
 */
export function findRepeated(pages: readonly PdfPage[], body: number): Repeated {
  const titles = new Map<string, Line>();
  for (const line of pages.flatMap(({ lines }) => lines)) {
    const { size, isBold, text } = line;
    const isTitle = (isBold || size > body * headingSize) && text.length < 150 && /\p{L}/u.test(text);
    const key = isTitle ? titleKey(text) : '';
    if (key !== '' && !titles.has(key)) titles.set(key, line);
  }
  const groups = new Map<string, Line[]>();
  for (const page of pages) {
    const lines = page.lines.filter(({ isRotated }) => !isRotated).toSorted((a, b) => a.box[1] - b.box[1]);
    for (const line of new Set([...lines.slice(0, edgeLines), ...lines.slice(-edgeLines)])) {
      const { text } = line;
      const isTitle = line.size > body * headingSize;
      const isOuter = line === lines[0] || line === lines.at(-1);
      const names = new Set(/\p{L}{2}/u.test(text) ? [text.replace(/\b[ivxlc]+$/i, '#')] : []);
      for (const { 0: digits, index } of [...text.matchAll(/\d{1,5}/g)].slice(0, 8)) {
        const key = `#${Number(digits) - page.number}`;
        if (!isTitle) names.add(text.slice(0, index) + key + text.slice(index + digits.length));
        // Next to the number of the page, the title of a section may change.
        if (isOuter && (line.cells[0]!.text === digits || line.cells.at(-1)!.text === digits)) names.add(key);
      }
      const isOfTitles = line.cells.every((cell) => {
        const title = titles.get(titleKey(cell.text));
        return !/\p{L}/u.test(cell.text) || (title && title !== line && title.page <= page.number);
      });
      if (isOuter && !isTitle && isOfTitles && /\p{L}/u.test(text)) names.add('titles');
      for (const name of names) {
        const place = `${Math.round(line.baseline / 3)} ${isTitle} ${name}`;
        groups.set(place, [...(groups.get(place) ?? []), line]);
      }
    }
  }
  const running = [...groups.values()].flatMap((group) => {
    const near = group.filter(({ page }, at) =>
      [group[at - 1], group[at + 1]].some((other) => other && Math.abs(other.page - page) <= longestGap),
    );
    // The first of equal titles is the title.
    return near.length < minPages ? [] : near.slice(near[0]!.size > body * headingSize ? 1 : 0);
  });
  return { running: new Set(running.toSorted((a, b) => a.page - b.page)), titles };
}

/** Returns the different texts of lines, regardless of numbers, without those of pages. */
export function differentTexts(lines: Iterable<Line>): string[] {
  const texts = [...lines].map(({ cells }) => textOf(cells.filter(({ text }) => /\p{L}{2}/u.test(text))));
  const seen = new Set(['']);
  return texts.filter((text) => seen.size < seen.add(text.replace(/\d+|\b[ivxlc]+$/gi, '#')).size);
}

/** Least number of terms of an index, and of entries of contents; share of the entries of a whole page, and most lines from one to the next. */
const [leastTerms, leastEntries, wholePage, longestRest] = [8, 3, 0.75, 5];
const leaders = /(?:(?:\.\s?){2}|(?:[·…]\s?){4})\s*(?:(?:\d{1,4}(?:–\d{1,4})?(?:, ?|$)){1,20}|[ivxlc]{1,7})$/;
const titleAndPage = /^(.{2,150}\D)\s(?:\d{1,4}|[ivxlc]{1,7})$/;
const term = /^[^\p{L}]{0,3}(\p{L}).{0,100}?[\s,]\d{1,4}(?:(?:, ?|[–-])\d{1,4}){0,40}[.,]?$/u;

/**
 * Finds the lines of tables of contents and indexes on a page: lists of page numbers, which have the words of all questions and no answer.
 *
 * @param titles - keys of the headings of the document
 */
export function findLists(lines: readonly Line[], titles: ReadonlyMap<string, Line>): Map<Line, string> {
  const list = (kind: string, of: readonly Line[]): Map<Line, string> => new Map(of.map((line) => [line, kind]));
  // Lines of numbers continue an entry.
  const least = Math.max(leastTerms, lines.filter(({ text }) => /\p{L}/u.test(text)).length / 2);
  const terms = lines.flatMap(({ text }) => term.exec(text.slice(0, 250))?.[1]?.toLowerCase() ?? []);
  if (terms.length >= least && isSorted(terms)) return list('index', lines);
  const entries = lines.flatMap(({ text }, index) => {
    const [, title] = titleAndPage.exec(text.slice(0, 160)) ?? [];
    return (title && titles.has(titleKey(title))) || leaders.test(text.slice(-100)) ? [index] : [];
  });
  const isWhole = entries.length >= leastTerms && entries.length >= lines.length * wholePage;
  return list('contents', isWhole ? lines : findRuns(lines, entries));
}

/** Finds the lines from the first to the last of several entries that are close to each other. */
function findRuns(lines: readonly Line[], entries: readonly number[]): Line[] {
  const runs: Line[] = [];
  let first = 0;
  for (const [at, index] of entries.entries()) {
    if (entries[at + 1]! - index <= longestRest) continue;
    if (at - first >= leastEntries - 1) runs.push(...lines.slice(entries[first], index + 1));
    first = at + 1;
  }
  return runs;
}

/** Whether most of the values are not less than the one before. */
function isSorted(values: readonly string[]): boolean {
  return values.filter((value, index) => index === 0 || values[index - 1]! <= value).length >= values.length * 0.85;
}

/** Returns what is equal in a bookmark, in an entry of contents and in the heading on the page: no numbers in front, no spaces and marks. */
export function titleKey(title: string): string {
  const plain = title.normalize('NFKC').toLowerCase();
  const number =
    /^(?:(?:chapter|appendix|part|section)\s+)?(?:(?:\d+(?:\.\d+)*[.:]?|[a-z](?:\.\d+)+|[ivxlc]{1,6}[.:])\s+(?=\S))?/;
  return plain.replace(number, '').replace(/[^\p{L}\p{N}]+/gu, '');
}
