import { toRow, toTableHeader, type PageBox, type SkippedText, type TextPlace } from '@quiver/rag/document';
import { readBlocks, readStyle, type Block } from './pdf-blocks.js';
import { findHeadings, type Outline } from './pdf-headings.js';
import { boxOf, unite, type Line } from './pdf-lines.js';
import type { PdfPage } from './pdf-page.js';
import { differentTexts, findRunningLines } from './pdf-running.js';
import type { Row } from './pdf-tables.js';

/** The text of a document as Markdown. */
export interface PdfText {
  text: string;
  readonly places: TextPlace[];
  /** Tables of contents and indexes; headers and footers. */
  readonly skip: SkippedText[];
}

/** A part of a block, with its page. */
interface Piece {
  readonly text: string;
  readonly page: number;
  readonly box?: PageBox;
}

/**
 * Writes a document as one text in Markdown. Headers and footers are at its end, each once.
 *
 * @param recognized - texts of pages by their numbers
 */
export function toMarkdown(
  pages: readonly PdfPage[],
  outline: Outline,
  recognized: ReadonlyMap<number, string>,
): PdfText {
  const style = readStyle(pages);
  const running = findRunningLines(pages, style.body);
  const blocks = readBlocks(pages, running, style);
  const words = new Set(
    pages.flatMap(({ lines }) => lines.flatMap((line) => line.text.toLowerCase().match(word) ?? [])),
  );
  const texts = new Map(
    blocks.map((block) => [
      block,
      joinLines(
        block.lines.map(({ text }) => text),
        words,
      ),
    ]),
  );
  const levels = findHeadings(blocks, style, outline, texts);
  const result: PdfText = { text: '', places: [], skip: [] };
  const open = [...pages];
  const addExtra = (before: number): void => {
    while (open[0] && open[0].number < before) {
      const { notes, number } = open.shift()!;
      for (const text of [...notes, recognized.get(number) ?? '']) add(result, [{ text, page: number }]);
    }
  };
  for (const block of blocks) {
    addExtra((block.lines[0] ?? block.rows[0])!.page);
    if (block.kind === 'table') add(result, writeTable(block.rows, words));
    else if (block.kind === 'listing') add(result, writeListing(block.lines));
    else add(result, writeText(block, texts.get(block)!, levels.get(block)), block.list);
  }
  addExtra(Infinity);
  add(result, [{ text: differentTexts(running).join('\n'), page: 0 }], 'boilerplate');
  return result;
}

/** Adds a block with the places of its pieces. @param kind - of text that is not searched */
function add(result: PdfText, pieces: readonly Piece[], kind?: string): void {
  if (pieces.every(({ text }) => text === '')) return;
  if (result.text !== '') result.text += '\n\n';
  const start = result.text.length;
  for (const { text, page, box } of pieces) {
    const from = result.text.length;
    result.text += text;
    const last = result.places.at(-1);
    // Lines of a page that follow each other are one place.
    if (last?.page === page && last.box && box && last.start >= start && last.end === from)
      result.places.splice(-1, 1, { ...last, end: result.text.length, box: unite(last.box, box) });
    else if (page > 0) result.places.push({ start: from, end: result.text.length, page, ...(box && { box }) });
  }
  const end = result.text.length;
  const last = result.skip.at(-1);
  if (kind !== undefined && last?.kind === kind && last.end + 2 === start) result.skip.splice(-1, 1, { ...last, end });
  else if (kind !== undefined) result.skip.push({ start, end, kind });
}

const word = /\p{L}[\p{L}-]*\p{L}(?![\p{L}-])/gu;
const cjk = /[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]/;

/** Returns lines as the next ones continue them, without the hyphens of words that were hyphenated between two. */
function joinLines(lines: readonly string[], words: ReadonlySet<string>): string[] {
  return lines.map((line, index) => {
    const next = lines[index + 1];
    if (next === undefined) return line;
    const end = /(\p{L}+)[-\u00AD\u2010]$/u.exec(line.slice(-60));
    const start = /^\p{Ll}\p{L}*/u.exec(next.slice(0, 60));
    if (!end || !start) return cjk.test(line.at(-1) ?? '') && cjk.test(next[0] ?? '') ? line : `${line} `;
    const compound = `${end[1]}-${start[0]}`.toLowerCase();
    const isCompound = line.endsWith('-') && words.has(compound) && !words.has(compound.replace('-', ''));
    return isCompound ? line : line.slice(0, -1);
  });
}

const toPiece = (line: Line, text: string): Piece => ({ text, page: line.page, box: boxOf(line) });

/** Marks a heading or an item of a list, and escapes text that looks like the mark of a heading or a listing. */
function writeText({ lines }: Block, [first = '', ...others]: readonly string[], level: number | undefined): Piece[] {
  const marked = first.replace(/^[•◦▪‣·∙●]\s*/, '- ').replace(/^(#{1,6}\s|```|~~~|=+$|-{2,}$)/, '\\$1');
  const texts = [level === undefined ? marked : `${'#'.repeat(level)} ${first}`, ...others];
  return lines.map((line, index) => toPiece(line, texts[index]!));
}

/** Writes a listing with its indentation and empty lines. */
function writeListing(lines: readonly Line[]): Piece[] {
  const left = Math.min(...lines.map((line) => line.left));
  return lines.map((line, index) => {
    const width = Math.min(line.font.least, 0.6) * (line.bottom - line.top);
    const previous = lines[index - 1];
    const isApart =
      previous?.page === line.page && line.baseline - previous.baseline > 1.9 * Math.max(line.size, previous.size);
    let text = '';
    for (const cell of line.cells) {
      const indent = Math.min(200, Math.round((cell.left - left) / width));
      text = `${text.padEnd(Math.max(indent, text === '' ? 0 : text.length + 1))}${cell.text}`;
    }
    const start = index === 0 ? '```\n' : isApart ? '\n\n' : '\n';
    return toPiece(line, `${start}${text.replaceAll('```', "'''")}${index === lines.length - 1 ? '\n```' : ''}`);
  });
}

/** Writes a table. Its first row becomes the header. */
function writeTable(rows: readonly Row[], words: ReadonlySet<string>): Piece[] {
  return rows.map(({ cells, page, box }, index) => {
    const texts = cells.map((lines) => joinLines(lines, words).join(''));
    return { text: index === 0 ? toTableHeader(texts) : `\n${toRow(texts)}`, page, box };
  });
}
