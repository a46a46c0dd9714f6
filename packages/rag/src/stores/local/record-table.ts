import { QuiverError } from '@quiver/core';
import type { VectorMetadata } from '../../store/vector-store.js';

/** A record without its vector. */
export interface IndexRow {
  readonly id: string;
  readonly metadata: VectorMetadata;
  readonly document?: string;
}

/** A record that was read from a file, and is decoded when it is needed. */
export interface EncodedRow {
  readonly id: string;
  /** @throws `VECTOR_STORE_CORRUPT` */
  decode(): IndexRow;
}

/** Records of one entry of a file. Even their ids are decoded when they are needed. */
export interface EncodedRows {
  readonly count: number;
  /** Decodes one of them. @throws `VECTOR_STORE_CORRUPT` */
  row(place: number): IndexRow;
  /** Returns all, decoded at least as far as their ids. @throws `VECTOR_STORE_CORRUPT` */
  decodeIds(): readonly (IndexRow | EncodedRow)[];
}

/** Stands for each record of an entry whose ids nothing has needed yet. */
interface UnreadRows {
  /** Row number of the first one. */
  readonly first: number;
  readonly rows: EncodedRows;
}

/** The records of an index without their vectors, by row and by id. Rows are dense, as those of a `VectorTable`. */
export class RecordTable {
  readonly #rows: (IndexRow | EncodedRow | UnreadRows)[] = [];
  /** Entries whose ids are not in the map yet. */
  #unread: UnreadRows[] = [];
  readonly #rowOfId = new Map<string, number>();
  /** `undefined` if ids were added or removed since the last sort. */
  #sortedIds: readonly string[] | undefined;

  get count(): number {
    return this.#rows.length;
  }

  /** Adds records behind all others. Their ids must be new. */
  append(rows: EncodedRows): void {
    const unread = { first: this.count, rows };
    this.#unread.push(unread);
    for (let place = 0; place < rows.count; place += 1) this.#rows.push(unread);
    this.#sortedIds = undefined;
  }

  get(row: number): IndexRow {
    const stored = this.#stored(row);
    return 'decode' in stored ? (this.#rows[row] = stored.decode()) : stored;
  }

  readonly idOf = (row: number): string => this.#stored(row).id;

  rowOf(id: string): number | undefined {
    return this.#readIds().get(id);
  }

  /** All ids, in order. */
  sortedIds(): readonly string[] {
    return (this.#sortedIds ??= [...this.#readIds().keys()].toSorted(byCodeUnits));
  }

  /** Stores a record in the row of its id, or behind all others. @returns its row */
  set(record: IndexRow | EncodedRow): number {
    let row = this.rowOf(record.id);
    if (row === undefined) {
      row = this.count;
      this.#rowOfId.set(record.id, row);
      this.#sortedIds = undefined;
    }
    this.#rows[row] = record;
    return row;
  }

  /** Removes a record; the last one takes its row. */
  remove(id: string): void {
    const row = this.rowOf(id);
    if (row === undefined) return;
    const last = this.#rows.pop() as IndexRow | EncodedRow;
    this.#rowOfId.delete(id);
    this.#sortedIds = undefined;
    if (row === this.count) return;
    this.#rows[row] = last;
    this.#rowOfId.set(last.id, row);
  }

  #stored(row: number): IndexRow | EncodedRow {
    const stored = this.#rows[row] as IndexRow | EncodedRow | UnreadRows;
    return 'rows' in stored ? (this.#rows[row] = stored.rows.row(row - stored.first)) : stored;
  }

  /** Decodes the ids of all entries. @throws `VECTOR_STORE_CORRUPT` */
  #readIds(): Map<string, number> {
    for (const { first, rows } of this.#unread) {
      for (const [place, record] of rows.decodeIds().entries()) {
        if (this.#rowOfId.has(record.id)) throw duplicate(record.id);
        this.#rowOfId.set(record.id, first + place);
        this.#rows[first + place] = record;
      }
    }
    this.#unread = [];
    return this.#rowOfId;
  }
}

function duplicate(id: string): QuiverError {
  return new QuiverError(
    'VECTOR_STORE_CORRUPT',
    `The index file contains the record '${id}' twice, although it says that its id was new. Restore the file from a backup, or create the index again.`,
  );
}

/** Independent of locale and language. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
