import type { FieldPath, Filter, FilterOrder, FilterScalar } from '../../filter/index.js';
import { orderOperators, type SqlCondition, type SqlParameters } from '../../store/conditions.js';

/**
 * A filter as a condition on the column `metadata`, which holds JSON in SQLite's binary form. Field names and values become parameters; the text does
 * not depend on them.
 *
 * SQLite cannot express `$regex`, `$contains` in text that is not ASCII, keys with quotes or control characters, and elements of arrays
 * by number. In these cases, the condition matches a superset.
 */
export function filterToSqlite(filter: Filter | undefined, parameters: SqlParameters): SqlCondition {
  if (!filter) return { sql: 'TRUE' };
  const state: State = { parameters, aliases: 0, isExact: true };
  const sql = compile(state, filter, rootPath, true);
  return { sql, ...(!state.isExact && { rest: filter }) };
}

interface State {
  readonly parameters: SqlParameters;
  aliases: number;
  isExact: boolean;
}

const rootPath = `'$'`;

/**
 * Every condition is 0 or 1, never NULL, so that it can be negated.
 *
 * @param root - expression of the JSON path of the value that the filter's paths start at
 * @param widen - whether an inexact condition may match too many rows here; otherwise it may match too few
 */
function compile(state: State, filter: Filter, root: string, widen: boolean): string {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map((part) => compile(state, part, root, widen));
      if (parts.length === 0) return filter.kind === 'and' ? 'TRUE' : 'FALSE';
      return joinBalanced(parts, filter.kind === 'and' ? 'AND' : 'OR');
    }
    case 'not':
      return `(NOT ${compile(state, filter.filter, root, !widen)})`;
    case 'regex':
      return inexact(state, widen);
    default: {
      const path = toPath(state, filter.path, root);
      return path === undefined ? inexact(state, widen) : compileField(state, filter, path, widen);
    }
  }
}

function inexact(state: State, widen: boolean): string {
  state.isExact = false;
  return widen ? 'TRUE' : 'FALSE';
}

/** SQLite limits the depth of an expression to 1,000: a list of as many conditions must not be a chain. */
function joinBalanced(parts: readonly string[], operator: 'AND' | 'OR'): string {
  if (parts.length === 1) return parts[0] as string;
  const half = parts.length >> 1;
  return `(${joinBalanced(parts.slice(0, half), operator)} ${operator} ${joinBalanced(parts.slice(half), operator)})`;
}

/** @param path - expression of the JSON path of the field */
function compileField(
  state: State,
  filter: Exclude<Filter, { kind: 'and' | 'or' | 'not' | 'regex' }>,
  path: string,
  widen: boolean,
): string {
  const type = `json_type(metadata, ${path})`;
  switch (filter.kind) {
    case 'equal':
      return anyValue(state, path, equalTest(state, [filter.value]), filter.value === null);
    case 'in':
      return anyValue(state, path, equalTest(state, filter.values), filter.values.includes(null));
    case 'order':
      return anyValue(state, path, orderTest(state, filter.order, filter.value), false);
    case 'exists':
      return `(${type} IS NOT NULL)`;
    case 'size':
      return `(${type} IS 'array' AND json_array_length(metadata, ${path}) = ${scalar(state, filter.size)})`;
    case 'contains': {
      const inArray = anyElement(state, path, equalTest(state, [filter.value]));
      const { value } = filter;
      const inText = typeof value === 'string' ? `WHEN 'text' THEN ${containsText(state, path, value, widen)}` : '';
      return `(CASE ${type} WHEN 'array' THEN ${inArray} ${inText} ELSE FALSE END)`;
    }
    case 'element': {
      const element = nextAlias(state);
      const inner = compile(state, filter.filter, `${element}.fullkey`, widen);
      return `(CASE ${type} WHEN 'array' THEN EXISTS (SELECT 1 FROM json_each(metadata, ${path}) AS ${element} WHERE ${inner}) ELSE FALSE END)`;
    }
  }
}

