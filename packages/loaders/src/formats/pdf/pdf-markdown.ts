import type { SkippedText, TextBox } from '@quiver/rag/document';
import { readBlocks, type PdfBlock } from './pdf-blocks.js';
import { toFragments, toRows, toSegments, type PdfSegment, type PdfTextContent } from './pdf-fragments.js';
import { kindOfPage } from './pdf-lists.js';
import { titleKey, type PdfOutline } from './pdf-outline.js';

/** A page as `unpdf` reads it. */
export interface PdfPageContent {
  readonly content: PdfTextContent;
  /** Matrix from the coordinates of the file to those of the page as it is shown, from `getViewport()`. */
  readonly view: readonly number[];
}

/** The text of a page as Markdown; empty for a page without text. */
export interface PdfPageText {
  readonly text: string;
  readonly boxes: readonly TextBox[];
  /** The whole text, if it is a table of contents or an index. */
  readonly skip: readonly SkippedText[];
}

/**
 * Writes the pages of a PDF document as Markdown: in reading order, with headings by the outline and by font size, tables and listings by geometry, and
 * words joined that are hyphenated at the end of a line. Headers and footers that occur on three pages or more stay on the first only.
 */
export function toMarkdownPages(pages: readonly PdfPageContent[], outline: PdfOutline = new Map()): PdfPageText[] {
  const read = pages.map(({ content, view }) => {
    const { fragments, rotated } = toFragments(content, view);
    return { segments: toRows(fragments).flatMap(toSegments), rotated };
  });
  const style = readStyle(read.map(({ segments }) => segments));
  const running = findRunningText(
    read.map(({ segments }) => segments),
    style.body,
  );
  return read.map(({ segments, rotated }, page) => {
    const boxes: TextBox[] = [];
    let text = '';
    for (const block of readBlocks(segments.filter((segment) => !running.has(segment)))) {
      const markdown = toMarkdown(block, style, outline.get(page));
      if (markdown === '') continue;
      if (text !== '') text += '\n\n';
      boxes.push({ start: text.length, end: text.length + markdown.length, box: block.box });
      text += markdown;
    }
    if (rotated.length > 0) text += `${text === '' ? '' : '\n\n'}${rotated.join(' ')}`;
    const kind = kindOfPage(segments, pages.length);
    return { text, boxes, skip: kind !== undefined && text !== '' ? [{ start: 0, end: text.length, kind }] : [] };
  });
}

interface DocumentStyle {
  /** Font size of most of the text. */
  readonly body: number;
  /** Sizes of headings, largest first. */
  readonly headings: readonly number[];
  /** Words with a hyphen, and words without, in lower case. */
  readonly words: ReadonlySet<string>;
}

/** Part of the size of the text by which a heading is larger. */
const headingSize = 1.08;
/** Share of the text that may have the size of a heading. */
const mostHeadings = 0.2;
const longestHeading = 200;

function readStyle(pages: readonly (readonly PdfSegment[])[]): DocumentStyle {
  /** Letters by size. Listings do not count: a manual of commands may have more of them than of text. */
  const letters = new Map<number, number>();
  const listings = new Map<number, number>();
  let total = 0;
  const words = new Set<string>();
  const large = new Set<number>();
  for (const { text, size, isMonospaced } of pages.flat()) {
    if (/\p{L}{3}/u.test(text)) large.add(roundSize(size));
    const counts = isMonospaced ? listings : letters;
    counts.set(roundSize(size), (counts.get(roundSize(size)) ?? 0) + text.length);
    if (!isMonospaced) total += text.length;
    for (const [word] of text.matchAll(/\p{L}[\p{L}-]*\p{L}(?![\p{L}-])/gu)) words.add(word.toLowerCase());
  }
  const body = [...(letters.size > 0 ? letters : listings)].reduce(
    (most, entry) => (entry[1] > most[1] ? entry : most),
    [0, 0],
  )[0];
  const headings = [...large]
    .filter((size) => size >= body * headingSize && (letters.get(size) ?? 0) <= mostHeadings * total)
    .toSorted((a, b) => b - a);
  return { body, headings, words };
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}

