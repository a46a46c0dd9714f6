import type { PageBox } from '@quiver/rag/document';
import { isCode, unite, type Cell, type Line, type PdfPage } from './pdf-page.js';

/** A row of a table: the lines of each cell. */
export interface Row {
  readonly page: number;
  readonly cells: string[][];
  box: PageBox;
}

export type Table = readonly Row[];

const tolerance = 3;
const leastAligned = 3;
/** Share of the cells that are filled. */
const leastFilled = 0.4;
/** Letters of a cell above which aligned cells are columns of text. */
const proseLength = 24;

/** Finds the tables of a page, by drawn lines and by aligned cells. Returns its lines and tables in their order. */
export function findTables(
  { rows, columns }: PdfPage,
  lines: readonly Line[],
  lists: ReadonlyMap<Line, string>,
): (Line | Table)[] {
  return findAligned(findRuled(lines, rows, columns), lists);
}

/** Finds tables whose columns are divided by drawn lines: those that continue each other downwards are one table. */
function findRuled(lines: readonly Line[], rows: readonly PageBox[], columns: readonly PageBox[]): (Line | Table)[] {
  const areas: { columns: PageBox[]; box: PageBox }[] = [];
  for (const rule of columns.toSorted((a, b) => a[1] - b[1])) {
    const area = areas.at(-1);
    if (area && rule[1] <= area.box[3] + tolerance) {
      area.columns.push(rule);
      area.box = unite(area.box, rule);
    } else areas.push({ columns: [rule], box: rule });
  }
  let items: (Line | Table)[] = [...lines];
  for (const area of areas) {
    const [, top, , bottom] = area.box;
    const across = rows.filter((rule) => rule[1] > top - tolerance && rule[3] < bottom + tolerance);
    const box = across.reduce(unite, area.box);
    const lefts = cluster([...area.columns.map((rule) => rule[0]), box[0], box[2]]);
    const tops = cluster([...across.map((rule) => rule[1]), top, bottom]);
    if (lefts.length < 3 || tops.length < 2) continue;
    const inside = new Set(lines.filter((line) => isInside(line, box)));
    const table = toTable(inside, lefts, tops, tops.length > 4);
    if (!isTable(table)) continue;
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
function toTable(lines: Iterable<Line>, lefts: readonly number[], tops: readonly number[], isDivided: boolean): Row[] {
  const rows = new Map<number, Row>();
  for (const line of [...lines].toSorted((a, b) => a.top - b.top)) {
    const middle = (line.top + line.bottom) / 2;
    const band = tops.findLastIndex((top) => top < middle);
    const isFirst = line.left < lefts[1]!;
    const above = [...rows.keys()].findLast((key) => Math.floor(key) === band);
    const key = isDivided || above === undefined ? band : isFirst ? above + 0.0001 : above;
    const box: PageBox = [line.left, line.top, line.right, line.bottom];
    const row = rows.get(key) ?? { page: line.page, cells: lefts.slice(1).map(() => []), box };
    rows.set(key, row);
    row.box = unite(row.box, box);
    for (const { text, left } of line.cells) {
      const column = Math.max(
        0,
        lefts.findLastIndex((start) => start <= left + tolerance),
      );
      row.cells[Math.min(column, row.cells.length - 1)]!.push(text);
    }
  }
  return [...rows].toSorted(([a], [b]) => a - b).map(([, row]) => row);
}

function isTable(rows: Table): boolean {
  const cells = rows.flatMap((row) => row.cells);
  return rows.length >= 2 && cells.filter(({ length }) => length > 0).length >= leastFilled * cells.length;
}

/** Finds lines below each other whose cells do not overlap those of other columns. */
function findAligned(items: readonly (Line | Table)[], lists: ReadonlyMap<Line, string>): (Line | Table)[] {
  const found: (Line | Table)[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const lines: Line[] = [];
    let columns: Cell[] = [];
    let aligned = 0;
    for (const line of items.slice(index)) {
      if (!('cells' in line) || isCode(line) || line.isRotated || lists.has(line)) break;
      const above = lines.at(-1);
      if (above && (line.top < above.top - 1 || line.top - above.bottom > above.size * 1.5)) break;
      if (line.cells.length < 2) {
        // A cell of several lines.
        if (!above || line.left < columns[1]!.left - tolerance) break;
      } else {
        const united = uniteColumns([...columns, ...line.cells]);
        if (united.length < 2 || united.length < columns.length) break;
        columns = united;
        aligned += 1;
      }
      lines.push(line);
    }
    if (aligned < leastAligned) {
      found.push(items[index]!);
      continue;
    }
    index += lines.length - 1;
    const letters = lines.flatMap(({ cells }) => cells).map(({ text }) => text.length);
    const isProse = columns.length === 2 && letters.reduce((a, b) => a + b, 0) / letters.length > proseLength;
    if (isProse) for (const column of columns) found.push(...toColumn(lines, column));
    else {
      const lefts = [...columns.map(({ left }) => left), columns.at(-1)!.right];
      const tops = lines.filter((line) => line.cells.length > 1).map(({ top }) => top);
      // Each line with several cells is a row.
      found.push(toTable(lines, lefts, tops, true));
    }
  }
  return found;
}

function uniteColumns(cells: readonly Cell[]): Cell[] {
  const united: Cell[] = [];
  for (const { left, right } of cells.toSorted((a, b) => a.left - b.left)) {
    const last = united.at(-1);
    if (last && left < last.right) last.right = Math.max(last.right, right);
    else united.push({ text: '', left, right });
  }
  return united;
}

/** Returns the lines of a column of text, which the file has row by row. */
function toColumn(lines: readonly Line[], { left, right }: Cell): Line[] {
  return lines.flatMap((line) => {
    const cells = line.cells.filter((cell) => cell.left < right && cell.right > left);
    const [first, last] = [cells[0], cells.at(-1)];
    return first && last ? [{ ...line, cells, left: first.left, right: last.right, edge: right }] : [];
  });
}
