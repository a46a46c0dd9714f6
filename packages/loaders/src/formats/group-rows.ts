import type { SourceDocument } from '@quiver/rag/document';
import { toRow, toTableHeader } from '../structure/markdown-writer.js';

/**
 * Writes the rows of a table as tables of Markdown of at most `size` characters, each with the header and the numbers of its first and
 * last row as `row` and `endRow`. A longer row is a separate table.
 *
 * The header is the first row with at least two values, and rows above it are text. Row 1 is the first one, as a spreadsheet shows it.
 */
export function groupRows(rows: readonly (readonly string[])[], size: number): SourceDocument[] {
  const filled = rows.map((cells) => cells.reduce((sum, cell) => sum + (cell.trim() === '' ? 0 : 1), 0));
  const isSingleColumn = !filled.some((count) => count > 1);
  const headerAt = filled.findIndex((count) => count > (isSingleColumn ? 0 : 1));
  if (headerAt === -1) return [];
  const header = toTableHeader(trimEnd(rows[headerAt]!));
  const above = rows
    .slice(0, headerAt)
    .flatMap((cells) => cells.map((cell) => cell.trim()).filter((cell) => cell !== ''));

  const docs: SourceDocument[] = [];
  let start = above.length > 0 ? `${above.join('\n')}\n\n${header}` : header;
  let lines: string[] = [];
  let length = 0;
  let row = above.length > 0 ? filled.findIndex((count) => count > 0) : headerAt;
  let endRow = headerAt;
  const flush = (): void => {
    docs.push({ text: [start, ...lines].join('\n'), metadata: { row: row + 1, endRow: endRow + 1 } });
    start = header;
    lines = [];
    length = 0;
  };
  for (let index = headerAt + 1; index < rows.length; index += 1) {
    if (filled[index] === 0) continue;
    const line = toRow(trimEnd(rows[index]!));
    // A header that is much longer than the rows is not repeated for each of them.
    const isFull = start.length + length + line.length + 1 > size && length * 4 >= header.length;
    if (isFull && lines.length > 0) flush();
    if (lines.length === 0 && docs.length > 0) row = index;
    lines.push(line);
    length += line.length + 1;
    endRow = index;
  }
  if (lines.length > 0 || docs.length === 0) flush();
  return docs;
}

function trimEnd(cells: readonly string[]): readonly string[] {
  let end = cells.length;
  while (end > 0 && cells[end - 1]!.trim() === '') end -= 1;
  return cells.slice(0, end);
}
