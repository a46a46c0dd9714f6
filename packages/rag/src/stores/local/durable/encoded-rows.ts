import { QuiverError } from '@quiver/core';
import type { EncodedRow, IndexRow } from '../local-index.js';

/** Rows that are decoded together, when the first of them is needed: a result of a query decodes no more than these. */
const rowsPerBlock = 64;

/** Every row begins with this. Inside a JSON string the quotes are escaped, so it is found at the start of objects only. */
const rowStart = '{"id":"';

/**
 * Returns rows of which only the ids are decoded, `undefined` where this is not possible. For 40,000 records with
 * texts of 800 characters, opening the index takes 481 ms of CPU time instead of 749.
 *
 * @param json - list of rows, as `encodeEntry` writes it; valid only during the call
 * @param count - how many rows there are
 */
export function decodeIds(json: Buffer, count: number): EncodedRow[] | undefined {
  // One character for each byte, so places in the text are places in the bytes.
  const text = json.toString('latin1');
  const starts: number[] = [];
  const ids: string[] = [];
  for (let start = text.indexOf(rowStart); start !== -1;) {
    const idStart = start + rowStart.length;
    const idEnd = text.indexOf('"', idStart);
    // A copy: a part of the text would keep all of it in memory.
    const id = json.toString('latin1', idStart, idEnd);
    if (!isUnescapedAscii(id)) return undefined;
    starts.push(start);
    ids.push(id);
    start = text.indexOf(rowStart, idEnd);
  }
  // More of them than rows: metadata contain objects that begin like a row.
  if (starts.length !== count || starts[0] !== 1) return undefined;
  starts.push(json.length);
  const rows: EncodedRow[] = [];
  for (let first = 0; first < count; first += rowsPerBlock) {
    const end = Math.min(first + rowsPerBlock, count);
    // Without the comma or bracket behind the last row.
    const bytes = Uint8Array.prototype.slice.call(json, starts[first], (starts[end] as number) - 1);
    const block = new RowBlock(bytes);
    for (let row = first; row < end; row += 1) rows.push(new RowOfBlock(ids[row] as string, block, row - first));
  }
  return rows;
}

/** Whether a string in JSON is the same as its bytes. */
function isUnescapedAscii(text: string): boolean {
  return /^[ -[\]-~]*$/.test(text);
}

/** Rows of a file that are decoded at once. */
class RowBlock {
  #bytes: Uint8Array | undefined;
  #rows: IndexRow[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @throws `VECTOR_STORE_CORRUPT` */
  row(place: number, id: string): IndexRow {
    try {
      if (this.#bytes) this.#rows = JSON.parse(`[${new TextDecoder().decode(this.#bytes)}]`) as IndexRow[];
    } catch (error) {
      throw unreadable(id, error);
    }
    this.#bytes = undefined;
    const row = this.#rows[place];
    if (row?.id !== id) throw unreadable(id);
    return row;
  }
}

function unreadable(id: string, cause?: unknown): QuiverError {
  return new QuiverError(
    'VECTOR_STORE_CORRUPT',
    `The record '${id}' cannot be read, although its checksum is right. Restore the index file from a backup, or create the index again.`,
    { cause },
  );
}

class RowOfBlock implements EncodedRow {
  readonly id: string;
  readonly #block: RowBlock;
  readonly #place: number;

  constructor(id: string, block: RowBlock, place: number) {
    this.id = id;
    this.#block = block;
    this.#place = place;
  }

  decode(): IndexRow {
    // With the string that the index has as a key already.
    return Object.assign(this.#block.row(this.#place, this.id), { id: this.id });
  }
}
