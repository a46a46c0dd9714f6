import { explainMissing, tooLargeDocument, unreadableDocument, type DocumentLoader } from './document-loader.js';
import { groupRows } from './group-rows.js';
import { readOfficeTitle, repackOffice, unpackOffice } from './office-package.js';
import { decodeXml } from './xml.js';
import type { UnpackedFiles } from './zip.js';

/** The parser fills all cells up to the last one of a sheet: one cell in the last column and row would need 17 billion. */
const maxCells = 20_000_000;

/** Reads the sheets of an Excel workbook through `read-excel-file`, in groups of rows with the header. Formulas have their stored values. */
export const loadXlsx: DocumentLoader = async (bytes, options) => {
  const { name, groupSize } = options;
  const reader = await import('read-excel-file/universal').catch(explainMissing('read-excel-file', 'XLSX'));
  const files = await unpackOffice(bytes, options);
  if (!files.has('xl/workbook.xml'))
    throw unreadableDocument(name, 'it is not a workbook: xl/workbook.xml is missing.');
  requireCells(files, name);
  const sheets = await reader.default((await repackOffice(files)).buffer);
  const title = readOfficeTitle(files, name);
  const docs = sheets.flatMap(({ sheet, data }) =>
    groupRows(
      data.map((row) => row.map(toText)),
      groupSize,
    ).map(({ text, metadata }) => ({
      text,
      metadata: { ...title, sheet, ...metadata },
    })),
  );
  return [{ type: 'markdown', docs }];
};

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  // Spreadsheets show 15 digits: 0.1 + 0.2 is 0.3.
  if (typeof value === 'number') return String(Number(value.toPrecision(15)));
  if (!(value instanceof Date)) return String(value);
  return Number.isNaN(value.getTime()) ? '' : value.toISOString().replace(/(?:T00:00)?(?::00)?\.000Z$/, '');
}

/** `r="AB12"` of a cell or `r="12"` of a row; also one that hides in character references. */
const cellReference = /\br\s*=\s*["']([A-Za-z]{0,3})(\d{1,8}|[^"'<>&]*&[^"'<>]*)["']/g;

function requireCells(files: UnpackedFiles, name: string): void {
  for (const [path, content] of files) {
    if (!/^xl\/worksheets\/[^/]+\.xml$/i.test(path)) continue;
    let rows = 0;
    let columns = 0;
    for (const [, letters = '', digits = ''] of decodeXml(content).matchAll(cellReference)) {
      if (digits.includes('&')) throw unreadableDocument(name, `${path} has an invalid cell reference.`);
      rows = Math.max(rows, Number(digits) || 0);
      columns = Math.max(columns, columnNumber(letters));
    }
    if (rows * columns > maxCells) throw tooLargeDocument(name, `${path} has ${rows} rows and ${columns} columns`);
  }
}

/** `A` is 1, `AA` is 27. */
function columnNumber(letters: string): number {
  return Array.from(letters.toUpperCase()).reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0);
}
