import type { FieldPath, Filter, FilterOrder, FilterScalar } from '../filter/index.js';

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

const orderOperators: Readonly<Record<FilterOrder, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

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

/** Context of a condition. A negation inverts both members. */
interface Place {
  /** Whether an inexact condition may match too many rows here; otherwise it may match too few. */
  readonly widen: boolean;
  /** NULL counts as FALSE here, so that a plain expression will do, which is one that an index on the field can answer. */
  readonly nullIsFalse: boolean;
}

/** Expressions of a database. A field is an expression of its value, or of its place. */
export interface SqlDialect {
  /** Name of the JSON type of strings. */
  readonly textType: string;
  /** Returns a field; a key that contains the dots takes precedence. `undefined` where it cannot be expressed. */
  field(path: FieldPath, root: string): string | undefined;
  /** The JSON type of a field, NULL for a missing one. */
  typeOf(field: string): string;
  /** Whether a field or one of its elements is one of the values, which are at least one; may be NULL where that is FALSE. */
  equal(field: string, values: readonly FilterScalar[], nullIsFalse: boolean): string;
  /** Whether a field or one of its elements is before or behind a limit. */
  order(field: string, operator: string, limit: string | number): string;
  hasSize(array: string, size: number): string;
  hasElement(array: string, value: FilterScalar): string;
  /** Elements of an array as a table. */
  elements(array: string, alias: string): string;
  /** Root of the paths of an element. */
  rootOf(alias: string): string;
  /** Whether a text in lower case has a part, and whether it is ASCII. */
  inText(text: string, part: string): { hasPart: string; isAscii: string };
}

/** Whether an element of an array satisfies a test. */
export type AnyElement = (array: string, test: (alias: string) => string) => string;

/**
 * Writes a filter as a condition on the column `metadata`. Field names and values become parameters; the text does not depend on them.
 *
 * No database expresses `$regex`, because the pattern languages differ, and `$contains` in text beyond ASCII, because conversions to lower case
 * differ. There the condition matches a superset.
 *
 * @param root - expression of the value that the paths of the filter start at
 */
export function toSqlCondition(
  filter: Filter | undefined,
  root: string,
  toDialect: (anyElement: AnyElement) => SqlDialect,
): SqlCondition {
  if (!filter) return { sql: 'TRUE' };
  let aliases = 0;
  let isExact = true;
  const anyElement: AnyElement = (array, test) => {
    const alias = `element${(aliases += 1)}`;
    return `EXISTS (SELECT 1 FROM ${dialect.elements(array, alias)} WHERE ${test(alias)})`;
  };
  const dialect = toDialect(anyElement);
  const inexact = (sql: string): string => {
    isExact = false;
    return sql;
  };
  const compile = (part: Filter, from: string, place: Place): string => {
    const { widen, nullIsFalse } = place;
    if ('filters' in part) {
      if (part.filters.length === 0) return part.kind === 'and' ? 'TRUE' : 'FALSE';
      const parts = part.filters.map((each) => compile(each, from, place));
      return joinBalanced(parts, part.kind === 'and' ? 'AND' : 'OR');
    }
    if (part.kind === 'not') return `(NOT ${compile(part.filter, from, { widen: !widen, nullIsFalse: !nullIsFalse })})`;
    if (part.kind === 'in' && part.values.length === 0) return 'FALSE';
    const field = part.kind === 'regex' ? undefined : dialect.field(part.path, from);
    if (part.kind === 'regex' || field === undefined) return inexact(widen ? 'TRUE' : 'FALSE');
    const ifArray = (condition: string, others = ''): string =>
      `(CASE ${dialect.typeOf(field)} WHEN 'array' THEN ${condition}${others} ELSE FALSE END)`;
    switch (part.kind) {
      case 'equal':
        return dialect.equal(field, [part.value], nullIsFalse);
      case 'in':
        return dialect.equal(field, part.values, nullIsFalse);
      case 'order':
        return dialect.order(field, orderOperators[part.order], part.value);
      case 'exists':
        return `(${dialect.typeOf(field)} IS NOT NULL)`;
      case 'size':
        return ifArray(dialect.hasSize(field, part.size));
      case 'contains': {
        const inArray = dialect.hasElement(field, part.value);
        if (typeof part.value !== 'string') return ifArray(inArray);
        const { hasPart, isAscii } = dialect.inText(field, part.value.toLowerCase());
        const inText = widen ? `(${hasPart} OR NOT ${isAscii})` : `(${hasPart} AND ${isAscii})`;
        return inexact(ifArray(inArray, ` WHEN '${dialect.textType}' THEN ${inText}`));
      }
      case 'element': {
        // NULL is FALSE in a separate WHERE, in any context.
        const inner = { widen, nullIsFalse: true };
        return ifArray(anyElement(field, (alias) => compile(part.filter, dialect.rootOf(alias), inner)));
      }
    }
  };
  const sql = compile(filter, root, { widen: true, nullIsFalse: true });
  return isExact ? { sql } : { sql, rest: filter };
}

/** SQLite limits the depth of an expression to 1,000: a list of as many conditions must not be a chain. */
function joinBalanced(parts: readonly string[], operator: 'AND' | 'OR'): string {
  if (parts.length === 1) return parts[0] as string;
  const half = parts.length >> 1;
  return `(${joinBalanced(parts.slice(0, half), operator)} ${operator} ${joinBalanced(parts.slice(half), operator)})`;
}
