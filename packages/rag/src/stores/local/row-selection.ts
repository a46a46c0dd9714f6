import {
  createFilterTest,
  createPatternBudget,
  type FieldPath,
  type Filter,
  type PatternBudget,
} from '../../filter/index.js';
import { fieldReader } from '../../filter/read-field.js';
import { MetadataColumn, type ColumnFilter } from './metadata-column.js';

/** A filter could name any number of fields; those that were asked for last keep their columns. */
const maxColumns = 64;

interface SelectionQuery {
  /** Rows of the index. */
  readonly count: number;
  readonly budget: PatternBudget;
}

/**
 * Finds the rows that pass a filter, by columns of the fields it names. A column is made when a filter first asks for its field, and
 * then follows every change.
 *
 * What columns cannot decide, such as patterns, is evaluated row by row, where everything else is true.
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
      // Also where nobody asks: values that are gone must not pile up.
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
    return this.#select(filter, { count, budget: createPatternBudget() }, undefined);
  }

  #select(filter: Filter, query: SelectionQuery, within: Uint8Array | undefined): Uint8Array {
    const { count } = query;
    switch (filter.kind) {
      case 'and': {
        // The cheap conditions first: the others look only at what is left.
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
          const matches = createFilterTest(filter, query.budget);
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

/** Values that a column may hold, those that no row has any more included. */
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
