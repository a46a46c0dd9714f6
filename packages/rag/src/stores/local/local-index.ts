import type { Filter } from '../../filter/index.js';
import { KeywordIndex, loadAnalyzer, type TermAnalyzer } from '../../retrieval/terms/term-analyzer.js';
import { type CheckedRecord, copyMetadata, keywordText } from '../../store/check-arguments.js';
import { toScore } from '../../store/search.js';
import type { DerivedData, VectorMatch, VectorMetadata, VectorMetric, VectorRecord } from '../../store/vector-store.js';
import { type RowList, RowSelection } from './row-selection.js';
import { bytesOf, nearestRows, type ReservedRows, VectorTable } from './vector-table.js';

/** So few rows of a file are not worth a read of their own, nor a delay of their decoding. */
const fewRows = 64;

/** How to search an index. */
export interface LocalSearch {
  limit: number;
  filter: Filter | undefined;
  includeVector: boolean;
}

/** One index in memory. */
export class LocalIndex {
  readonly header: IndexHeader;
  #vectors: VectorTable;
  #rows: (IndexRow | EncodedRow)[] = [];
  #rowOfId = new Map<string, number>();
  #selection = this.#newSelection();
  /** Made by the first search for words, and kept up from then on. */
  #keywords: KeywordIndex | undefined;
  /** All ids in order; `undefined` if ids were added or removed since the last sort. */
  #sortedIds: readonly string[] | undefined;

  constructor(header: IndexHeader) {
    this.header = header;
    this.#vectors = new VectorTable(header.dimension, header.metric);
  }

  get count(): number {
    return this.#rows.length;
  }

  /** As `reserve` of a `LogTarget`. */
  reserve(byteLength: number, after: ReservedRows | undefined): ReservedRows | undefined {
    const count = byteLength / (this.header.dimension * Float32Array.BYTES_PER_ELEMENT);
    return Number.isInteger(count) && count >= fewRows ? this.#vectors.reserve(count, after) : undefined;
  }

  /** @returns `false` if rows of a {@link LoadOperation} are not at the place of their vectors, because others were replaced */
  apply(operation: IndexOperation | LoadOperation): boolean {
    switch (operation.type) {
      case 'delete':
        this.#delete(operation.ids);
        return true;
      case 'truncate':
        this.#truncate();
        return true;
      case 'load': {
        const { first, count } = operation.vectors;
        operation.rows.forEach((row, place) => this.#set(row, first + place));
        return this.count === first + count;
      }
      case 'upsert': {
        const size = this.header.dimension * Float32Array.BYTES_PER_ELEMENT;
        // Before anything changes. In a damaged log, vectors can have any length.
        if (operation.vectors.some(({ byteLength }) => byteLength !== size))
          throw new TypeError('the vectors do not have the dimension of the index');
        operation.rows.forEach((row, place) => this.#set(row, operation.vectors[place] as Uint8Array));
        return true;
      }
    }
  }

  /** Puts a row where its id is, or at the end. @param vector - its bytes, or the number of the reserved row with them */
  #set(row: IndexRow | EncodedRow, vector: Uint8Array | number): void {
    let position = this.#rowOfId.get(row.id);
    if (position === undefined) {
      position = this.#rows.length;
      this.#rowOfId.set(row.id, position);
      this.#sortedIds = undefined;
    }
    this.#rows[position] = row;
    this.#vectors.set(position, vector);
    this.#selection.set(position);
    if (this.#keywords) this.#indexWordsOf(position, this.#keywords);
  }

  /** Ids that do not exist are ignored. */
  #delete(ids: readonly string[]): void {
    for (const id of ids) {
      const row = this.#rowOfId.get(id);
      if (row === undefined) continue;
      const moved = this.#vectors.remove(row);
      const last = this.#rows.pop() as IndexRow | EncodedRow;
      this.#rowOfId.delete(id);
      this.#sortedIds = undefined;
      this.#keywords?.delete(row);
      if (moved === undefined) continue;
      this.#rows[row] = last;
      this.#rowOfId.set(last.id, row);
      this.#selection.move(moved, row);
      this.#keywords?.move(moved, row);
    }
  }

  #truncate(): void {
    this.#vectors = new VectorTable(this.header.dimension, this.header.metric);
    this.#rows = [];
    this.#rowOfId.clear();
    this.#selection = this.#newSelection();
    this.#keywords = undefined;
    this.#sortedIds = undefined;
  }

  nearest(queryVector: Float32Array, { limit, filter, includeVector }: LocalSearch): VectorMatch[] {
    if (this.count === 0) return [];
    const nearest = nearestRows({
      table: this.#vectors,
      query: queryVector,
      k: Math.min(limit, this.count),
      rows: this.#select(filter),
      idOf: this.#idOf,
    });
    return nearest.map(({ row, similarity }) => ({
      score: toScore(this.header.metric, similarity),
      ...this.#toRecord(row, includeVector),
    }));
  }

