import { type Line } from './pdf-lines.js';
import type { PdfPage } from './pdf-page.js';

/** Number of pages with a line that makes it a header or a footer; distance of two of them; lines at an edge that are compared. */
const [minPages, longestGap, edgeLines] = [3, 3, 2];
const pageNumber = /^[^\p{L}\d]*(?:\d{1,5}|[ivxlc]{1,7})[^\p{L}\d]*$/iu;

/**
 * Finds headers and footers: lines at the edges of three neighboring pages or more whose texts are equal, apart from one number that grows with
 * the pages, or whose first or last cell is the number of the page.
 *
 * @returns lines that are not part of the text of their page
 */
export function findRunningLines(pages: readonly PdfPage[], body: number): Set<Line> {
  const groups = new Map<string, Line[]>();
  for (const page of pages) {
    const lines = page.lines.filter(({ isRotated }) => !isRotated).toSorted((a, b) => a.top - b.top);
    const edges = [...lines.slice(0, edgeLines), ...lines.slice(edgeLines).slice(-edgeLines)];
    for (const line of edges) {
      const text = line.text;
      const names = /\p{L}{2}/u.test(text) ? [text.replace(/\b[ivxlc]+$/i, '#')] : [];
      const isTitle = line.size > body * 1.08;
      for (const { 0: digits, index } of [...text.matchAll(/\d{1,5}/g)].slice(0, 8)) {
        const key = `#${Number(digits) - page.number}`;
        if (!isTitle) names.push(text.slice(0, index) + key + text.slice(index + digits.length));
        // Next to the number of the page, the title of a section may change.
        const isOuter = line === lines[0] || line === lines.at(-1);
        if (isOuter && (line.cells[0]!.text === digits || line.cells.at(-1)!.text === digits)) names.push(key);
      }
      for (const name of new Set(names)) {
        const place = `${Math.round(line.baseline / 3)} ${isTitle} ${name}`;
        groups.set(place, [...(groups.get(place) ?? []), line]);
      }
    }
  }
  const isNear = (line: Line, other: Line | undefined): boolean =>
    other !== undefined && Math.abs(other.page - line.page) <= longestGap;
  const running = [...groups.values()].flatMap((group) => {
    const near = group.filter((line, at) => isNear(line, group[at - 1]) || isNear(line, group[at + 1]));
    // The first of equal titles is the title.
    return near.length < minPages ? [] : near.slice(near[0]!.size > body * 1.08 ? 1 : 0);
  });
  return new Set(running.toSorted((a, b) => a.page - b.page));
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
