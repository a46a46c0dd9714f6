import { fieldReader } from '../../filter/evaluate.js';
import {
  createFilterTest,
  createPatternBudget,
  evaluateFilter,
  type FieldPath,
  type Filter,
  type FilterScalar,
  type PatternBudget,
} from '../../filter/index.js';

/** Filters can name any number of fields; the most recently used ones keep their columns. */
const maxColumns = 64;

interface SelectionQuery {
  /** Rows of the index. */
  readonly count: number;
  /** Created by the first condition that columns cannot decide. */
  budget?: PatternBudget;
}

/**
 * Finds the rows that pass a filter, by columns of the fields it names. A column is made when a filter first asks for its field, and
 * then follows every change.
 *
 * Conditions that columns cannot decide, such as patterns, are evaluated row by row where all others match.
 */
export class RowSelection {
  readonly #metadataOf: (row: number) => unknown;
  readonly #columns = new Map<string, MetadataColumn>();
  /** The most rows that there were. */
  #rows = 0;

  constructor(metadataOf: (row: number) => unknown) {
    this.#metadataOf = metadataOf;
  }

  /** A row was added or has changed. */
  set(row: number): void {
    this.#rows = Math.max(this.#rows, row + 1);
    for (const [key, column] of this.#columns) {
      // Also without queries: obsolete values must not accumulate.
      if (column.size > largestColumn(this.#rows)) this.#columns.delete(key);
      else column.set(row, this.#metadataOf(row));
    }
  }

  /** A row has taken the place of another. */
  move(from: number, to: number): void {
    for (const column of this.#columns.values()) column.move(from, to);
  }

  /** 1 for each of the first `count` rows that passes. */
  select(filter: Filter, count: number): Uint8Array {
    return this.#select(filter, { count }, undefined);
  }

  #select(filter: Filter, query: SelectionQuery, within: Uint8Array | undefined): Uint8Array {
    const { count } = query;
    switch (filter.kind) {
      case 'and': {
        // Evaluates cheap conditions first, so that the others check only the remaining rows.
        const parts = filter.filters.toSorted((a, b) => Number(!hasColumns(a)) - Number(!hasColumns(b)));
        let left = within;
        for (const part of parts) left = this.#select(part, query, left);
        return left ?? new Uint8Array(count).fill(1);
      }
      case 'or': {
        const found = new Uint8Array(count);
        for (const part of filter.filters) {
          const rows = this.#select(part, query, within);
          for (let row = 0; row < count; row += 1) if (rows[row] === 1) found[row] = 1;
        }
        return found;
      }
      case 'not': {
        const rows = this.#select(filter.filter, query, within);
        const others = new Uint8Array(count);
        for (let row = 0; row < count; row += 1) if (rows[row] === 0 && within?.[row] !== 0) others[row] = 1;
        return others;
      }
      default: {
        const found = new Uint8Array(count);
        if (isColumnFilter(filter)) this.#column(filter.path, count).select(filter, found, within);
        else {
          const matches = createFilterTest(filter, (query.budget ??= createPatternBudget()));
          for (let row = 0; row < count; row += 1)
            if (within?.[row] !== 0 && matches(this.#metadataOf(row))) found[row] = 1;
        }
        return found;
      }
    }
  }

  #column(path: FieldPath, count: number): MetadataColumn {
    const key = JSON.stringify(path);
    let column = this.#columns.get(key);
    this.#columns.delete(key);
    this.#rows = Math.max(this.#rows, count);
    if (!column || column.size > largestColumn(count)) {
      column = new MetadataColumn(fieldReader(path), count);
      for (let row = 0; row < count; row += 1) column.set(row, this.#metadataOf(row));
    }
    this.#columns.set(key, column);
    const [oldest] = this.#columns.keys();
    if (this.#columns.size > maxColumns && oldest !== undefined) this.#columns.delete(oldest);
    return column;
  }
}

/** Number of values that a column may hold, including obsolete ones. */
function largestColumn(rows: number): number {
  return 4 * rows + 1000;
}

function isColumnFilter(filter: Filter): filter is ColumnFilter {
  // Inside a list, where paths may be empty, filters are evaluated whole.
  return filter.kind === 'equal' || filter.kind === 'in' || filter.kind === 'order' || filter.kind === 'exists';
}

function hasColumns(filter: Filter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.filters.every(hasColumns);
  return filter.kind === 'not' ? hasColumns(filter.filter) : isColumnFilter(filter);
}

/** Conditions on the values of one field; the others need the whole record. */
export type ColumnFilter = Extract<Filter, { kind: 'equal' | 'in' | 'order' | 'exists' }>;

/** Codes below 0: the field is missing, or contains a value that cannot be compared, such as an object or an empty list. */
const missing = -1;
const incomparable = -2;
/** Code of the first list of several values; the next ones are below. */
const firstList = -3;

/**
 * The values of one metadata field of all rows: each distinct value has a number, and a row holds the number of its value. So a
 * condition is decided once for each distinct value, and then looked up for each row.
 */
export class MetadataColumn {
  readonly #read: (metadata: unknown) => unknown;
  readonly #codeOf = new Map<FilterScalar, number>();
  readonly #values: FilterScalar[] = [];
  #codes: Int32Array;
  /** Codes of the rows that hold several values. */
  readonly #lists: (readonly number[])[] = [];

  /** @param read - reads the field from metadata */
  constructor(read: (metadata: unknown) => unknown, capacity: number) {
    this.#read = read;
    this.#codes = new Int32Array(capacity);
  }

  /** Values and lists that were ever seen: grows with changes even when the number of rows does not. */
  get size(): number {
    return this.#values.length + this.#lists.length;
  }

  set(row: number, metadata: unknown): void {
    if (row >= this.#codes.length) {
      const larger = new Int32Array(Math.max(1024, row * 2));
      larger.set(this.#codes);
      this.#codes = larger;
    }
    this.#codes[row] = this.#encode(this.#read(metadata));
  }

  move(from: number, to: number): void {
    this.#codes[to] = this.#codes[from] as number;
  }

  /** Marks the rows among the first `into.length` ones that pass, and are marked in `within`, with 1. */
  select(filter: ColumnFilter, into: Uint8Array, within: Uint8Array | undefined): void {
    const passes = this.#decide(filter);
    const codes = this.#codes;
    for (let row = 0; row < into.length; row += 1) {
      if (within?.[row] === 0) continue;
      const code = codes[row] as number;
      if (code > firstList) into[row] = passes[code - incomparable] as number;
      else into[row] = this.#list(code).some((item) => passes[item - incomparable] === 1) ? 1 : 0;
    }
  }

  /** Returns the result of the condition for each code from {@link incomparable} on. */
  #decide(filter: ColumnFilter): Uint8Array {
    const passes = new Uint8Array(this.#values.length - incomparable);
    switch (filter.kind) {
      case 'exists':
        passes.fill(1);
        passes[missing - incomparable] = 0;
        return passes;
      case 'equal':
      case 'in': {
        for (const value of filter.kind === 'in' ? filter.values : [filter.value]) {
          const code = this.#codeOf.get(value);
          if (code !== undefined) passes[code - incomparable] = 1;
          if (value === null) passes[missing - incomparable] = 1;
        }
        return passes;
      }
      case 'order': {
        const ofValue: Filter = { ...filter, path: [] };
        for (const [code, value] of this.#values.entries())
          if (evaluateFilter(ofValue, value)) passes[code - incomparable] = 1;
        return passes;
      }
    }
  }

  #encode(value: unknown): number {
    if (value === undefined) return missing;
    if (!Array.isArray(value)) return isScalar(value) ? this.#code(value) : incomparable;
    const codes = value.filter(isScalar).map((item) => this.#code(item));
    if (codes.length === 0) return incomparable;
    return firstList + 1 - this.#lists.push(codes);
  }

  #code(value: FilterScalar): number {
    let code = this.#codeOf.get(value);
    if (code === undefined) {
      code = this.#values.push(value) - 1;
      this.#codeOf.set(value, code);
    }
    return code;
  }

  #list(code: number): readonly number[] {
    return this.#lists[firstList - code] ?? [];
  }
}

function isScalar(value: unknown): value is FilterScalar {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
