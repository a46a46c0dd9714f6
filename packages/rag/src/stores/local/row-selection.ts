import { fieldReader } from '../../filter/evaluate.js';
import {
  createFilterTest,
  createPatternBudget,
  type FieldPath,
  type Filter,
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

  constructor(metadataOf: (row: number) => unknown) {
    this.#metadataOf = metadataOf;
  }

  /** A row was added or has changed. */
  set(row: number): void {
    for (const [key, column] of this.#columns) {
      // Also without queries: obsolete values must not accumulate.
      if (column.isOutdated) this.#columns.delete(key);
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
        if (hasColumn(filter)) this.#column(filter.path, count).select(filter, found, within);
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
    if (!column || column.isOutdated) {
      column = new MetadataColumn(path);
      for (let row = 0; row < count; row += 1) column.set(row, this.#metadataOf(row));
    }
    this.#columns.set(key, column);
    const [oldest] = this.#columns.keys();
    if (this.#columns.size > maxColumns && oldest !== undefined) this.#columns.delete(oldest);
    return column;
  }
}

function hasColumn(filter: Filter): filter is ColumnFilter {
  return filter.kind === 'equal' || filter.kind === 'in' || filter.kind === 'order' || filter.kind === 'exists';
}

function hasColumns(filter: Filter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.filters.every(hasColumns);
  return filter.kind === 'not' ? hasColumns(filter.filter) : hasColumn(filter);
}

/** Conditions on the values of one field that take the same time for any value; the others are evaluated row by row. */
type ColumnFilter = Extract<Filter, { kind: 'equal' | 'in' | 'order' | 'exists' }>;

/**
 * The values of one metadata field of all rows: each distinct value has a number, and a row holds the number of its value. So a
 * condition is decided once for each distinct value, and then looked up for each row.
 */
class MetadataColumn {
  readonly #read: (metadata: unknown) => unknown;
  readonly #codeOf = new Map<unknown, number>();
  /** Codes of lists and objects, by their JSON. */
  readonly #codeOfJson = new Map<unknown, number>();
  readonly #values: unknown[] = [];
  /** By row. */
  readonly #codes: number[] = [];

  constructor(path: FieldPath) {
    this.#read = fieldReader(path);
  }

  /** Whether most of the values are those of rows that have changed since. */
  get isOutdated(): boolean {
    return this.#values.length > 4 * this.#codes.length + 1000;
  }

  set(row: number, metadata: unknown): void {
    const value = this.#read(metadata);
    const isScalar = typeof value !== 'object' || value === null;
    const key = isScalar ? value : JSON.stringify(value);
    const codeOf = isScalar ? this.#codeOf : this.#codeOfJson;
    let code = codeOf.get(key);
    if (code === undefined) {
      code = this.#values.push(value) - 1;
      codeOf.set(key, code);
    }
    this.#codes[row] = code;
  }

  move(from: number, to: number): void {
    this.#codes[to] = this.#codes[from] as number;
  }

  /** Marks the rows among the first `into.length` ones that pass, and are marked in `within`, with 1. */
  select(filter: ColumnFilter, into: Uint8Array, within: Uint8Array | undefined): void {
    const passes = createFilterTest({ ...filter, path: [] });
    const passing = new Uint8Array(this.#values.length);
    for (const [code, value] of this.#values.entries()) if (passes(value)) passing[code] = 1;
    const codes = this.#codes;
    for (let row = 0; row < into.length; row += 1)
      if (within?.[row] !== 0) into[row] = passing[codes[row] as number] as number;
  }
}
