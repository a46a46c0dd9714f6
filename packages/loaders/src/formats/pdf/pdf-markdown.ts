import type { PageBox, SkippedText, TextPlace } from '@quiver/rag/document';
import { toRow, toTableHeader } from '../../structure/markdown-writer.js';
import { readBlocks, readStyle, type Block, type TextBlock } from './pdf-blocks.js';
import { findHeadings, type Outline } from './pdf-headings.js';
import { textOf, unite, type Line, type PdfPage } from './pdf-page.js';
import { differentTexts, findRunningLines } from './pdf-running.js';
import type { Table } from './pdf-tables.js';

/** The text of a document as Markdown. */
export interface PdfText {
  readonly text: string;
  readonly places: readonly TextPlace[];
  /** Tables of contents and indexes; headers and footers. */
  readonly skip: readonly SkippedText[];
}

/** A part of a block on a page. */
interface Piece {
  text: string;
  page: number;
  box?: PageBox;
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
  const words = new Set(pages.flatMap(({ lines }) => lines.flatMap((line) => wordsOf(textOf(line)))));
  const texts = new Map<Block, Piece[]>();
  for (const block of blocks) if (block.kind === 'text') texts.set(block, joinLines(block.lines, words));
  const joined = (block: TextBlock): string => (texts.get(block) ?? []).map(({ text }) => text).join('');
  const levels = findHeadings(blocks, style, outline, joined);
  const writer = new TextWriter();
  let written = 0;
  const addExtra = (until: number): void => {
    for (; written < Math.min(until, pages.length); written += 1) {
      const { notes, number } = pages[written]!;
      for (const text of [...notes, recognized.get(number) ?? '']) writer.add([{ text, page: number }]);
    }
  };
  for (const block of blocks) {
    const isText = block.kind !== 'table';
    addExtra((isText ? block.lines[0]! : block.rows[0]!).page - 1);
    if (block.kind === 'text') writer.add(markText(texts.get(block)!, levels.get(block)), block.list);
    else writer.add(isText ? writeListing(block.lines) : writeTable(block.rows, words));
  }
  addExtra(pages.length);
  const headers = differentTexts(running);
  if (headers.length > 0) writer.add([{ text: headers.join('\n'), page: 0 }], 'boilerplate');
  return writer.end();
}

/** Joins a text from its blocks, with the place of each part. */
class TextWriter {
  #text = '';
  readonly #places: TextPlace[] = [];
  readonly #skip: SkippedText[] = [];

  /** @param kind - of text that is not searched */
  add(pieces: readonly Piece[], kind?: string): void {
    if (pieces.every(({ text }) => text === '')) return;
    if (this.#text !== '') this.#text += '\n\n';
    const start = this.#text.length;
    for (const { text, ...place } of pieces) {
      const from = this.#text.length;
      this.#text += text;
      if (place.page > 0) this.#places.push({ start: from, end: this.#text.length, ...place });
    }
    const end = this.#text.length;
    const last = this.#skip.at(-1);
    if (kind !== undefined && last?.kind === kind && last.end + 2 === start) this.#skip.splice(-1, 1, { ...last, end });
    else if (kind !== undefined) this.#skip.push({ start, end, kind });
  }

  end(): PdfText {
    return { text: this.#text, places: this.#places, skip: this.#skip };
  }
}

const cjk = /[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]/;

/** Joins lines, and the parts of words that were hyphenated between two lines. */
function joinLines(lines: readonly Line[], words: ReadonlySet<string>): Piece[] {
  const pieces: Piece[] = [];
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1];
    add(pieces, next ? joinWith(textOf(line), textOf(next), words) : textOf(line), line.page, boxOf(line));
  }
  return pieces;
}

const boxOf = ({ left, top, right, bottom }: Line): PageBox => [left, top, right, bottom];

/** Adds a text to the piece of its page. */
function add(pieces: Piece[], text: string, page: number, box: PageBox): void {
  const last = pieces.at(-1);
  if (last?.page !== page) pieces.push({ text, page, box });
  else Object.assign(last, { text: last.text + text, box: unite(last.box!, box) });
}

/** Returns a line as the next one continues it. */
function joinWith(line: string, next: string, words: ReadonlySet<string>): string {
  const end = /(\p{L}+)[-\u00AD\u2010]$/u.exec(line.slice(-60));
  const start = /^\p{Ll}\p{L}*/u.exec(next.slice(0, 60));
  if (!end || !start) return cjk.test(line.at(-1) ?? '') && cjk.test(next[0] ?? '') ? line : `${line} `;
  const compound = `${end[1]}-${start[0]}`.toLowerCase();
  const isCompound = line.endsWith('-') && words.has(compound) && !words.has(compound.replace('-', ''));
  return isCompound ? line : line.slice(0, -1);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}[\p{L}-]*\p{L}(?![\p{L}-])/gu) ?? [];
}

/** Marks a heading or an item of a list, and escapes text that looks like the mark of a heading or a listing. */
function markText([first, ...others]: Piece[], level: number | undefined): Piece[] {
  const marked = first!.text.replace(/^[•◦▪‣·∙●]\s*/, '- ').replace(/^(#{1,6}\s|```|~~~|=+$|-{2,}$)/, '\\$1');
  return [{ ...first!, text: level === undefined ? marked : `${'#'.repeat(level)} ${first!.text}` }, ...others];
}

/** Writes a listing with its indentation and empty lines. */
function writeListing(lines: readonly Line[]): Piece[] {
  const left = Math.min(...lines.map((line) => line.left));
  const pieces: Piece[] = [];
  for (const [index, line] of lines.entries()) {
    const width = line.font.least < 2 ? line.font.least * (line.bottom - line.top) : line.size * 0.6;
    const previous = lines[index - 1];
    const isApart = previous?.page === line.page && line.baseline - previous.baseline > 1.9 * line.size;
    let text = '';
    for (const cell of line.cells)
      text =
        text.padEnd(Math.min(200, Math.round((cell.left - left) / width))) +
        (text === '' || text.endsWith(' ') ? '' : ' ') +
        cell.text;
    const start = index === 0 ? '```\n' : isApart ? '\n\n' : '\n';
    const end = index === lines.length - 1 ? '\n```' : '';
    add(pieces, start + text.replaceAll('```', "'''") + end, line.page, boxOf(line));
  }
  return pieces;
}

/** Writes a table. Its first row becomes the header. */
function writeTable(rows: Table, words: ReadonlySet<string>): Piece[] {
  const pieces: Piece[] = [];
  for (const [index, { cells, page, box }] of rows.entries()) {
    const texts = cells.map((lines) =>
      lines.map((line, at) => (lines[at + 1] === undefined ? line : joinWith(line, lines[at + 1]!, words))).join(''),
    );
    add(pieces, index === 0 ? toTableHeader(texts) : `\n${toRow(texts)}`, page, box);
  }
  return pieces;
}
