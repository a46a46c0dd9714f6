import { uniteBoxes, type PageBox } from '@quiver/rag/document';
import type { Cell, Line } from './pdf-lines.js';
import type { PdfPage } from './pdf-page.js';

/** A row of a table: the lines of each cell. */
export interface Row {
  readonly page: number;
  readonly cells: string[][];
  box: PageBox;
}

const [tolerance, leastAligned] = [3, 3];
/** Share of the cells of a drawn table that are filled. */
const leastFilled = 0.4;

/**
 * Finds the tables of a page: lines between drawn columns, and lines below each other whose cells are aligned. Returns its lines and the
 * rows of its tables in their order.
 */
export function findTables(page: PdfPage, lines: readonly Line[], lists: ReadonlyMap<Line, string>): (Line | Row[])[] {
  const ruled = findRuled(page, lines);
  const found = new Set<Line | Row[]>();
  for (let index = 0; index < lines.length; index += 1) {
    const table = ruled.get(lines[index]!);
    const [aligned = 1, rows] = table ? [] : readAligned(lines, index, (line) => ruled.has(line) || lists.has(line));
    found.add(table ?? rows ?? lines[index]!);
    index += aligned - 1;
  }
  return [...found];
}

/** Finds the lines of drawn tables, with the rows of their table. */
function findRuled({ rows, columns }: PdfPage, lines: readonly Line[]): Map<Line, Row[]> {
  const areas: PageBox[][] = [];
  for (const rule of columns.toSorted((a, b) => a[1] - b[1])) {
    const bottom = Math.max(...(areas.at(-1) ?? []).map((other) => other[3]));
    if (rule[1] <= bottom + tolerance) areas.at(-1)!.push(rule);
    else areas.push([rule]);
  }
  const tables = new Map<Line, Row[]>();
  for (const area of areas) {
    const inner = uniteBoxes(area);
    const across = rows.filter((rule) => rule[1] > inner[1] - tolerance && rule[3] < inner[3] + tolerance);
    const box = uniteBoxes([inner, ...across]);
    const lefts = cluster([...area.map((rule) => rule[0]), box[0], box[2]]);
    const tops = cluster([...across.map((rule) => rule[1]), box[1], box[3]]);
    const inside = lines.filter(({ box: [left, top, , bottom] }) => {
      const middle = (top + bottom) / 2;
      return middle > box[1] && middle < box[3] && left > box[0] - tolerance && left < box[2];
    });
    const table = lefts.length < 3 ? [] : toRows(inside, lefts, tops, tops.length > 4);
    const cells = table.flatMap((row) => row.cells);
    if (table.length > 1 && cells.filter(({ length }) => length > 0).length >= leastFilled * cells.length)
      for (const line of inside) tables.set(line, table);
  }
  return tables;
}

/** Joins coordinates that are close to each other. */
function cluster(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.filter((value, index) => index === 0 || value - sorted[index - 1]! > tolerance);
}

/** @param isDivided - whether there is a row for each top; otherwise, a line that begins in the first column begins one */
function toRows(lines: readonly Line[], lefts: readonly number[], tops: readonly number[], isDivided: boolean): Row[] {
  const rows: (Row & { band: number })[] = [];
  for (const { page, cells, box } of lines.toSorted((a, b) => a.box[1] - b.box[1])) {
    const band = tops.findLastIndex((top) => top < (box[1] + box[3]) / 2);
    let row = rows.at(-1);
    if (row?.band !== band || (!isDivided && box[0] < lefts[1]!))
      rows.push((row = { band, page, cells: lefts.slice(1).map(() => []), box }));
    row.box = uniteBoxes([row.box, box]);
    for (const { text, left } of cells) {
      const column = lefts.findLastIndex((start) => start <= left + tolerance);
      row.cells.at(Math.min(Math.max(0, column), row.cells.length - 1))!.push(text);
    }
  }
  return rows;
}

/** Reads a table from a line: the number of its lines, and its rows. */
function readAligned(
  all: readonly Line[],
  from: number,
  isOther: (line: Line) => boolean,
): [lines?: number, rows?: Row[]] {
  const lines: Line[] = [];
  let columns: Cell[] = [];
  for (let index = from; index < all.length; index += 1) {
    const line = all[index]!;
    const above = lines.at(-1) ?? line;
    const isBelow = line.box[1] > above.box[1] - 1 && line.box[1] - above.box[3] < above.size * 1.5;
    if (line.isCode || line.isRotated || isOther(line) || !isBelow) break;
    const isDivided = line.cells.length > 1;
    const united = isDivided ? uniteColumns([...columns, ...line.cells]) : columns;
    // A line with one cell continues one of a column behind the first.
    if (united.length < Math.max(2, columns.length) || (!isDivided && line.box[0] < columns[1]!.left)) break;
    columns = united;
    lines.push(line);
  }
  const tops = lines.filter(({ cells }) => cells.length > 1).map(({ box }) => box[1]);
  if (tops.length < leastAligned) return [];
  const lefts = [...columns.map(({ left }) => left), columns.at(-1)!.right];
  return [lines.length, toRows(lines, lefts, tops, true)];
}

/** Joins cells below each other. */
function uniteColumns(cells: readonly Cell[]): Cell[] {
  const united: Cell[] = [];
  for (const cell of cells.toSorted((a, b) => a.left - b.left)) {
    const last = united.at(-1);
    if (last && cell.left < last.right) last.right = Math.max(last.right, cell.right);
    else united.push({ ...cell });
  }
  return united;
}
