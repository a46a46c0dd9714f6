import { QuiverError } from '@quiver/core';
import type { FieldPath, Filter, FilterOrder, FilterScalar } from '../../filter/index.js';
import { isStorableText, orderOperators, type SqlCondition, type SqlParameters } from '../../store/conditions.js';

/**
 * A filter as a condition on the `jsonb` column `metadata`. Field names and values become parameters; the text does not depend
 * on them.
 *
 * SQL cannot express `$regex`, because the pattern languages differ, and `$contains` only for ASCII text, because conversions to lower
 * case differ. In these cases, the condition matches a superset.
 *
 * @throws `FILTER_NOT_SUPPORTED` for text that PostgreSQL cannot hold: NUL characters and halves of surrogate pairs
 */
export function filterToSql(filter: Filter | undefined, parameters: SqlParameters): SqlCondition {
  if (!filter) return { sql: 'TRUE' };
  const state: State = { parameters, aliases: 0, isExact: true };
  const sql = compile(state, filter, 'metadata', { widen: true, nullIsFalse: true });
  return { sql, ...(!state.isExact && { rest: filter }) };
}

interface State {
  readonly parameters: SqlParameters;
  aliases: number;
  isExact: boolean;
}

const fewValues = 16;

/** Context of a condition. A negation inverts both members. */
interface Place {
  /** Whether an inexact condition may match too many rows here; otherwise it may match too few. */
  readonly widen: boolean;
  /** NULL counts as FALSE here, so that a plain expression will do, which is one that an index on the field can answer. */
  readonly nullIsFalse: boolean;
}

