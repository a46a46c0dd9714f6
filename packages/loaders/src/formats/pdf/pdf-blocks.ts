import { Counts, headingSize, type Line } from './pdf-lines.js';
import type { PdfPage } from './pdf-page.js';
import { findLists, type Repeated } from './pdf-repeated.js';
import { findTables, type Row } from './pdf-tables.js';

/** A paragraph, a heading, a listing or a table. */
export interface Block {
  readonly kind: 'text' | 'listing' | 'table';
  readonly lines: Line[];
  readonly rows: Row[];
  /** List of page numbers that the text is a part of. */
  readonly list: string | undefined;
}

/** Typography of a document. */
export interface Style {
  /** Font size of paragraphs. */
  readonly body: number;
  /** Sizes of headings, largest first. */
  readonly headings: readonly number[];
  /** The most frequent distance of lines, by their size. */
  readonly leading: ReadonlyMap<number, number>;
}

/** Letters, and share of the text, that may have the size of a heading. */
const [fewLetters, mostHeadings] = [200, 0.1];

/** Whether a line has five words or 15 letters of Chinese or Japanese. */
function isProse(text: string): boolean {
  return /^(?:\S+ ){4}\S/.test(text) || /[\u3040-\u9fff]{15}/.test(text);
}

export function readStyle(pages: readonly PdfPage[]): Style {
  const [prose, all] = [new Counts(), new Counts()];
  const leading = new Map<number, Counts>();
  for (const { lines } of pages) {
    for (const [index, { text, size, baseline, isCode, others }] of lines.entries()) {
      const gap = Math.round((baseline - (lines[index - 1]?.baseline ?? 0)) * 2) / 2;
      const isUsual = gap > size * 0.8 && gap < size * 2.2 && lines[index - 1]?.size === size;
      if (isUsual) leading.set(size, (leading.get(size) ?? new Counts()).add(gap, 1));
      if (isCode) continue;
      all.add(size, others);
      if (isProse(text)) prose.add(size, others);
    }
  }
  const counts = prose.size > 0 ? prose : all;
  const body = counts.most;
  const total = [...counts.values()].reduce((sum, letters) => sum + letters, 0);
  const most = Math.max(fewLetters, mostHeadings * total);
  const large = [...all.keys()].filter((size) => size >= body * headingSize && (counts.get(size) ?? 0) <= most);
  return {
    body,
    headings: large.toSorted((a, b) => b - a),
    leading: new Map([...leading].map(([size, { most }]) => [size, most])),
  };
}

/** Joins lines to paragraphs and listings, and tables that continue on the next page. */
export function readBlocks(pages: readonly PdfPage[], { running, titles }: Repeated, style: Style): Block[] {
  const blocks: Block[] = [];
  for (const page of pages) {
    const lines = page.lines.filter((line) => !running.has(line));
    const lists = findLists(lines, titles);
    for (const item of findTables(page, lines, lists)) {
      const last = blocks.at(-1);
      if (Array.isArray(item)) {
        const [first, ...others] = item as [Row, ...Row[]];
        const header = last?.rows[0];
        const isNext = last?.rows.at(-1)?.page === page.number - 1 && header?.cells.length === first.cells.length;
        // A header is repeated on each page.
        if (isNext) last.rows.push(...(String(first.cells) === String(header.cells) ? others : item));
        else blocks.push({ kind: 'table', lines: [], rows: item, list: undefined });
        continue;
      }
      const list = lists.get(item);
      const isOpen = last?.lines.length && list === undefined && last.list === undefined;
      if (isOpen && continues(last, item, style)) last.lines.push(item);
      else blocks.push({ kind: item.isCode && list === undefined ? 'listing' : 'text', lines: [item], rows: [], list });
    }
  }
  return blocks;
}

const listItem = /^(?:[•◦▪‣∙●○■⋄◇◆]|(?:[-·–*]|\(?(?:\d{1,3}|[a-z])[.)])\s)/;
const sentenceEnd = /[.!?:;。！？：]["”’»)\]]*$/;

/** Whether a line continues a paragraph or a listing. */
function continues({ kind, lines }: Block, line: Line, { leading, body }: Style): boolean {
  const [first, last] = [lines[0]!, lines.at(-1)!];
  const { text, size } = line;
  if (line.isRotated || last.isRotated) return line.isRotated && last.isRotated && line.page === last.page;
  const isNext = line.page === last.page && line.box[1] > last.box[1] - 1;
  const gap = isNext ? line.baseline - last.baseline : 0;
  const usual = leading.get(size) ?? size * 1.2;
  if (kind === 'listing') return (line.isCode || !/\p{L}/u.test(text)) && gap < 3 * usual;
  const isEnded = sentenceEnd.test(last.text);
  const dx = line.box[0] - last.box[0];
  // Parts of formulas.
  if (isNext && text.length < 5 && gap < usual * 1.5) return true;
  // Words in a font of code that fill a line of a paragraph.
  const isHanging = dx > 0 && lines.length === 1;
  if (line.isCode)
    return isNext && isProse(last.text) && last.isFull && gap < usual * 1.1 && (Math.abs(dx) < 1 || isHanging);
  if (Math.abs(size - last.size) > last.size * 0.07 || listItem.test(text)) return false;
  if (line.isBold !== last.isBold && (!last.isFull || isEnded)) return false;
  if (!isNext) return last.isFull && !isEnded && size < body * headingSize;
  if (gap > usual * 1.3) return false;
  if (size >= body * headingSize) return true;
  if (isEnded && !last.isFull) return false;
  if (Math.abs(dx) < 0.6 * size) return true;
  if (lines.length > 1) return false;
  return dx > 0
    ? listItem.test(first.text) || (last.isFull && !/[.!?。！？]$/.test(last.text))
    : last.isFull && dx > -4 * size;
}
