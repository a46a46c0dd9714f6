import { uniteBoxes, type PageBox } from '@quiver/rag/document';
import { joinFragments, type PdfSegment } from './pdf-fragments.js';
import { splitRegions } from './pdf-regions.js';
import { readTable, toMarkdownTable } from './pdf-table.js';

/** A paragraph, heading, list item, table or listing of a page. */
export interface PdfBlock {
  readonly kind: 'text' | 'table' | 'code';
  /** Lines of text that are not joined yet; a table as Markdown. */
  readonly lines: readonly string[];
  readonly size: number;
  readonly box: PageBox;
}

interface Line extends PdfSegment {
  readonly parts: readonly PdfSegment[];
}

const bullet = /^[•◦▪‣·]/;
/** Start of an item of a list. */
const listItem = /^(?:[•◦▪‣·]|[*–—-] |\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)] |\[\d+\] )/;

/** Reads the blocks of a page in the order in which they are read. */
export function readBlocks(segments: readonly PdfSegment[]): PdfBlock[] {
  const blocks: PdfBlock[] = [];
  for (const rows of splitRegions(segments)) {
    const [first, ...others] = readRegion(rows);
    const last = blocks.at(-1);
    // A paragraph that continues at the top of the next column.
    if (first && last && isContinued(last, first)) {
      blocks.splice(-1, 1, { ...last, lines: [...last.lines, ...first.lines], box: uniteBoxes([last.box, first.box]) });
    } else if (first) blocks.push(first);
    for (const block of others) blocks.push(block);
  }
  return blocks;
}

function isContinued(block: PdfBlock, next: PdfBlock): boolean {
  const isText = block.kind === 'text' && next.kind === 'text' && Math.abs(block.size - next.size) < 0.6;
  return isText && /[\p{L},-]$/u.test(block.lines.at(-1)!) && /^\p{Ll}/u.test(next.lines[0]!);
}

function readRegion(rows: readonly (readonly PdfSegment[])[]): PdfBlock[] {
  const blocks: PdfBlock[] = [];
  let lines: Line[] = [];
  const endText = (): void => {
    for (const paragraph of splitParagraphs(lines)) blocks.push(toBlock(paragraph));
    lines = [];
  };
  let listEnd = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!;
    const found = index >= listEnd ? readTable(rows, index) : undefined;
    if (found?.table) {
      endText();
      const parts = rows.slice(index, found.end).flat();
      blocks.push({ kind: 'table', lines: [toMarkdownTable(found.table)], size: row[0]!.size, box: toBox(parts) });
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
function splitParagraphs(lines: readonly Line[]): Line[][] {
  if (lines.length === 0) return [];
  const left = lines.reduce((least, line) => Math.min(least, line.left), Infinity);
  const right = lines.reduce((most, line) => Math.max(most, line.right), -Infinity);
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
      if (line.isMonospaced !== above.isMonospaced) return true;
      if (Math.min(line.size, above.size) < size * 0.9) return true;
      const distance = line.baseline - above.baseline;
      // A listing has empty lines.
      if (line.isMonospaced) return distance > size * longestBlank;
      if (distance > Math.max(Math.min(pitch * 1.2, size * longestDistance), size * lineDistance)) return true;
      const [first] = paragraph as [Line];
      const inItem = line.left - first.left;
      if (listItem.test(line.text) && inItem < size * 0.5) return true;
      if (listItem.test(first.text) && inItem > size * 0.5) return false;
      const indent = line.left - above.left;
      const isShort = above.right < right - (right - left) * 0.2;
      if (indent > size * 0.5) return isShort || (below !== undefined && below.left < line.left - size * 0.5);
      if (indent < -size * 0.5) return paragraph.length > 1;
      return isShort && /[.!?:]["”’)]?$/.test(above.text);
    }
  }
  return paragraphs;
}

function toBlock(lines: readonly Line[]): PdfBlock {
  const [{ size, isMonospaced }] = lines as [Line];
  const box = toBox(lines);
  if (!isMonospaced) return { kind: 'text', lines: lines.map(({ text }) => text), size, box };
  const [left] = box;
  const listing = lines.flatMap(({ parts, baseline }, index) => {
    const isBlank = index > 0 && baseline - lines[index - 1]!.baseline > size * blankDistance;
    return [...(isBlank ? [''] : []), placeCells(parts, left)];
  });
  return { kind: 'code', lines: listing, size, box };
}

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
