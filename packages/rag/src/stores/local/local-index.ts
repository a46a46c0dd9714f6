import type { Filter } from '../../filter/index.js';
import type { KeywordText } from '../../words/keyword-index.js';
import { keywordText } from '../../store/record-text.js';
import { type CheckedRecord, copyMetadata } from '../../store/checks.js';
import type { FoundRecord } from '../../store/search.js';
import type { NearestSearch, TermSearch } from '../../store/record-store.js';
import type { DerivedData, VectorMetric, VectorRecord } from '../../store/vector-store.js';
import { nearestRows } from '../../vectors/nearest-rows.js';
import { type ReservedRows, VectorTable } from '../../vectors/vector-table.js';
import { LocalWords, type WordStorage } from './local-words.js';
import { byCodeUnits, type EncodedRow, firstPlace, type IndexRow, RecordTable } from './record-table.js';
import { type RowList, RowSelection } from './row-selection.js';

/** One index in memory. */
export class LocalIndex {
  readonly header: IndexHeader;
  #vectors: VectorTable;
  #records = new RecordTable();
  #selection = this.#newSelection();
  readonly words: LocalWords;

  /** @param storage - of the terms; without it, they are in memory only */
  constructor(header: IndexHeader, storage?: WordStorage) {
    this.header = header;
    this.#vectors = new VectorTable(header.dimension, header.metric);
    this.words = new LocalWords(header.analyzer, this, storage);
  }

  get count(): number {
    return this.#records.count;
  }

  /** As `reserve` of a `LogTarget`. */
  reserve(byteLength: number): ReservedRows | undefined {
    const count = byteLength / (this.header.dimension * Float32Array.BYTES_PER_ELEMENT);
    return Number.isInteger(count) ? this.#vectors.reserve(count) : undefined;
  }

  apply(operation: IndexOperation | LoadOperation): void {
    switch (operation.type) {
      case 'delete':
        return this.#delete(operation.ids);
      case 'truncate':
        return this.#truncate();
      case 'upsert':
        for (const [place, record] of operation.rows.entries()) {
          const row = this.#records.set(record);
          this.#vectors.set(row, operation.vectors[place] as Float32Array | number);
          this.#selection.set(row);
          this.words.set(row);
        }
    }
  }

