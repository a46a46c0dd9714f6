import { decodeText } from './decode-text.js';
import type { DocumentLoader } from './document-loader.js';
import { groupRows } from './group-rows.js';
import { textLoader } from './text.js';

/** Size of the part in which the delimiter is counted, in UTF-16 code units. */
const sampleSize = 20_000;
const delimiters = [',', ';', '\t', '|'];
/** As in a spreadsheet. A row takes much more memory than its text. */
const maxRows = 1_048_576;

const loadText = textLoader('text');

/**
 * Reads a table of text with any of the usual delimiters through `csv-parse`, in groups of rows with the header. With
 * more rows than a spreadsheet has, it is read as text.
 */
export const loadCsv: DocumentLoader = async (bytes, options) => {
  const { name, encoding, groupSize } = options;
  const { parse } = await import('csv-parse/sync');
  const { text, metadata } = await decodeText(bytes, name, encoding);
  if (hasTooManyRows(text)) return loadText(bytes, options);
  // The last line of the sample may be cut.
  const end = text.length > sampleSize ? text.lastIndexOf('\n', sampleSize) + 1 || sampleSize : text.length;
  const delimiter = findDelimiter(text.slice(0, end));
  const read = (quote: '"' | false): string[][] =>
    parse(text, { delimiter, quote, relax_column_count: true, relax_quotes: true, skip_empty_lines: false });
  let rows: string[][];
  try {
    rows = read('"');
  } catch {
    // Some tables contain quotes that are not closed, as ordinary characters.
    rows = read(false);
  }
  const docs = groupRows(rows, groupSize);
  return [{ type: 'markdown', docs: docs.map((doc) => ({ ...doc, metadata: { ...doc.metadata, ...metadata } })) }];
};

function hasTooManyRows(text: string): boolean {
  for (const lineEnd of ['\n', '\r']) {
    let rows = 1;
    for (let at = text.indexOf(lineEnd); at !== -1; at = text.indexOf(lineEnd, at + 1)) {
      rows += 1;
      if (rows > maxRows) return true;
    }
  }
  return false;
}

/** A cell in quotes with the character before it. Other quotes are ordinary characters. */
const quotedCell = /(^|[,;\t|\r\n])"[^"]*(?:""[^"]*)*"(?=[,;\t|\r\n]|$)/g;

/** Returns the delimiter that cuts most rows into the same number of cells, and among these into the most cells. */
function findDelimiter(sample: string): string {
  const rows = sample.replace(quotedCell, '$1').split(/\r\n?|\n/);
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of delimiters) {
    const counts = new Map<number, number>();
    for (const row of rows) {
      const columns = row.split(delimiter).length;
      if (columns > 1) counts.set(columns, (counts.get(columns) ?? 0) + 1);
    }
    const score = Math.max(0, ...Array.from(counts, ([columns, rows]) => rows + columns / 1000));
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}