  /** Returns the records whose texts share terms with the query. @throws `VECTOR_ARGUMENT_INVALID` for an unknown analyzer */
  async withWords(queryText: string, search: LocalSearch): Promise<VectorMatch[]> {
    if (!this.#keywords) {
      const analyzer = await loadAnalyzer(this.header.analyzer);
      // Another search may have indexed the texts in the meantime.
      this.#keywords ??= this.#indexWords(analyzer);
    }
    const keywords = this.#keywords;
    const terms = await keywords.toTerms(queryText);
    while (keywords.isLoading) await keywords.load();
    // The index was emptied in the meantime.
    if (this.#keywords !== keywords) return this.withWords(queryText, search);
    if (this.count === 0) return [];
    const { limit, filter, includeVector } = search;
    const rows = this.#select(filter);
    const isSelected = rows && this.#mark(rows);
    const accept = isSelected && ((row: number): boolean => isSelected[row] === 1);
    const found = keywords.search(terms, { limit: Math.min(limit, this.count), accept, idOf: this.#idOf });
    return found.map(({ doc, score }) => ({ score, ...this.#toRecord(doc, includeVector) }));
  }

  get(ids: readonly string[], includeVector: boolean): VectorRecord[] {
    return ids.flatMap((id) => {
      const row = this.#rowOfId.get(id);
      return row === undefined ? [] : [this.#toRecord(row, includeVector)];
    });
  }

  /** Returns the ids that exist. */
  existing(ids: readonly string[]): string[] {
    return ids.filter((id) => this.#rowOfId.has(id));
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
      const ids = Array.from(rows, this.#idOf);
      return ids
        .filter((id) => id > after)
        .toSorted(byCodeUnits)
        .slice(0, limit);
    }
    this.#sortedIds ??= this.#rows.map(({ id }) => id).toSorted(byCodeUnits);
    const sorted = this.#sortedIds;
    const start = firstBehind(sorted, after);
    if (!rows) return sorted.slice(start, start + limit);
    const isSelected = this.#mark(rows);
    const ids: string[] = [];
    for (let place = start; place < sorted.length && ids.length < limit; place += 1) {
      const id = sorted[place] as string;
      if (isSelected[this.#rowOfId.get(id) as number] === 1) ids.push(id);
    }
    return ids;
  }

  /** Returns all records, for a rewrite of the index. */
  *records(): Generator<CheckedRecord> {
    for (const position of this.#rows.keys()) yield { ...this.#row(position), vector: this.#vectors.row(position) };
  }

  readonly #idOf = (row: number): string => (this.#rows[row] as IndexRow | EncodedRow).id;

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
    return new RowSelection((row) => this.#row(row).metadata);
  }

  #indexWords(analyzer: TermAnalyzer): KeywordIndex {
    const keywords = new KeywordIndex(analyzer);
    for (const row of this.#rows.keys()) this.#indexWordsOf(row, keywords);
    return keywords;
  }

  #indexWordsOf(row: number, keywords: KeywordIndex): void {
    const record = this.#row(row);
    keywords.set(row, keywordText(record), record.metadata['language']);
  }

  #row(row: number): IndexRow {
    const stored = this.#rows[row] as IndexRow | EncodedRow;
    return 'decode' in stored ? (this.#rows[row] = stored.decode()) : stored;
  }

  /** Returns a copy, so that the caller cannot change the index. */
  #toRecord(position: number, includeVector: boolean): VectorRecord {
    const { id, metadata, document } = this.#row(position);
    return {
      id,
      metadata: copyMetadata(metadata),
      ...(document !== undefined && { document }),
      ...(includeVector && { vector: Array.from(this.#vectors.row(position)) }),
    };
  }
}

/** Independent of locale and language. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The place of the first of the sorted ids that is larger. */
function firstBehind(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] as string) > id) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Description of an index, stored at the head of its log. */
export interface IndexHeader {
  readonly name: string;
  readonly dimension: number;
  readonly metric: VectorMetric;
  /** Id of the `TermAnalyzer`; absent in indexes of earlier versions. */
  readonly analyzer?: string;
}

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

/** A change of an index. All changes have this form, so replaying them recreates the index. */
export type IndexOperation =
  | {
      readonly type: 'upsert';
      readonly rows: readonly IndexRow[];
      /** One per row, as the bytes of 32-bit floats. Valid only during the call that gets them. */
      readonly vectors: readonly Uint8Array[];
    }
  | { readonly type: 'delete'; readonly ids: readonly string[] }
  | { readonly type: 'truncate' };

/** An upsert that is read from a log: its vectors are in the table of the index already. */
export interface LoadOperation {
  readonly type: 'load';
  readonly rows: readonly (IndexRow | EncodedRow)[];
  readonly vectors: ReservedRows;
}

/** Stores records that were checked. */
export function toUpsert(records: readonly CheckedRecord[]): IndexOperation {
  return {
    type: 'upsert',
    rows: records.map(({ vector: _vector, ...row }) => row),
    vectors: records.map(({ vector }) => bytesOf(vector)),
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
