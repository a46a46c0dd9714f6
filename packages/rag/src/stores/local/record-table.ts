import type { VectorMetadata } from '../../store/vector-store.js';

/** A record without its vector. */
export interface IndexRow {
  readonly id: string;
  readonly metadata: VectorMetadata;
  readonly document?: string;
}

/** A record of a file, which is decoded when it is needed. */
export interface EncodedRow {
  readonly id: string;
  readonly text: Buffer;
  /** Range of its JSON in the text. */
  readonly start: number;
  readonly end: number;
}

/** The records of an index without their vectors, by row and by id. Rows are dense, as those of a `VectorTable`. */
export class RecordTable {
  readonly #rows: (IndexRow | EncodedRow)[] = [];
  readonly #rowOfId = new Map<string, number>();
  /** `undefined` if ids were added or removed since the last sort. */
  #sortedIds: readonly string[] | undefined;

  get count(): number {
    return this.#rows.length;
  }

  get(row: number): IndexRow {
    const stored = this.#rows[row] as IndexRow | EncodedRow;
    if (!('text' in stored)) return stored;
    return (this.#rows[row] = JSON.parse(stored.text.toString('utf8', stored.start, stored.end)) as IndexRow);
  }

  readonly idOf = (row: number): string => (this.#rows[row] as IndexRow | EncodedRow).id;

  rowOf(id: string): number | undefined {
    return this.#rowOfId.get(id);
  }

  /** Returns all ids in order. */
  sortedIds(): readonly string[] {
    return (this.#sortedIds ??= [...this.#rowOfId.keys()].toSorted(byCodeUnits));
  }

  /** Stores a record in the row of its id, or behind all others. @returns its row */
  set(record: IndexRow | EncodedRow): number {
    const row = this.rowOf(record.id) ?? this.count;
    if (row === this.count) {
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
}

/** Returns the first of `count` places where a test is true; `count` if there is none. The test must be true for all later places, too. */
export function firstPlace(count: number, test: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Independent of locale and language. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
