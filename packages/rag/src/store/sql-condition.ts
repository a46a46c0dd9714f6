import type { Filter, FilterOrder } from '../filter/index.js';

/** A filter as a condition in the language of a database. */
export interface SqlCondition {
  /** A boolean expression for WHERE; NULL is as good as FALSE. */
  readonly sql: string;
  /** Filter to evaluate on the returned rows, because the expression matches a superset; absent if it is equivalent. */
  readonly rest?: Filter;
}

/** Databases have no NUL in text, or cut the text there, and no halves of surrogate pairs. */
const unstorable = /[\0\p{Surrogate}]/u;

export function isStorableText(text: string): boolean {
  return !unstorable.test(text);
}

/** Operators of SQL for comparisons of order. */
export const orderOperators: Readonly<Record<FilterOrder, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** Parameters of a statement. Untrusted text is passed only here. */
export class SqlParameters {
  readonly values: unknown[] = [];
  readonly #mark: '$' | '?';
  readonly #places = new Map<unknown, string>();

  /** @param mark - beginning of a numbered placeholder */
  constructor(mark: '$' | '?' = '$') {
    this.#mark = mark;
  }

  /** @returns its placeholder, such as `$3`; equal strings share a placeholder. PostgreSQL needs a cast to text or text[] */
  add(value: string | readonly (string | null)[]): string {
    let place = this.#places.get(value);
    if (place === undefined) this.#places.set(value, (place = this.addValue(value)));
    return place;
  }

  /** @returns a new placeholder, for a value of any type */
  addValue(value: unknown): string {
    this.values.push(value);
    return `${this.#mark}${this.values.length}`;
  }
}