function toMarkdown(
  { kind, lines, size }: PdfBlock,
  style: DocumentStyle,
  titles: ReadonlyMap<string, number> = new Map(),
): string {
  if (kind === 'table') return lines[0]!;
  if (kind === 'code') return `\`\`\`\n${lines.join('\n').replaceAll('```', "'''")}\n\`\`\``;
  const text = joinLines(lines, style.words);
  const isShort = text.length <= longestHeading && /\p{L}/u.test(text);
  const outlined = isShort && titles.size > 0 ? titles.get(titleKey(text)) : undefined;
  const level = outlined ?? style.headings.indexOf(roundSize(size)) + 1;
  if (level > 0 && isShort) return `${'#'.repeat(Math.min(6, level))} ${text}`;
  // Text that looks like the marks of a heading or a listing.
  return text.replace(/^[•◦▪‣·]\s*/, '- ').replace(/^(#{1,6}\s|```|~~~|=+$|-{2,}$)/, '\\$1');
}

/** Joins lines, and the parts of words that were hyphenated between them. */
function joinLines(lines: readonly string[], words: ReadonlySet<string>): string {
  let last = lines[0]!;
  const joined: string[] = [];
  for (const line of lines.slice(1)) {
    const end = /(\p{L}+)[-\u00AD\u2010]$/u.exec(last.slice(-60));
    const start = /^\p{Ll}\p{L}*/u.exec(line.slice(0, 60));
    const compound = end && start ? `${end[1]}-${start[0]}`.toLowerCase() : '';
    const isCompound = last.endsWith('-') && words.has(compound) && !words.has(compound.replace('-', ''));
    if (compound === '') joined.push(last, ' ');
    else joined.push(isCompound ? last : last.slice(0, -1));
    last = line;
  }
  return joined.join('') + last;
}

/** Number of pages with a text at the same place that makes it a header or footer. */
const minPages = 3;
/** Part of all pages that have a number next to changing texts, which makes it the number of the page. */
const minPageShare = 0.3;
/** Number of lines at the top and at the bottom that are compared. */
const edgeLines = 2;
/** Number of numbers at the start and at the end of a line that may be the number of the page. */
const edgeNumbers = 4;
const pageNumber = /^[^\p{L}\d]*\d{1,5}[^\p{L}\d]*$/u;

/**
 * Returns the headers and footers of all pages, except the first with each text, and page numbers: lines at the edge of three pages or
 * more with the same text, apart from one number that grows with the pages. Rows of a table are not: their other numbers differ. Nor are
 * numbered headings.
 */
function findRunningText(pages: readonly (readonly PdfSegment[])[], body: number): Set<PdfSegment> {
  const groups = new Map<string, (readonly PdfSegment[])[]>();
  const numbers = new Map<string, PdfSegment[]>();
  pages.forEach((segments, page) => {
    const rows = toRows(segments);
    for (const row of new Set([...rows.slice(0, edgeLines), ...rows.slice(-edgeLines)])) {
      const height = Math.round(row[0]!.baseline / 3);
      const isHeading = row.some(({ text, size }) => /\p{L}/u.test(text) && size >= body * headingSize);
      for (const name of new Set(toRunningNames(row, isHeading ? undefined : page)))
        add(groups, `${height} ${name}`, row);
      const single = row.filter(({ text }) => /\d/.test(text) && !/\p{L}/u.test(text));
      const [segment] = single;
      if (!segment || single.length > 1 || !pageNumber.test(segment.text)) continue;
      if (segment === row[0] || segment === row.at(-1))
        add(numbers, `${height} ${Number(/\d+/.exec(segment.text)![0]) - page}`, segment);
    }
  });
  const running = new Set<PdfSegment>();
  for (const group of groups.values()) {
    if (group.length < minPages) continue;
    group.forEach((row, index) => {
      for (const segment of row) if (index > 0 || !/\p{L}{2}/u.test(segment.text)) running.add(segment);
    });
  }
  for (const group of numbers.values())
    if (group.length >= Math.max(minPages, pages.length * minPageShare))
      for (const segment of group) running.add(segment);
  return running;
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
