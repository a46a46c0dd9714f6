import { limitExceeded, unreadableDocument, type DocumentLoader, type ExceededLimit } from './document-loader.js';
import { groupRows } from './group-rows.js';
import { readOfficeTitle, repackOffice, unpackOffice } from './office-package.js';
import { attribute, decodeXml, readXml } from './xml.js';
import type { UnpackedFiles } from './zip.js';

/** Last row and column of a sheet. */
const maxRows = 1_048_576;
const maxColumns = 16_384;
/** The parser fills all cells up to the last one of a sheet: one cell in the last column and row would need 17 billion. */
const maxCells = 20_000_000;

/** Reads the sheets of an Excel workbook through `read-excel-file`, in groups of rows with the header. Formulas have their stored values. */
export const loadXlsx: DocumentLoader = async (bytes, options) => {
  const { name, groupSize } = options;
  const reader = await import('read-excel-file/universal');
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
  if (typeof value === 'number') return toDigits(value);
  if (!(value instanceof Date)) return String(value);
  return Number.isNaN(value.getTime()) ? '' : value.toISOString().replace(/(?:T00:00)?(?::00)?\.000Z$/, '');
}

/** Spreadsheets show 15 digits: 0.1 + 0.2 is 0.3. A number with fewer is unchanged. */
function toDigits(value: number): string {
  const text = String(value);
  return text.length <= 15 ? text : String(Number(value.toPrecision(15)));
}

/** @throws `DOCUMENT_LIMIT_EXCEEDED` before the parser fills the cells */
function requireCells(files: UnpackedFiles, name: string): void {
  for (const [path, content] of files) {
    // A sheet can be in any folder.
    if (!decodeXml(content).includes('sheetData')) continue;
    let rows = 0;
    let columns = 0;
    readXml(content, name, {
      open: (element, attributes) => {
        if (element !== 'c' && element !== 'row') return;
        const reference = attribute(attributes, 'r') ?? '';
        const [letters = ''] = /^\D*/.exec(reference) ?? [];
        rows = Math.max(rows, Number(reference.slice(letters.length)) || 0);
        columns = Math.max(columns, columnNumber(letters));
      },
    });
    const check = (limit: ExceededLimit['limit'], value: number, max: number): void => {
      if (value <= max) return;
      throw limitExceeded(name, `${path} has ${value} ${limit}, and the limit is ${max}`, { limit, max, value });
    };
    check('rows', rows, maxRows);
    check('columns', columns, maxColumns);
    check('cells', rows * columns, maxCells);
  }
}

/** `A` is 1, `AA` is 27. As the parser calculates it, also of other characters. */
function columnNumber(letters: string): number {
  let number = 0;
  for (let index = 0; index < letters.length; index += 1) number = number * 26 + letters.charCodeAt(index) - 64;
  return number;
}
