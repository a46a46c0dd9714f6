import { uniteBoxes, type PageBox } from '@quiver/rag/document';
import { joinFragments, type PdfSegment } from './pdf-fragments.js';
import { isEntry } from './pdf-lists.js';
import { readTable, type PdfColumn, type PdfTable } from './pdf-table.js';

/** A paragraph, heading, list item, table or listing of a page. */
export type PdfBlock = PdfTextBlock | PdfTableBlock | PdfListing;

export interface PdfTextBlock extends Placed {
  readonly kind: 'text';
  /** Lines that are not joined yet. */
  readonly lines: readonly string[];
  /** Font of all letters, or empty. */
  readonly font: string;
  /** Part of the width of its column that the last line fills. */
  readonly fill: number;
}

export interface PdfTableBlock extends Placed {
  readonly kind: 'table';
  readonly table: PdfTable;
  readonly columns: readonly PdfColumn[];
}

export interface PdfListing extends Placed {
  readonly kind: 'code';
  readonly lines: readonly string[];
}

interface Placed {
  readonly size: number;
  readonly box: PageBox;
}

interface Line extends PdfSegment {
  readonly parts: readonly PdfSegment[];
}

const bullet = /^[•◦▪‣·]/;
/** Start of an item of a list. */
export const listItem: RegExp = /^(?:[•◦▪‣·]|[*–—-] |\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)] |\[\d+\] )/;

/**
 * Reads the blocks of a column of a page.
 *
 * @param rows - from top to bottom
 * @param known - columns of a table at the end of the page before, which may continue
 */
export function readBlocks(rows: readonly (readonly PdfSegment[])[], known?: readonly PdfColumn[]): PdfBlock[] {
  const blocks: PdfBlock[] = [];
  let lines: Line[] = [];
  const endText = (): void => {
    const right = lines.reduce((most, line) => Math.max(most, line.right), -Infinity);
    for (const paragraph of splitParagraphs(lines, right)) blocks.push(toBlock(paragraph, right));
    lines = [];
  };
  let listEnd = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!;
    const found = index >= listEnd ? readTable(rows, index, index === 0 ? known : undefined) : undefined;
    if (found?.table) {
      endText();
      const { table, columns } = found;
      blocks.push({
        kind: 'table',
        table,
        columns,
        size: row[0]!.size,
        box: toBox(rows.slice(index, found.end).flat()),
      });
      index = found.end - 1;
      continue;
    }
    if (found) listEnd = found.end;
    const line = joinFragments(row);
    lines.push({ ...line, isMonospaced: line.isMonospaced && !bullet.test(line.text), parts: row });
  }
  endText();
  return blocks;
}

/** Groups lines into paragraphs by distance, indentation, size and font. */
function splitParagraphs(lines: readonly Line[], right: number): Line[][] {
  if (lines.length === 0) return [];
  const left = lines.reduce((least, line) => Math.min(least, line.left), Infinity);
  const distances = lines.slice(1).map((line, index) => line.baseline - lines[index]!.baseline);
  // Most lines of a region may be paragraphs of one line; a quarter of them is not.
  const pitch = distances.toSorted((a, b) => a - b)[distances.length >> 2] ?? 0;
  const paragraphs: Line[][] = [[lines[0]!]];
  for (let index = 1; index < lines.length; index++) {
    const [above, line, below] = [lines[index - 1]!, lines[index]!, lines[index + 1]];
    const paragraph = paragraphs.at(-1)!;
    if (startsParagraph()) paragraphs.push([line]);
    else paragraph.push(line);

    function startsParagraph(): boolean {
      const size = Math.max(line.size, above.size);
      if (isEntry(above.text)) return true;
      if (line.isMonospaced !== above.isMonospaced) return true;
      if (Math.min(line.size, above.size) < size * 0.9) return true;
      const distance = line.baseline - above.baseline;
      // A listing has empty lines.
      if (line.isMonospaced) return distance > size * longestBlank;
      if (distance > Math.max(Math.min(pitch * 1.2, size * longestDistance), size * lineDistance)) return true;
      const [first] = paragraph as [Line];
      const inItem = line.left - first.left;
      if (isItem(line) && inItem < size * 0.5) return true;
      if (isItem(first) && inItem > size * 0.5) return false;
      const indent = line.left - above.left;
      const isShort = above.right < right - (right - left) * 0.2;
      if (indent > size * 0.5) return isShort || (below !== undefined && below.left < line.left - size * 0.5);
      // A term below the definition of another, but not the second line of a paragraph.
      if (indent < -size * 0.5) return paragraph.length > 1 || isShort || indent < -size * deepestIndent;
      return isShort && /[.!?:]["”’)]?$/.test(above.text);
    }
  }
  return paragraphs;
}

/** @param right - end of the longest line of the column */
function toBlock(lines: readonly Line[], right: number): PdfBlock {
  const [{ size, font, isMonospaced }] = lines as [Line];
  const box = toBox(lines);
  const [left] = box;
  if (!isMonospaced) {
    const fill = (lines.at(-1)!.right - left) / (right - left || 1);
    const own = lines.every((line) => line.font === font) ? font : '';
    return { kind: 'text', lines: lines.map(({ text }) => text), size, font: own, fill, box };
  }
  const listing = lines.flatMap(({ parts, baseline }, index) => {
    const isBlank = index > 0 && baseline - lines[index - 1]!.baseline > size * blankDistance;
    return [...(isBlank ? [''] : []), placeCells(parts, left)];
  });
  return { kind: 'code', lines: listing, size, box };
}

/** Whether a line starts an item of a list, or the description of an option next to it: “-v  Prints more”. */
function isItem({ text, parts }: Line): boolean {
  return listItem.test(text) || (parts.length > 1 && option.test(parts[0]!.text));
}

const option = /^[-−–]{1,2}[\p{L}\d?]/u;
/** Indentation of the first line of a paragraph, in font sizes. */
const deepestIndent = 3;

/** Distances of the baselines of two lines, in font sizes: within a paragraph, with an empty line between, and within a listing. */
const lineDistance = 1.35;
const longestDistance = 2.6;
const blankDistance = 1.6;
const longestBlank = 4;

/** Width of a letter of monospaced fonts, in font sizes. */
const letterWidth = 0.6;
const maxSpaces = 60;

/** A line of a listing, whose indentation and columns become spaces. */
function placeCells(parts: readonly PdfSegment[], left: number): string {
  let line = '';
  for (const part of parts) {
    const width = part.text.length > 2 ? (part.right - part.left) / part.text.length : part.size * letterWidth;
    const spaces = Math.round((part.left - left) / (width || 1)) - line.length;
    line += ' '.repeat(Math.max(line === '' ? 0 : 1, Math.min(maxSpaces, spaces))) + part.text;
  }
  return line;
}

function toBox(segments: readonly PdfSegment[]): PageBox {
  const boxes = segments.map(({ left, right, baseline, size }): PageBox => [
    left,
    baseline - size,
    right,
    baseline + size * 0.25,
  ]);
  const [left, top, right, bottom] = uniteBoxes(boxes);
  return [toTenth(left), toTenth(top), toTenth(right), toTenth(bottom)];
}

function toTenth(points: number): number {
  return Math.round(points * 10) / 10;
}
