import { textOf, type Line, type PdfPage } from './pdf-page.js';

/** Number of pages with a line that makes it a header or a footer. */
const minPages = 3;
/** Distance of two such pages: a header may be on one side of the sheets only. */
const longestGap = 3;
/** Number of lines at the top and at the bottom that are compared. */
const edgeLines = 2;
const pageNumber = /^[^\p{L}\d]*(?:\d{1,5}|[ivxlc]{1,7})[^\p{L}\d]*$/iu;

/**
 * Finds headers and footers: lines at the edges of three neighboring pages or more whose texts are equal, apart from one number that grows with
 * the pages, or whose first or last cell is the number of the page.
 *
 * @returns lines that are not part of the text of their page
 */
export function findRunningLines(pages: readonly PdfPage[], body: number): Set<Line> {
  const running = new Set<Line>();
  const edges = pages.map(({ lines }) => {
    const sorted = lines.filter(({ isRotated }) => !isRotated).toSorted((a, b) => a.top - b.top);
    return { top: sorted.slice(0, edgeLines), bottom: sorted.slice(-edgeLines).toReversed() };
  });
  for (const edge of ['top', 'bottom'] as const) {
    const groups = new Map<string, { line: Line; page: number }[]>();
    for (const [page, { [edge]: lines }] of edges.entries()) {
      for (const [at, line] of lines.entries()) {
        for (const name of namesOf(textOf(line), line.size > body * 1.08 ? undefined : page))
          add(groups, `${Math.round(line.baseline / 3)} ${name}`, { line, page });
        // Next to the number of the page, the title of a section may change.
        const numbers = [line.cells[0]!, line.cells.at(-1)!].filter(({ text }) => /^\d{1,5}$/.test(text));
        for (const { text } of at === 0 ? numbers : [])
          add(groups, `${Math.round(line.baseline / 3)} ${Number(text) - page}`, { line, page });
      }
    }
    for (const group of groups.values()) {
      const near = group.filter(({ page }, at) => {
        const [before, after] = [group[at - 1], group[at + 1]];
        return [before, after].some((other) => other && Math.abs(other.page - page) <= longestGap);
      });
      // The first of equal titles is the title.
      const isTitle = group[0]!.line.size > body * 1.08;
      if (near.length >= minPages) for (const { line } of near.slice(isTitle ? 1 : 0)) running.add(line);
    }
  }
  return running;
}

/** Returns the different texts of lines, regardless of numbers, without those of pages. */
export function differentTexts(lines: Iterable<Line>): string[] {
  const texts = new Map<string, string>();
  for (const { cells } of lines) {
    const text = cells.flatMap((cell) => (pageNumber.test(cell.text) ? [] : [cell.text])).join(' ');
    const key = text.replace(/\d+/g, '#');
    if (/\p{L}{2}/u.test(text) && !texts.has(key)) texts.set(key, text);
  }
  return [...texts.values()];
}

/** Returns the text, and the text with each of its numbers as the distance to the page. */
function namesOf(text: string, page: number | undefined): Set<string> {
  const names = new Set(/\p{L}{2}/u.test(text) ? [text.replace(/\b[ivxlc]+$/i, '#')] : []);
  if (page === undefined) return names;
  for (const { 0: digits, index } of [...text.matchAll(/\d{1,5}/g)].slice(0, 8))
    names.add(`${text.slice(0, index)}#${Number(digits) - page}${text.slice(index + digits.length)}`);
  return names;
}

function add<T>(groups: Map<string, T[]>, key: string, value: T): void {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
}
