import { toRecord, toRow, toTableHeader, type SourceDocument } from '@quiver/rag/document';

type Row = readonly string[];

/**
 * Writes the rows of a table as tables of Markdown of at most `size` characters, each with the header and the numbers of its first and
 * last row as `row` and `endRow`. A longer row is a separate text, a line per value: `header: value`.
 *
 * The header is the first row with at least two values, and rows above it are text. A header of two rows, whose first one names groups of
 * columns, becomes one. Row 1 is the first one, as a spreadsheet shows it.
 */
export function groupRows(rows: readonly Row[], size: number): SourceDocument[] {
  const filled = rows.map(countFilled);
  const isSingleColumn = !filled.some((count) => count > 1);
  const headerAt = filled.findIndex((count) => count > (isSingleColumn ? 0 : 1));
  if (headerAt === -1) return [];
  const groups = isSingleColumn ? undefined : groupsOf(rows, headerAt);
  const names = groups ?? trimEnd(rows[headerAt]!);
  const header = toTableHeader(names);
  const above = rows.slice(0, headerAt).flatMap(textsOf);

  const docs: SourceDocument[] = [];
  let start = above.length > 0 ? `${above.join('\n')}\n\n${header}` : header;
  let lines: string[] = [];
  let length = 0;
  let row = above.length > 0 ? filled.findIndex((count) => count > 0) : headerAt;
  let endRow = groups ? headerAt + 1 : headerAt;
  const add = (text: string): void => {
    docs.push({ text, metadata: { row: row + 1, endRow: endRow + 1 } });
    start = header;
    lines = [];
    length = 0;
  };
  const flush = (): void => add([start, ...lines].join('\n'));
  for (let index = endRow + 1; index < rows.length; index += 1) {
    if (filled[index] === 0) continue;
    const cells = trimEnd(rows[index]!);
    const line = toRow(cells);
    // A header that is much longer than the rows is not repeated for each of them.
    const isWide = header.length + line.length + 1 > size && line.length * 4 >= header.length;
    const isFull = start.length + length + line.length + 1 > size && length * 4 >= header.length;
    if ((isFull || isWide) && lines.length > 0) flush();
    if (lines.length === 0 && docs.length > 0) row = index;
    endRow = index;
    if (isWide)
      add([...(docs.length === 0 && above.length > 0 ? [...above, ''] : []), toRecord(names, cells)].join('\n'));
    else {
      lines.push(line);
      length += line.length + 1;
    }
  }
  if (lines.length > 0 || docs.length === 0) flush();
  return docs;
}

/** Returns the names of columns below names of groups of columns, or `undefined` for a header of one row. */
function groupsOf(rows: readonly Row[], at: number): Row | undefined {
  const [upper, lower, first] = [rows[at]!, rows[at + 1], rows[at + 2]];
  if (!lower || !first || countFilled(lower) <= countFilled(upper)) return undefined;
  const isText = lower.every((cell) => cell.trim() === '' || !isNumber(cell));
  const hasNumbers = lower.some((cell, column) => cell.trim() !== '' && isNumber(first[column] ?? ''));
  if (!isText || !hasNumbers) return undefined;
  let group = '';
  return Array.from({ length: Math.max(upper.length, lower.length) }, (_, column) => {
    group = upper[column]?.trim() || group;
    const name = lower[column]?.trim() ?? '';
    return name === '' ? (upper[column]?.trim() ?? '') : `${group} ${name}`.trim();
  });
}

function isNumber(cell: string): boolean {
  return /\d/.test(cell) && /^[-+]?[\d.,\s]*%?$/.test(cell.trim());
}

function countFilled(cells: Row): number {
  return cells.reduce((sum, cell) => sum + (cell.trim() === '' ? 0 : 1), 0);
}

function textsOf(cells: Row): string[] {
  return cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
}

function trimEnd(cells: Row): Row {
  let end = cells.length;
  while (end > 0 && cells[end - 1]!.trim() === '') end -= 1;
  return cells.slice(0, end);
}
