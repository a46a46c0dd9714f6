import { QuiverError } from '@quiver/core';
import type { VectorMetadata } from '../../store/vector-store.js';

/** A record without its vector. */
export interface IndexRow {
  readonly id: string;
  readonly metadata: VectorMetadata;
  readonly document?: string;
}

/** Records of one entry of a file, which are decoded when they are needed. */
export interface EncodedRows {
  readonly count: number;
  /** @throws `VECTOR_STORE_CORRUPT` */
  row(place: number): IndexRow;
  /** Returns the ids of all, without decoding the rest. @throws `VECTOR_STORE_CORRUPT` */
  ids(): readonly string[];
}

/** Stands for a record that nothing has needed yet: row `first + place` is the one at `place` of the entry. */
interface EncodedRow {
  readonly rows: EncodedRows;
  readonly first: number;
}

/** The records of an index without their vectors, by row and by id. Rows are dense, as those of a `VectorTable`. */
export class RecordTable {
  readonly #rows: (IndexRow | EncodedRow)[] = [];
  /** Without the last rows, as long as nothing has needed an id since they were appended. */
  readonly #rowOfId = new Map<string, number>();
  /** `undefined` if ids were added or removed since the last sort. */
  #sortedIds: readonly string[] | undefined;

  get count(): number {
    return this.#rows.length;
  }

  get(row: number): IndexRow {
    const stored = this.#rows[row] as IndexRow | EncodedRow;
    return 'rows' in stored ? (this.#rows[row] = stored.rows.row(row - stored.first)) : stored;
  }

  readonly idOf = (row: number): string => this.get(row).id;

  rowOf(id: string): number | undefined {
    return this.#readIds().get(id);
  }

  /** Returns all ids in order. */
  sortedIds(): readonly string[] {
    return (this.#sortedIds ??= [...this.#readIds().keys()].toSorted(byCodeUnits));
  }

  /** Stores a record in the row of its id, or behind all others. @returns its row */
  set(record: IndexRow): number {
    const row = this.#rowFor(record.id);
    this.#rows[row] = record;
    return row;
  }

  /** As {@link set}, for each of the records. @param areNew - behind all others then, and no id is read. @returns their rows */
  load(rows: EncodedRows, areNew: boolean): number[] {
    if (areNew) {
      const encoded = { rows, first: this.count };
      this.#sortedIds = undefined;
      return Array.from({ length: rows.count }, () => this.#rows.push(encoded) - 1);
    }
    return rows.ids().map((id, place) => {
      const row = this.#rowFor(id);
      this.#rows[row] = { rows, first: row - place };
      return row;
    });
  }

  #rowFor(id: string): number {
    const known = this.rowOf(id);
    if (known !== undefined) return known;
    this.#rowOfId.set(id, this.count);
    this.#sortedIds = undefined;
    return this.count;
  }

  /** Removes a record; the last one takes its row. */
  remove(id: string): void {
    const row = this.rowOf(id);
    if (row === undefined) return;
    const last = this.get(this.count - 1);
    this.#rows[row] = last;
    this.#rowOfId.set(last.id, row);
    this.#rowOfId.delete(id);
    this.#rows.pop();
    this.#sortedIds = undefined;
  }

  /** @throws `VECTOR_STORE_CORRUPT` */
  #readIds(): Map<string, number> {
    let entry: EncodedRow | undefined;
    let ids: readonly string[] = [];
    for (let row = this.#rowOfId.size; row < this.count; row += 1) {
      const stored = this.#rows[row] as IndexRow | EncodedRow;
      if ('rows' in stored && stored !== entry) {
        entry = stored;
        ids = entry.rows.ids();
      }
      const id = 'rows' in stored ? (ids[row - stored.first] as string) : stored.id;
      if (this.#rowOfId.has(id)) throw duplicate(id);
      this.#rowOfId.set(id, row);
    }
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
