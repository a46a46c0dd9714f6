import { findLists } from './pdf-contents.js';
import { isCode, textOf, type Line, type PdfPage } from './pdf-page.js';
import { findTables, type Table } from './pdf-tables.js';

/** A paragraph, a heading or a listing. */
export interface TextBlock {
  readonly kind: 'text' | 'listing';
  readonly lines: Line[];
  /** List of page numbers that the text is a part of. */
  readonly list: string | undefined;
}

export type Block = TextBlock | { readonly kind: 'table'; rows: Table };

/** Typography of a document. */
export interface Style {
  /** Font size of paragraphs. */
  readonly body: number;
  /** Sizes of headings, largest first. */
  readonly headings: readonly number[];
  /** Distance of lines, by their size. */
  readonly leading: ReadonlyMap<number, number>;
}

export const headingSize = 1.08;
/** Share of the text that may have the size of a heading. */
const mostHeadings = 0.2;

export function readStyle(pages: readonly PdfPage[]): Style {
  const [prose, all] = [new Map<number, number>(), new Map<number, number>()];
  const gaps = new Map<number, Map<number, number>>();
  let total = 0;
  for (const { lines } of pages) {
    for (const [index, line] of lines.entries()) {
      const text = textOf(line);
      const previous = lines[index - 1];
      const gap = previous?.size === line.size ? Math.round((line.baseline - previous.baseline) * 2) / 2 : 0;
      if (gap > line.size * 0.8 && gap < line.size * 2.2) {
        if (!gaps.has(line.size)) gaps.set(line.size, new Map());
        count(gaps.get(line.size)!, gap, 1);
      }
      if (isCode(line)) continue;
      total += text.length;
      count(all, line.size, text.length);
      if (text.split(' ', 5).length === 5 || /[\u3040-\u9fff]{15}/.test(text)) count(prose, line.size, text.length);
    }
  }
  const body = most(prose.size > 0 ? prose : all) ?? 0;
  const headings = [...all].flatMap(([size, letters]) =>
    size >= body * headingSize && letters <= mostHeadings * total ? [size] : [],
  );
  const leading = new Map([...gaps].map(([size, own]) => [size, most(own)!]));
  return { body, headings: headings.toSorted((a, b) => b - a), leading };
}

function count(counts: Map<number, number>, key: number, more: number): void {
  counts.set(key, (counts.get(key) ?? 0) + more);
}

function most(counts: ReadonlyMap<number, number>): number | undefined {
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0];
}

/** Joins lines to paragraphs and listings, and tables that continue on the next page. */
export function readBlocks(pages: readonly PdfPage[], running: ReadonlySet<Line>, style: Style): Block[] {
  const blocks: Block[] = [];
  let list: string | undefined;
  for (const page of pages) {
    const lines = page.lines.filter((line) => !running.has(line));
    const lists = findLists(lines, list);
    list = lists.get(lines.at(-1)!);
    for (const item of findTables(page, lines, lists)) {
      const last = blocks.at(-1);
      if (!('cells' in item)) {
        const above = last?.kind === 'table' ? last.rows : undefined;
        if (above && above.at(-1)!.page !== page.number && above[0]!.cells.length === item[0]!.cells.length)
          blocks[blocks.length - 1] = { kind: 'table', rows: joinTables(above, item) };
        else blocks.push({ kind: 'table', rows: item });
        continue;
      }
      const kind = isCode(item) ? 'listing' : 'text';
      const isOpen = last && last.kind !== 'table' && last.list === undefined && !lists.has(item);
      if (isOpen && continues(last, item, style)) last.lines.push(item);
      else blocks.push({ kind, lines: [item], list: lists.get(item) });
    }
  }
  return blocks;
}

/** Leaves out a header that is repeated. */
function joinTables(above: Table, [first, ...rows]: Table): Table {
  const isRepeated = String(first!.cells) === String(above[0]!.cells);
  return [...above, ...(isRepeated ? rows : [first!, ...rows])];
}

const item = /^(?:[-•◦▪‣·∙●○■–*]|\(?(?:\d{1,3}|[a-z])[.)])\s/;
const sentenceEnd = /[.!?:;。！？：]["”’»)\]]*$/;

function continues({ kind, lines }: TextBlock, line: Line, { leading, body }: Style): boolean {
  const [first, last] = [lines[0]!, lines.at(-1)!];
  if (line.isRotated || last.isRotated) return line.isRotated && last.isRotated && line.page === last.page;
  const isNext = line.page === last.page && line.top > last.top - 1;
  const gap = isNext ? line.baseline - last.baseline : 0;
  const usual = leading.get(line.size) ?? line.size * 1.2;
  const isFull = last.right > last.edge - 5 * last.size;
  const dx = line.left - last.left;
  if (kind === 'listing' || isCode(line)) {
    const isInline =
      kind === 'text' && isNext && gap < usual * 1.2 && isFull && Math.abs(dx) < 1 && !/[:：]$/.test(textOf(last));
    return kind === 'listing' ? isCode(line) && gap < 3 * usual && (isNext || first.size === line.size) : isInline;
  }
  if (Math.abs(line.size - last.size) > last.size * 0.07) return false;
  const text = textOf(line);
  const isEnded = sentenceEnd.test(textOf(last));
  if (line.font.isBold !== last.font.isBold && (!isFull || isEnded)) return false;
  if (item.test(text)) return false;
  if (!isNext) return !isEnded && line.size < body * headingSize && /^[^\p{Lu}\d]|^\p{Lu}/u.test(text) && isFull;
  if (gap > usual * 1.25) return false;
  if (line.size >= body * headingSize) return true;
  if (isEnded && !isFull) return false;
  if (Math.abs(dx) < 0.6 * line.size) return true;
  if (dx > 0) return lines.length === 1 && (item.test(textOf(first)) || (isFull && !/[.!?。！？]$/.test(textOf(last))));
  return lines.length === 1 && isFull && dx > -4 * line.size;
}
