import { toRow, toTableHeader, uniteBoxes, type PageBox, type SkippedText, type TextPlace } from '@quiver/rag/document';
import { readBlocks, readStyle, type Block, type Style } from './pdf-blocks.js';
import type { Line } from './pdf-lines.js';
import type { PdfPage } from './pdf-page.js';
import { differentTexts, findRepeated, titleKey } from './pdf-repeated.js';
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

/** Writes a document as one text in Markdown. Headers and footers are at its end, each once. */
export function toMarkdown(pages: readonly PdfPage[], outline: Outline): PdfText {
  const style = readStyle(pages);
  const repeated = findRepeated(pages, style.body);
  const blocks = readBlocks(pages, repeated, style);
  const compounds = findCompounds(pages);
  const toTexts = ({ lines }: Block): string[] =>
    joinLines(
      lines.map(({ text }) => text),
      compounds,
    );
  const texts = new Map(blocks.map((block) => [block, toTexts(block)]));
  const levels = findHeadings(blocks, style, outline, texts);
  const result: PdfText = { text: '', places: [], skip: [] };
  const notes = pages.flatMap(({ number, notes }) => notes.map((text) => ({ text, page: number }))).toReversed();
  const addNotes = (before: number): void => {
    while (notes.at(-1) && notes.at(-1)!.page < before) add(result, [notes.pop()!]);
  };
  for (const block of blocks) {
    addNotes((block.lines[0] ?? block.rows[0])!.page);
    if (block.kind === 'table') add(result, writeTable(block.rows, compounds));
    else if (block.kind === 'listing') add(result, writeListing(block.lines));
    else add(result, writeText(block, texts.get(block)!, levels.get(block)), block.list);
  }
  addNotes(Infinity);
  add(result, [{ text: differentTexts(repeated.running).join('\n'), page: 0 }], 'boilerplate');
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
    const end = result.text.length;
    const last = result.places.at(-1);
    // Lines of a page that follow each other are one place.
    if (last?.page === page && last.box && box && last.start >= start && last.end === from)
      result.places.splice(-1, 1, { ...last, end, box: uniteBoxes([last.box, box]) });
    else if (page > 0) result.places.push({ start: from, end, page, ...(box && { box }) });
  }
  if (kind !== undefined) result.skip.push({ start, end: result.text.length, kind });
}

const compound = /\p{L}+(?:-\p{L}+)+/gu;
const cjk = /[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]/;

function findCompounds(pages: readonly PdfPage[]): Set<string> {
  const compounds = new Set<string>();
  for (const { lines } of pages)
    for (const { text } of lines)
      if (text.includes('-')) for (const found of text.match(compound) ?? []) compounds.add(found.toLowerCase());
  return compounds;
}

/** Returns lines as the next ones continue them, without the hyphens of words that were hyphenated between two. */
function joinLines(lines: readonly string[], compounds: ReadonlySet<string>): string[] {
  return lines.map((line, index) => {
    const next = lines[index + 1];
    if (next === undefined) return line;
    const end = /[-\u00AD\u2010]$/.test(line) && /\p{L}+(?=.$)/u.exec(line.slice(-60));
    const start = end && /^\p{Ll}\p{L}*/u.exec(next.slice(0, 60));
    if (!end || !start) return cjk.test(line.at(-1) ?? '') && cjk.test(next[0] ?? '') ? line : `${line} `;
    const isCompound = line.endsWith('-') && compounds.has(`${end[0]}-${start[0]}`.toLowerCase());
    return isCompound ? line : line.slice(0, -1);
  });
}

const toPiece = ({ page, box }: Line, text: string): Piece => ({ text, page, box });

