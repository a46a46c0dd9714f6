import { toRows, type PdfPage, type PdfSegment } from './pdf-fragments.js';
import { titleKey, type PdfOutline } from './pdf-outline.js';
import { headingSize } from './pdf-style.js';

/** Number of pages with a text at the same place that makes it a header or footer. */
const minPages = 3;
/** Part of all pages that have a number next to changing texts, which makes it the number of the page. */
const minPageShare = 0.3;
/** Number of lines at the top and at the bottom that are compared. */
const edgeLines = 2;
/** Number of numbers at the start and at the end of a line that may be the number of the page. */
const edgeNumbers = 4;
const pageNumber = /^[^\p{L}\d]*\d{1,5}[^\p{L}\d]*$/u;
/** Distance of two pages that are neighbors: a header may be on one side of the sheets only, and missing on a page with a picture. */
const longestGap = 3;
/** Distance from a running line to the text of the page, in font sizes. */
const leastDistance = 1.5;
/** Share of the lines at a height that are titles of the document. */
const leastTitles = 0.5;

/** A line at the edge of a page. */
interface EdgeLine {
  readonly row: readonly PdfSegment[];
  readonly page: number;
  /** Whether it is the first or last line of its page. */
  readonly isOutermost: boolean;
  readonly isHeading: boolean;
}

/** Headers and footers of a document, and page numbers. */
export interface RunningText {
  /** Lines that are not part of the text of their page. */
  readonly segments: ReadonlySet<PdfSegment>;
  /** The different headers and footers, in order. */
  readonly lines: readonly string[];
}

/**
 * Finds the headers and footers of all pages, and page numbers: lines at the edge of three neighboring pages or more with the same text, apart from one
 * number that grows with the pages; and further lines at the height at which many pages have one of them, or a title of the document. Rows of a table are not: their other
 * numbers differ. Nor are numbered headings, and the first of equal titles of pages that follow each other.
 *
 * @param body - font size of the text
 */
export function findRunningText(pages: readonly PdfPage[], body: number, outline: PdfOutline): RunningText {
  const edges = pages.map(({ segments }, page) => edgesOf(segments, page, body));
  const groups = new Map<string, EdgeLine[]>();
  const numbers = new Map<string, PdfSegment[]>();
  for (const line of edges.flat()) {
    const { row, page, isHeading } = line;
    const height = Math.round(row[0]!.baseline / 3);
    for (const name of new Set(toRunningNames(row, isHeading ? undefined : page)))
      add(groups, `${height} ${name}`, line);
    const single = row.filter(({ text }) => /\d/.test(text) && !/\p{L}/u.test(text));
    const [segment] = single;
    if (!segment || single.length > 1 || !pageNumber.test(segment.text)) continue;
    if (segment === row[0] || segment === row.at(-1))
      add(numbers, `${height} ${Number(/\d+/.exec(segment.text)![0]) - page}`, segment);
  }
  const running = new Set<EdgeLine>();
  for (const group of groups.values()) {
    // The text of several pages may begin with the same words.
    const runs = splitAtGaps(group.filter(({ isOutermost }) => isOutermost)).filter(({ length }) => length >= minPages);
    const isFrequent = group.length >= Math.max(minPages, pages.length * minPageShare);
    const found = group[0]!.isHeading
      ? runs.flatMap((run) => run.slice(1))
      : runs.length > 0 || isFrequent
        ? group
        : [];
    for (const line of found) running.add(line);
  }
  addTitles(edges, running, readTitles(pages, body, outline));
  const segments = new Set([...running].flatMap(({ row }) => row));
  for (const group of numbers.values())
    if (group.length >= Math.max(minPages, pages.length * minPageShare))
      for (const segment of group) segments.add(segment);
  return { segments, lines: differentLines([...running].toSorted((a, b) => a.page - b.page)) };
}

