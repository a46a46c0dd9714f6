import { evaluateFilter, type Filter, type FilterScalar } from '../../filter/index.js';

/** Conditions on the values of one field; the others need the whole record. */
export type ColumnFilter = Extract<Filter, { kind: 'equal' | 'in' | 'order' | 'exists' }>;

/** Codes below 0: the field is missing, or holds nothing that can be compared, such as an object or an empty list. */
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

  /** What the condition says of each code from {@link incomparable} on. */
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
