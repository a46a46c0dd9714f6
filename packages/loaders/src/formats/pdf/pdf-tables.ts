import type { PageBox } from '@quiver/rag/document';
import { boxOf, isCode, textOf, unite, type Cell, type Line } from './pdf-lines.js';
import type { PdfPage } from './pdf-page.js';

/** A row of a table: the lines of each cell. */
export interface Row {
  readonly page: number;
  readonly cells: string[][];
  box: PageBox;
}

const tolerance = 3;
const leastAligned = 3;
/** Share of the cells that are filled. */
const leastFilled = 0.4;
/** Letters of a cell above which aligned cells are columns of text. */
const proseLength = 24;

/**
 * Finds the tables of a page: lines between drawn columns, and lines below each other whose cells are aligned. Returns its lines and the
 * rows of its tables in their order.
 */
export function findTables(page: PdfPage, lines: readonly Line[], lists: ReadonlyMap<Line, string>): (Line | Row[])[] {
  return findAligned(findRuled(page, lines), lists);
}

function findRuled({ rows, columns }: PdfPage, lines: readonly Line[]): (Line | Row[])[] {
  const areas: PageBox[][] = [];
  for (const rule of columns.toSorted((a, b) => a[1] - b[1])) {
    const bottom = Math.max(...(areas.at(-1) ?? []).map((other) => other[3]));
    if (rule[1] <= bottom + tolerance) areas.at(-1)!.push(rule);
    else areas.push([rule]);
  }
  let items: (Line | Row[])[] = [...lines];
  for (const area of areas) {
    const inner = area.reduce(unite);
    const across = rows.filter((rule) => rule[1] > inner[1] - tolerance && rule[3] < inner[3] + tolerance);
    const box = across.reduce(unite, inner);
    const lefts = cluster([...area.map((rule) => rule[0]), box[0], box[2]]);
    const tops = cluster([...across.map((rule) => rule[1]), box[1], box[3]]);
    const inside = new Set(lines.filter((line) => isInside(line, box)));
    if (lefts.length < 3 || inside.size === 0) continue;
    const table = toRows(inside, lefts, tops, tops.length > 4);
    const cells = table.flatMap((row) => row.cells);
    if (table.length < 2 || cells.filter(({ length }) => length > 0).length < leastFilled * cells.length) continue;
    const at = items.findIndex((item) => inside.has(item as Line));
    items = items.flatMap((item, index) => (index === at ? [table] : inside.has(item as Line) ? [] : [item]));
  }
  return items;
}

/** Joins coordinates that are close to each other. */
function cluster(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.filter((value, index) => index === 0 || value - sorted[index - 1]! > tolerance);
}

function isInside(line: Line, [left, top, right, bottom]: PageBox): boolean {
  const middle = (line.top + line.bottom) / 2;
  return middle > top && middle < bottom && line.left > left - tolerance && line.left < right;
}

/** @param isDivided - whether there is a row for each top; otherwise, a line that begins in the first column begins one */
function toRows(lines: Iterable<Line>, lefts: readonly number[], tops: readonly number[], isDivided: boolean): Row[] {
  const rows: (Row & { band: number })[] = [];
  for (const line of [...lines].toSorted((a, b) => a.top - b.top)) {
    const band = tops.findLastIndex((top) => top < (line.top + line.bottom) / 2);
    let row = rows.at(-1);
    if (row?.band !== band || (!isDivided && line.left < lefts[1]!)) {
      row = { band, page: line.page, cells: lefts.slice(1).map(() => []), box: boxOf(line) };
      rows.push(row);
    }
    row.box = unite(row.box, boxOf(line));
    for (const { text, left } of line.cells) {
      const column = lefts.findLastIndex((start) => start <= left + tolerance);
      row.cells.at(Math.min(Math.max(0, column), row.cells.length - 1))!.push(text);
    }
  }
  return rows;
}

function findAligned(items: readonly (Line | Row[])[], lists: ReadonlyMap<Line, string>): (Line | Row[])[] {
  const found: (Line | Row[])[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const lines: Line[] = [];
    let columns: Cell[] = [];
    for (const line of items.slice(index)) {
      if (Array.isArray(line) || isCode(line) || line.isRotated || lists.has(line)) break;
      const above = lines.at(-1);
      if (above && (line.top < above.top - 1 || line.top - above.bottom > above.size * 1.5)) break;
      const united = line.cells.length > 1 ? uniteColumns([...columns, ...line.cells]) : columns;
      // A line with one cell continues one of a column behind the first.
      if (united.length < Math.max(2, columns.length) || line.left < (line.cells.length > 1 ? 0 : columns[1]!.left))
        break;
      columns = united;
      lines.push(line);
    }
    const aligned = lines.filter(({ cells }) => cells.length > 1);
    if (aligned.length < leastAligned) {
      found.push(items[index]!);
      continue;
    }
    index += lines.length - 1;
    const cells = lines.flatMap((line) => line.cells);
    const isProse = columns.length === 2 && meanLength(cells) > proseLength;
    const lefts = [...columns.map(({ left }) => left), columns.at(-1)!.right];
    if (isProse) for (const column of columns) found.push(...toColumn(lines, column));
    else
      found.push(
        toRows(
          lines,
          lefts,
          aligned.map(({ top }) => top),
          true,
        ),
      );
  }
  return found;
}

const meanLength = (cells: readonly Cell[]): number =>
  cells.reduce((sum, { text }) => sum + text.length, 0) / cells.length;

function uniteColumns(cells: readonly Cell[]): Cell[] {
  const united: Cell[] = [];
  for (const cell of cells.toSorted((a, b) => a.left - b.left)) {
    const last = united.at(-1);
    if (last && cell.left < last.right) last.right = Math.max(last.right, cell.right);
    else united.push({ ...cell });
  }
  return united;
}

/** Returns the lines of a column of text, which the file has row by row. */
function toColumn(lines: readonly Line[], { left, right }: Cell): Line[] {
  return lines.flatMap((line) => {
    const cells = line.cells.filter((cell) => cell.left < right && cell.right > left);
    return cells.length > 0
      ? [{ ...line, cells, text: textOf(cells), left: cells[0]!.left, right: cells.at(-1)!.right, edge: right }]
      : [];
  });
}
