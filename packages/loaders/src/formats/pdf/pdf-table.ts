import type { PdfSegment } from './pdf-fragments.js';

/** Cells of a table, row by row, each row as long as the first. */
export type PdfTable = readonly (readonly string[])[];

/** Least number of rows with two cells or more. */
const minRows = 3;
const maxColumns = 40;
/** Distance of two rows of a table, in font sizes. */
const maxRowDistance = 3.2;
/** Start of an item of a list, which is not a cell. */
const marker = /^(?:[•◦▪‣·*–—-]|\(?(?:\d{1,3}|[a-z]|[ivx]+)[.)]|\[\d+\])$/i;
const leader = /(?:\.\s?){4}/;

/** Extent of a column from left to right. */
export interface PdfColumn {
  readonly left: number;
  readonly right: number;
}

interface FoundTable {
  readonly table: PdfTable | undefined;
  readonly columns: readonly PdfColumn[];
  /** Index of the first row behind it. */
  readonly end: number;
}

/**
 * Finds a table that starts at a row: at least three rows with cells whose columns do not overlap. A row with a single cell behind the
 * first column continues the row above it.
 *
 * @param known - columns of the table that may continue here, of which one row is enough
 * @returns without cells, the rows are a list
 */
export function readTable(
  rows: readonly (readonly PdfSegment[])[],
  start: number,
  known?: readonly PdfColumn[],
): FoundTable | undefined {
  const first = rows[start]!;
  if (first.length < 2 || first.length > maxColumns || isListing(first)) return undefined;
  const continued = known && continueColumns(known, first);
  let columns: PdfColumn[] = continued ?? first.map(({ left, right }) => ({ left, right }));
  const found: (readonly PdfSegment[])[] = [first];
  let full = continued ? minRows : 1;
  let end = start + 1;
  for (; end < rows.length; end++) {
    const row = rows[end]!;
    const above = rows[end - 1]!;
    if (row.length > maxColumns || isListing(row)) break;
    if (row[0]!.baseline - above[0]!.baseline > Math.max(row[0]!.size, above[0]!.size) * maxRowDistance) break;
    const merged = mergeColumns(columns, row);
    if (merged.length < 2 || merged.length > maxColumns) break;
    // A line across several columns ends the table, unless the table has just begun and its title line was narrower.
    if (merged.length < columns.length && full >= 2) break;
    if (row.length === 1 && (row[0]!.left < merged[0]!.right || full < 2)) break;
    if (continued && merged.length !== columns.length) break;
    columns = merged;
    found.push(row);
    if (row.length > 1) full += 1;
  }
  if (full < minRows) return undefined;
  const isFilled = columns.every((column) => found.some((row) => row.some((segment) => isIn(segment, column))));
  if (continued && !isFilled) return readTable(rows, start);
  const table = found.reduce<string[][]>((cells, row) => {
    const isContinued = row.length === 1 && cells.length > 0;
    if (!isContinued) cells.push(columns.map(() => ''));
    const target = cells.at(-1)!;
    for (const segment of row) {
      const column = columns.findIndex(({ right }) => segment.left <= right);
      target[column] = target[column] === '' ? segment.text : `${target[column]} ${segment.text}`;
    }
    return cells;
  }, []);
  return { table: isList(table) || isSparse(table) ? undefined : table, columns, end };
}

function isIn({ left, right }: PdfColumn, column: PdfColumn): boolean {
  return left >= column.left && right <= column.right;
}

/** Returns the columns of a table on an earlier page with the cells of a row here, or `undefined` if they do not fit. */
function continueColumns(known: readonly PdfColumn[], row: readonly PdfSegment[]): PdfColumn[] | undefined {
  // The margins of left and right pages differ.
  const shift = row[0]!.left - known[0]!.left;
  const columns = known.map(({ left, right }) => ({ left: left + shift, right: right + shift }));
  const merged = mergeColumns(columns, row);
  return merged.length === known.length ? merged : undefined;
}

/** Whether a row is a line of code, which may have a number. */
function isListing(row: readonly PdfSegment[]): boolean {
  return row.every(({ text, isMonospaced }, index) => isMonospaced || (index === 0 && /^\d+$/.test(text)));
}

/** Returns the columns together with the cells of a further row; columns that a cell connects become one. */
function mergeColumns(columns: readonly PdfColumn[], row: readonly PdfSegment[]): PdfColumn[] {
  const merged: { left: number; right: number }[] = [];
  for (const { left, right } of [...columns, ...row].toSorted((a, b) => a.left - b.left)) {
    const last = merged.at(-1);
    if (last && left <= last.right) last.right = Math.max(last.right, right);
    else merged.push({ left, right });
  }
  return merged;
}

/** Whether the rows are items of a list, or lines of a table of contents with leaders. */
function isList(table: PdfTable): boolean {
  const count = (test: (row: readonly string[]) => boolean): number => table.filter(test).length;
  const markers = count(([first]) => marker.test(first!));
  return (
    markers > count(([first]) => first !== '') * 0.7 ||
    count((row) => row.some((cell) => leader.test(cell))) > table.length * 0.3
  );
}

/** Whether most cells are empty or hold a symbol, as where the parts of a formula lie. */
function isSparse(table: PdfTable): boolean {
  const cells = table.flat();
  const filled = cells.filter((cell) => cell !== '');
  const words = filled.filter((cell) => /\p{L}{2}|\d/u.test(cell));
  return filled.length < cells.length * 0.5 || words.length < filled.length * 0.6;
}