  /** Ids that do not exist are ignored. */
  #delete(ids: readonly string[]): void {
    for (const id of ids) {
      const row = this.#records.rowOf(id);
      if (row === undefined) continue;
      this.#records.remove(id);
      const moved = this.#vectors.remove(row);
      this.words.remove(row, moved);
      if (moved !== undefined) this.#selection.move(moved, row);
    }
  }

  #truncate(): void {
    this.#vectors = new VectorTable(this.header.dimension, this.header.metric);
    this.#records = new RecordTable();
    this.#selection = this.#newSelection();
    this.words.clear();
  }

  nearest({ vector, limit, filter, includeVector }: NearestSearch): FoundRecord[] {
    if (this.count === 0) return [];
    const nearest = nearestRows({
      table: this.#vectors,
      query: vector,
      k: Math.min(limit, this.count),
      rows: this.#select(filter),
      idOf: this.#records.idOf,
    });
    return nearest.map(({ row, similarity }) => ({ similarity, record: this.#find(row, includeVector) }));
  }

  /** Returns the records whose texts share terms with the query. @throws `OPTIONS_INVALID` for an unknown analyzer */
  async byTerms(search: TermSearch): Promise<FoundRecord[]> {
    const { keywords, terms } = await this.words.find(search.queryText);
    if (this.count === 0) return [];
    const { limit, filter, includeVector } = search;
    const rows = this.#select(filter);
    const isSelected = rows && this.#mark(rows);
    const accept = isSelected && ((row: number): boolean => isSelected[row] === 1);
    const found = keywords.search(terms, { limit: Math.min(limit, this.count), accept, idOf: this.#records.idOf });
    const records = found.map(({ doc, score }) => ({ similarity: score, record: this.#find(doc, includeVector) }));
    await this.words.store();
    return records;
  }

  get(ids: readonly string[], includeVector: boolean): VectorRecord[] {
    return ids.flatMap((id) => {
      const row = this.#records.rowOf(id);
      return row === undefined ? [] : [copyRecord(this.#find(row, includeVector))];
    });
  }

  /** Returns the ids that exist. */
  existing(ids: readonly string[]): string[] {
    return ids.filter((id) => this.#records.rowOf(id) !== undefined);
  }

  /** Returns how many records match. */
  countOf(filter: Filter): number {
    return this.#selection.select(filter, this.count).length;
  }

  /** Returns the ids of the records that match the filter, in order; with `after`, only the first `limit` ids after it. */
  select(filter: Filter | undefined, after = '', limit: number = Number.POSITIVE_INFINITY): readonly string[] {
    const rows = this.#select(filter);
    // Sorting few ids is faster than a walk through the sorted ids of all records.
    if (rows && rows.length <= this.count / 16) {
      const ids = Array.from(rows, this.#records.idOf);
      return ids
        .filter((id) => id > after)
        .toSorted(byCodeUnits)
        .slice(0, limit);
    }
    const sorted = this.#records.sortedIds();
    const start = firstPlace(sorted.length, (place) => (sorted[place] as string) > after);
    if (!rows) return sorted.slice(start, start + limit);
    const isSelected = this.#mark(rows);
    const ids: string[] = [];
    for (let place = start; place < sorted.length && ids.length < limit; place += 1) {
      const id = sorted[place] as string;
      if (isSelected[this.#records.rowOf(id) as number] === 1) ids.push(id);
    }
    return ids;
  }

  /** Returns all records, for a rewrite of the index. */
  *records(): Generator<CheckedRecord> {
    for (let row = 0; row < this.count; row += 1) yield { ...this.#records.get(row), vector: this.#vectors.row(row) };
  }

  /** The rows that match, `undefined` for all. */
  #select(filter: Filter | undefined): RowList | undefined {
    return filter && this.#selection.select(filter, this.count);
  }

  /** Returns 1 for each of the rows. */
  #mark(rows: RowList): Uint8Array {
    const marks = new Uint8Array(this.count);
    for (const row of rows) marks[row] = 1;
    return marks;
  }

  #newSelection(): RowSelection {
    return new RowSelection((row) => this.#records.get(row).metadata);
  }

  /** Returns the text of a row for keyword search. */
  textOf(row: number): KeywordText {
    const record = this.#records.get(row);
    return { text: keywordText(record), language: record.metadata['language'] };
  }

  /** Returns the record of the index itself, which must not be changed. */
  #find(row: number, includeVector: boolean): VectorRecord {
    const record = this.#records.get(row);
    return includeVector ? { ...record, vector: Array.from(this.#vectors.row(row)) } : record;
  }
}

/** Returns a copy, so that the caller cannot change the index. */
export function copyRecord<Found extends VectorRecord>(record: Found): Found {
  return { ...record, metadata: copyMetadata(record.metadata) };
}

/** Description of an index, stored at the head of its log. */
export interface IndexHeader {
  readonly name: string;
  readonly dimension: number;
  readonly metric: VectorMetric;
  /** Id of the `TermAnalyzer`. */
  readonly analyzer: string;
}

/** Stores new records and replaces existing ones. */
export interface UpsertOperation<Row = IndexRow, Vector = Float32Array> {
  readonly type: 'upsert';
  readonly rows: readonly Row[];
  /** One per row. Valid only during the call that gets them. */
  readonly vectors: readonly Vector[];
}

/** A change of an index. All changes have this form, so replaying them recreates the index. */
export type IndexOperation =
  | UpsertOperation
  | { readonly type: 'delete'; readonly ids: readonly string[] }
  | { readonly type: 'truncate' };

/** Stores records that are read from a log: their vectors are in reserved rows of the table already, and have the numbers of these. */
export type LoadOperation = UpsertOperation<EncodedRow, number>;

/** Stores records that were checked. */
export function toUpsert(records: readonly CheckedRecord[]): UpsertOperation {
  return {
    type: 'upsert',
    rows: records.map(({ vector: _vector, ...row }) => row),
    vectors: records.map(({ vector }) => vector),
  };
}

/** An index with its version and the function that changes it. */
export interface StoredIndex {
  readonly index: LocalIndex;
  /** Other operations lead to another version. */
  readonly version: string;
  /** Returns when the change is as durable as the place it is kept in. After an error the index is as before. */
  append(operation: IndexOperation): Promise<void>;
}

/** Where indexes are kept: in memory, or in a folder. */
export interface IndexHolder {
  list(): Promise<string[]>;
  find(name: string): Promise<StoredIndex | undefined>;
  /** Same as `find`, for a caller that changes the index. */
  findToWrite(name: string): Promise<StoredIndex | undefined>;
  create(header: IndexHeader): Promise<void>;
  delete(name: string): Promise<void>;
  close(): Promise<void>;
  readonly derived?: DerivedData & { emptyOf(indexName: string): Promise<void> };
}

/** Counted for all indexes in memory together: an index that is made again under its name has no version of the one before. */
let changesInMemory = 0;

/** Keeps indexes as long as the object lives. */
export function createMemoryHolder(): IndexHolder {
  const indexes = new Map<string, StoredIndex>();
  const find = (name: string): Promise<StoredIndex | undefined> => Promise.resolve(indexes.get(name));
  return {
    list: async () => [...indexes.keys()],
    find,
    findToWrite: find,
    create: async (header) => {
      const index = new LocalIndex(header);
      const stored = {
        index,
        version: String((changesInMemory += 1)),
        append: async (operation: IndexOperation) => {
          index.apply(operation);
          stored.version = String((changesInMemory += 1));
        },
      };
      indexes.set(header.name, stored);
    },
    delete: async (name) => void indexes.delete(name),
    close: async () => indexes.clear(),
  };
}