function edgesOf(segments: readonly PdfSegment[], page: number, body: number): EdgeLine[] {
  const rows = toRows(segments);
  return [...new Set([...rows.slice(0, edgeLines), ...rows.slice(-edgeLines)])].map((row) => ({
    row,
    page,
    isOutermost: row === rows[0] || row === rows.at(-1),
    isHeading: row.some(({ text, size }) => /\p{L}/u.test(text) && size >= body * headingSize),
  }));
}

/** Splits the lines with a title, which another part of the document may share. */
function splitAtGaps(lines: readonly EdgeLine[]): EdgeLine[][] {
  const runs: EdgeLine[][] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last && line.page - last.at(-1)!.page <= longestGap) last.push(line);
    else runs.push([line]);
  }
  return runs;
}

/**
 * Adds the outermost lines at a height, and of a size, at which most pages have a title of the document that is apart from the text: those
 * of short chapters and sections are on a page or two.
 */
function addTitles(edges: readonly (readonly EdgeLine[])[], running: Set<EdgeLine>, titles: ReadonlySet<string>): void {
  const groups = new Map<string, EdgeLine[]>();
  for (const lines of edges) {
    for (const [line, next] of [lines, lines.toReversed()] as [EdgeLine?, EdgeLine?][]) {
      if (!line || !next || line.isHeading) continue;
      const [{ baseline, size }] = line.row as [PdfSegment];
      if (Math.abs(next.row[0]!.baseline - baseline) >= size * leastDistance)
        add(groups, `${Math.round(baseline)} ${Math.round(size * 2)}`, line);
    }
  }
  for (const lines of groups.values()) {
    const known = lines.filter((line) => running.has(line) || hasTitle(line, titles));
    const isRunning =
      lines.length >= Math.max(minPages, edges.length * minPageShare) && known.length >= lines.length * leastTitles;
    if (isRunning) for (const line of lines) running.add(line);
  }
}

function hasTitle({ row }: EdgeLine, titles: ReadonlySet<string>): boolean {
  const parts = row.flatMap(({ text }) => text.split(/\s[|•·…–—-]\s/));
  return parts.some((part) => titles.has(titleKey(part)));
}

/** Returns the keys of the titles in the outline, and of those in a larger font. */
function readTitles(pages: readonly PdfPage[], body: number, outline: PdfOutline): Set<string> {
  const titles = new Set([...outline.values()].flatMap((own) => [...own.keys()]));
  for (const { segments } of pages)
    for (const { text, size } of segments) if (size >= body * headingSize) titles.add(titleKey(text));
  titles.delete('');
  return titles;
}

/** Returns the texts of lines, each once, regardless of its numbers. */
function differentLines(lines: readonly EdgeLine[]): string[] {
  const texts = new Map<string, string>();
  for (const { row } of lines) {
    const text = row.flatMap((segment) => (pageNumber.test(segment.text) ? [] : [segment.text])).join(' ');
    const key = text.replace(/\d+/g, '#');
    if (/\p{L}{2}/u.test(text) && !texts.has(key)) texts.set(key, text);
  }
  return [...texts.values()];
}

/** Returns the text of a line, and for each number in it, its distance from the page and the text without it. */
function toRunningNames(row: readonly PdfSegment[], page: number | undefined): string[] {
  const roman = row.map(({ text }) => text.replace(/^[ivxlc]+$/i, '#')).join(' ');
  // A row of numbers that repeats is data.
  const names = /\p{L}{2}|#/u.test(roman) ? [roman] : [];
  if (page === undefined) return names;
  const text = row.map((segment) => segment.text).join(' ');
  const found = [...text.matchAll(/\d+/g)];
  for (const { 0: digits, index } of new Set([...found.slice(0, edgeNumbers), ...found.slice(-edgeNumbers)])) {
    if (digits.length > 5) continue;
    names.push(`${Number(digits) - page} ${text.slice(0, index)}#${text.slice(index + digits.length)}`);
  }
  return names;
}

function add<T>(groups: Map<string, T[]>, key: string, value: T): void {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
}