function compile(state: State, filter: Filter, root: string, place: Place): string {
  const { widen, nullIsFalse } = place;
  switch (filter.kind) {
    case 'and':
    case 'or': {
      if (filter.filters.length === 0) return filter.kind === 'and' ? 'TRUE' : 'FALSE';
      const parts = filter.filters.map((part) => compile(state, part, root, place));
      return `(${parts.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return `(NOT ${compile(state, filter.filter, root, { widen: !widen, nullIsFalse: !nullIsFalse })})`;
    case 'equal':
      // `@>` is also true for an array that holds the scalar.
      return orMissing(
        `(${read(state, filter.path, root)} @> ${scalar(state, filter.value)})`,
        filter.value === null,
        nullIsFalse,
      );
    case 'in': {
      if (filter.values.length === 0) return 'FALSE';
      const field = read(state, filter.path, root);
      const matchesMissing = filter.values.includes(null);
      // An index on the field supports single equality conditions, but not a list.
      const isOne =
        nullIsFalse && !matchesMissing && filter.values.length <= fewValues
          ? filter.values.map((value) => `${field} @> ${scalar(state, value)}`).join(' OR ')
          : `${field} @> ANY (${state.parameters.add(filter.values.map(toJson))}::text[]::jsonb[])`;
      return orMissing(`(${isOne})`, matchesMissing, nullIsFalse);
    }
    case 'order':
      return anyValue(state, read(state, filter.path, root), (value) =>
        compare(state, value, filter.order, filter.value),
      );
    case 'exists':
      return `(${read(state, filter.path, root)} IS NOT NULL)`;
    case 'size': {
      const value = read(state, filter.path, root);
      const size = state.parameters.add(String(filter.size));
      return `(CASE WHEN jsonb_typeof(${value}) = 'array' THEN jsonb_array_length(${value}) = ${size}::text::bigint ELSE FALSE END)`;
    }
    case 'regex':
      state.isExact = false;
      return widen ? 'TRUE' : 'FALSE';
    case 'contains':
      return contains(state, read(state, filter.path, root), filter.value, widen);
    case 'element': {
      const value = read(state, filter.path, root);
      const element = `element${(state.aliases += 1)}`;
      // A separate WHERE: NULL is FALSE there in any context.
      const inner = compile(state, filter.filter, `${element}.value`, { widen, nullIsFalse: true });
      return `(CASE WHEN jsonb_typeof(${value}) = 'array' THEN EXISTS (SELECT 1 FROM jsonb_array_elements(${value}) AS ${element}(value) WHERE ${inner}) ELSE FALSE END)`;
    }
  }
}

/** A comparison with a field, NULL where the field is missing. */
function orMissing(comparison: string, matchesMissing: boolean, nullIsFalse: boolean): string {
  if (matchesMissing) return `COALESCE(${comparison}, TRUE)`;
  return nullIsFalse ? comparison : `COALESCE(${comparison}, FALSE)`;
}

function read(state: State, path: FieldPath, root: string): string {
  return fieldToSql(path, root, (key) => `${state.parameters.add(requireText(key))}::text`);
}

/**
 * A field of `jsonb`. A key that contains the dots takes precedence, as in the evaluator.
 *
 * @param text - a key as an expression
 */
export function fieldToSql(path: FieldPath, root: string, text: (key: string) => string): string {
  if (path.length === 0) return root;
  const walk = path.reduce(
    (holder, key) =>
      // Arrays have elements under `0`, `1` and so on, but PostgreSQL would also take `-1` and `01`.
      /^(?:0|[1-9]\d{0,8})$/.test(key) ? `(${holder} #> ARRAY[${text(key)}])` : `(${holder} -> ${text(key)})`,
    root,
  );
  return path.length === 1 ? walk : `COALESCE(${root} -> ${text(path.join('.'))}, ${walk})`;
}

/** A test of the value, or of any element if it is an array. */
function anyValue(state: State, value: string, test: (value: string) => string): string {
  const element = `element${(state.aliases += 1)}`;
  return `(CASE jsonb_typeof(${value}) WHEN 'array' THEN EXISTS (SELECT 1 FROM jsonb_array_elements(${value}) AS ${element}(value) WHERE ${test(`${element}.value`)}) ELSE COALESCE(${test(value)}, FALSE) END)`;
}

/** Numbers as numbers, strings by code points; a value of another type never matches. */
function compare(state: State, value: string, order: FilterOrder, limit: string | number): string {
  const comparison = orderOperators[order];
  if (typeof limit === 'number') {
    return `(CASE WHEN jsonb_typeof(${value}) = 'number' THEN ${value} ${comparison} ${scalar(state, limit)} ELSE FALSE END)`;
  }
  const text = state.parameters.add(requireText(limit));
  return `(CASE WHEN jsonb_typeof(${value}) = 'string' THEN (${value} #>> '{}') COLLATE "C" ${comparison} ${text}::text ELSE FALSE END)`;
}

function contains(state: State, value: string, part: FilterScalar, widen: boolean): string {
  const element = `${value} @> ${scalar(state, part)}`;
  if (typeof part !== 'string') return `(CASE jsonb_typeof(${value}) WHEN 'array' THEN ${element} ELSE FALSE END)`;
  state.isExact = false;
  const text = `(${value} #>> '{}')`;
  const found = `position(${state.parameters.add(part.toLowerCase())}::text IN lower(${text} COLLATE "C")) > 0`;
  const isAscii = `octet_length(${text}) = char_length(${text})`;
  const inText = widen ? `(${found} OR NOT ${isAscii})` : `(${found} AND ${isAscii})`;
  return `(CASE jsonb_typeof(${value}) WHEN 'array' THEN ${element} WHEN 'string' THEN ${inText} ELSE FALSE END)`;
}

function scalar(state: State, value: FilterScalar): string {
  return `${state.parameters.add(toJson(value))}::text::jsonb`;
}

function toJson(value: FilterScalar): string {
  return JSON.stringify(typeof value === 'string' ? requireText(value) : value);
}

function requireText(text: string): string {
  if (isStorableText(text)) return text;
  throw new QuiverError(
    'FILTER_NOT_SUPPORTED',
    `PostgreSQL cannot compare with ${JSON.stringify(text.slice(0, 80))}: text must not hold NUL characters or halves of surrogate pairs.`,
  );
}
