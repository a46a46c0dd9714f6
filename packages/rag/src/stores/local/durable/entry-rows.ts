import { QuiverError } from '@quiver/core';
import type { EncodedRows, IndexRow } from '../record-table.js';

const rowStart = '{"id":"';
const newline = 0x0a;

/** Encodes rows as a JSON list with a line for each. The JSON of a row contains no line break, so a row is found without a parser. */
export function encodeRows(rows: readonly IndexRow[]): Buffer {
  return Buffer.from(`[${rows.map((row) => JSON.stringify(row)).join('\n,')}]`);
}

/** The rows of an entry, as {@link encodeRows} wrote them. A query decodes only the rows that it returns. */
export class EntryRows implements EncodedRows {
  readonly count: number;
  readonly #json: Buffer;
  #starts: number[] | undefined;
  /** Rows of an earlier version, which wrote them in one line. */
  #decoded: IndexRow[] | undefined;

  /** @param count - how many rows there are, by their vectors */
  constructor(json: Buffer, count: number) {
    this.#json = json;
    this.count = count;
  }

  row(place: number): IndexRow {
    const starts = this.#findStarts();
    if (starts.length !== this.count) return this.#decodeAll()[place] as IndexRow;
    const next = starts[place + 1];
    // A line break and a comma are between two rows, a bracket is behind the last one.
    const end = next === undefined ? this.#json.length - 1 : next - 2;
    return this.#parse(starts[place] as number, end) as IndexRow;
  }

  /** For 40,000 records with texts of 800 characters, this takes 270 ms less than to decode them. */
  ids(): string[] {
    const starts = this.#findStarts();
    if (starts.length !== this.count) return this.#decodeAll().map(({ id }) => id);
    // One character for each byte, so places in the text are places in the bytes.
    const text = this.#json.toString('latin1');
    return starts.map((start, place) => {
      if (!text.startsWith(rowStart, start)) return this.row(place).id;
      const idStart = start + rowStart.length;
      // A copy: a part of the text would keep all of it in memory.
      const id = this.#json.toString('latin1', idStart, text.indexOf('"', idStart));
      return isUnescapedAscii(id) ? id : this.row(place).id;
    });
  }

  #findStarts(): number[] {
    if (this.#starts) return this.#starts;
    const starts = [1];
    for (let end = this.#json.indexOf(newline); end !== -1; end = this.#json.indexOf(newline, end + 1))
      starts.push(end + 2);
    return (this.#starts = starts);
  }

  #decodeAll(): IndexRow[] {
    this.#decoded ??= this.#parse(0, this.#json.length) as IndexRow[];
    if (this.#decoded.length !== this.count) throw unreadable();
    return this.#decoded;
  }

  #parse(start: number, end: number): unknown {
    try {
      return JSON.parse(this.#json.toString('utf8', start, end)) as unknown;
    } catch (error) {
      throw unreadable(error);
    }
  }
}

/** Whether a string in JSON is the same as its bytes. */
function isUnescapedAscii(text: string): boolean {
  return /^[ -[\]-~]*$/.test(text);
}

function unreadable(cause?: unknown): QuiverError {
  return new QuiverError(
    'VECTOR_STORE_CORRUPT',
    'Records of an index file cannot be read, although their checksum is right: they are not JSON, or the vectors do not have the dimension of the index. Restore the file from a backup, or create the index again.',
    { cause },
  );
}