/** Marks a heading or an item of a list, and escapes text that looks like the mark of a heading or a listing. */
function writeText({ lines }: Block, [first = '', ...others]: readonly string[], level: number | undefined): Piece[] {
  const marked = first.replace(/^[•◦▪‣·∙●⋄◇◆]\s*/, '- ').replace(/^(#{1,6}\s|```|~~~|=+$|-{2,}$)/, '\\$1');
  const texts = [level === undefined ? marked : `${'#'.repeat(level)} ${first}`, ...others];
  return lines.map((line, index) => toPiece(line, texts[index]!));
}

/** Writes a listing with its indentation and empty lines. */
function writeListing(lines: readonly Line[]): Piece[] {
  // Margins of pages differ.
  const lefts = new Map<number, number>();
  for (const { page, box } of lines) lefts.set(page, Math.min(lefts.get(page) ?? Infinity, box[0]));
  const longest = lines.flatMap(({ cells }) => cells).reduce((a, b) => (b.text.length > a.text.length ? b : a));
  const width = (longest.right - longest.left) / longest.text.length;
  return lines.map((line, index) => {
    const previous = lines[index - 1];
    const isApart =
      previous?.page === line.page && line.baseline - previous.baseline > 1.9 * Math.max(line.size, previous.size);
    let text = '';
    for (const cell of line.cells) {
      const indent = Math.min(200, Math.round((cell.left - lefts.get(line.page)!) / width));
      text = `${text.padEnd(Math.max(indent, text === '' ? 0 : text.length + 1))}${cell.text}`;
    }
    const start = index === 0 ? '```\n' : isApart ? '\n\n' : '\n';
    return toPiece(line, `${start}${text.replaceAll('```', "'''")}${index === lines.length - 1 ? '\n```' : ''}`);
  });
}

/** Writes a table. Its first row becomes the header. */
function writeTable(rows: readonly Row[], compounds: ReadonlySet<string>): Piece[] {
  return rows.map(({ cells, page, box }, index) => {
    const texts = cells.map((lines) => joinLines(lines, compounds).join(''));
    return { text: index === 0 ? toTableHeader(texts) : `\n${toRow(texts)}`, page, box };
  });
}

/** Levels of headings, by the number of their page and their title as `titleKey` returns it. */
export type Outline = Map<string, number>;

const [longestHeading, longestTitle, mostLines, maxLevel] = [200, 100, 3, 6];

/**
 * Returns the levels of headings: those of the outline; or of text that is larger than paragraphs; or, below both, short bold lines above text
 * that is not indented, as a definition is below its term.
 *
 * @param texts - lines of the blocks
 */
function findHeadings(
  blocks: readonly Block[],
  { body, headings }: Style,
  outline: Outline,
  texts: ReadonlyMap<Block, readonly string[]>,
): Map<Block, number> {
  const levels = new Map<Block, number>();
  const titles = new Set<Block>();
  let deepest = 0;
  for (const [index, block] of [...blocks.entries()].toReversed()) {
    if (block.kind !== 'text' || block.list !== undefined || block.lines.length > mostLines) continue;
    const text = texts.get(block)!.join('');
    const { page, size, box } = block.lines[0]!;
    if (text.length > longestHeading || !/\p{L}/u.test(text) || /^(?:\w ){0,20}\w$/.test(text)) continue;
    const level = outline.get(`${page} ${titleKey(text)}`) ?? headings.indexOf(size) + 1;
    const next = blocks[index + 1];
    if (level > 0) levels.set(block, Math.min(maxLevel, level));
    else if (next && text.length <= longestTitle && size >= body * 0.95 && isTitle(block, text)) {
      const [under] = next.lines;
      const isHeaded = levels.has(next) || titles.has(next) || !under || under.box[0] < box[0] + size * 1.8;
      if (isHeaded) titles.add(block);
    }
    deepest = Math.max(deepest, level);
  }
  // A single one is not the style of the document.
  for (const block of titles.size > 1 ? titles : []) levels.set(block, Math.min(maxLevel, deepest + 1));
  return levels;
}

function isTitle({ lines }: Block, text: string): boolean {
  return lines.every(({ isBold }) => isBold) && /^["“(¿¡]?[\p{Lu}\p{Lo}\d]/u.test(text) && !/[.,;:!?]$/.test(text);
}