/** Characters that have a meaning inside a quoted key of a path. */
const unquotable = /["\\\p{Cc}\p{Surrogate}]/u;
/** Paths distinguish elements of arrays from keys that are numbers. */
const elementNumber = /^(?:0|[1-9]\d*)$/;

/**
 * Returns the JSON path of a field; a key that contains the dots takes precedence, as in the evaluator.
 *
 * @returns `undefined` for a field that SQLite cannot address
 */
function toPath(state: State, path: FieldPath, root: string): string | undefined {
  if (path.length === 0) return root;
  const mayBeElement = (key: string, at: number): boolean => (at > 0 || root !== rootPath) && elementNumber.test(key);
  if (path.some((key, at) => unquotable.test(key) || mayBeElement(key, at))) return undefined;
  const toSql = (keys: readonly string[]): string => {
    const suffix = keys.map((key) => `."${key}"`).join('');
    return root === rootPath ? state.parameters.add(`$${suffix}`) : `(${root} || ${state.parameters.add(suffix)})`;
  };
  if (path.length === 1) return toSql(path);
  const literal = toSql([path.join('.')]);
  return `(CASE WHEN json_type(metadata, ${literal}) IS NULL THEN ${toSql(path)} ELSE ${literal} END)`;
}

/** A test of a value of JSON, by expressions for its type and for its value if it is a scalar. */
type ValueTest = (type: string, value: string) => string;

/** A test of the value at a path, or of any element if it is an array. `json_each` also lists the members of an object. */
function anyValue(state: State, path: string, test: ValueTest, matchesMissing: boolean): string {
  const found = anyElement(state, path, (type, value, key) => `${test(type, value)} AND typeof(${key}) <> 'text'`);
  return matchesMissing ? `(json_type(metadata, ${path}) IS NULL OR ${found})` : found;
}

function anyElement(state: State, path: string, test: (type: string, value: string, key: string) => string): string {
  const element = nextAlias(state);
  const condition = test(`${element}.type`, `${element}.atom`, `${element}.key`);
  return `EXISTS (SELECT 1 FROM json_each(metadata, ${path}) AS ${element} WHERE ${condition})`;
}

function equalTest(state: State, values: readonly FilterScalar[]): ValueTest {
  const types = values.flatMap((value) => (value === null ? 'null' : typeof value === 'boolean' ? String(value) : []));
  const others = values.filter((value) => typeof value === 'string' || typeof value === 'number');
  const [first] = others;
  const wanted =
    others.length === 1 && first !== undefined
      ? `= ${scalar(state, first)}`
      : `IN (SELECT value FROM json_each(${state.parameters.add(JSON.stringify(others))}))`;
  return (type, value) => {
    const tests = types.map((name) => `${type} = '${name}'`);
    // The value of `true` is 1 as well.
    if (others.length > 0) tests.push(`(${value} ${wanted} AND ${type} IN ('text', 'integer', 'real'))`);
    return tests.length > 0 ? `(${tests.join(' OR ')})` : 'FALSE';
  };
}

function orderTest(state: State, order: FilterOrder, limit: string | number): ValueTest {
  const types = typeof limit === 'number' ? `'integer', 'real'` : `'text'`;
  return (type, value) => `(${value} ${orderOperators[order]} ${scalar(state, limit)} AND ${type} IN (${types}))`;
}

/** `lower` of SQLite converts ASCII only. */
function containsText(state: State, path: string, part: string, widen: boolean): string {
  state.isExact = false;
  const text = `(metadata ->> ${path})`;
  const found = `instr(lower(${text}), ${scalar(state, part.toLowerCase())}) > 0`;
  const isAscii = `length(${text}) = octet_length(${text})`;
  return widen ? `(${found} OR NOT ${isAscii})` : `(${found} AND ${isAscii})`;
}

/** As JSON, so that numbers and escaped characters are read in the same way as those of the metadata. */
function scalar(state: State, value: string | number): string {
  return `(${state.parameters.add(JSON.stringify(value))} ->> '$')`;
}

function nextAlias(state: State): string {
  return `element${(state.aliases += 1)}`;
}
