import { QuiverError } from '@quiver/core';
import type { FieldPath, Filter, FilterScalar } from '../../filter/index.js';
import { isStorableText, type SqlCondition, type SqlParameters, toSqlCondition } from '../sql-filter.js';

const fewValues = 16;

/**
 * A filter as a condition on the `jsonb` column `metadata`.
 *
 * @throws `FILTER_NOT_SUPPORTED` for text that PostgreSQL cannot hold: NUL characters and halves of surrogate pairs
 */
export function filterToSql(filter: Filter | undefined, parameters: SqlParameters): SqlCondition {
  const text = (value: string): string => `${parameters.add(requireText(value))}::text`;
  const scalar = (value: FilterScalar): string => `${parameters.add(toJson(value))}::text::jsonb`;
  // Also true for a scalar that is the value.
  const hasElement = (field: string, value: FilterScalar): string => `${field} @> ${scalar(value)}`;
  return toSqlCondition(filter, 'metadata', (anyElement) => ({
    textType: 'string',
    field: (path, root) => fieldToSql(path, root, text),
    typeOf: (field) => `jsonb_typeof(${field})`,
    equal(field, values, nullIsFalse) {
      // An index on the field supports single equality conditions, but not a list.
      const isOne =
        values.length <= fewValues
          ? values.map((value) => hasElement(field, value)).join(' OR ')
          : `${field} @> ANY (${parameters.add(values.map(toJson))}::text[]::jsonb[])`;
      // NULL where the field is missing.
      if (values.includes(null)) return `COALESCE((${isOne}), TRUE)`;
      return nullIsFalse ? `(${isOne})` : `COALESCE((${isOne}), FALSE)`;
    },
    // Numbers as numbers, strings by code points; a value of another type never matches.
    order(field, operator, limit) {
      const compare = (value: string): string =>
        typeof limit === 'number'
          ? `(CASE WHEN jsonb_typeof(${value}) = 'number' THEN ${value} ${operator} ${scalar(limit)} ELSE FALSE END)`
          : `(CASE WHEN jsonb_typeof(${value}) = 'string' THEN (${value} #>> '{}') COLLATE "C" ${operator} ${text(limit)} ELSE FALSE END)`;
      const ofElement = anyElement(field, (alias) => compare(`${alias}.value`));
      return `(CASE jsonb_typeof(${field}) WHEN 'array' THEN ${ofElement} ELSE COALESCE(${compare(field)}, FALSE) END)`;
    },
    hasSize: (field, size) => `jsonb_array_length(${field}) = ${text(String(size))}::bigint`,
    hasElement,
    elements: (field, alias) => `jsonb_array_elements(${field}) AS ${alias}(value)`,
    rootOf: (alias) => `${alias}.value`,
    inText: (field, part) => ({
      hasPart: `position(${text(part)} IN lower((${field} #>> '{}') COLLATE "C")) > 0`,
      isAscii: `octet_length(${field} #>> '{}') = char_length(${field} #>> '{}')`,
    }),
  }));
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
