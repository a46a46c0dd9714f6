import type { Filter, FilterScalar } from '../../filter/index.js';
import { type SqlCondition, type SqlParameters, toSqlCondition } from '../sql-filter.js';

const rootPath = `'$'`;
/** Characters that have a meaning inside a quoted key of a path. */
const unquotable = /["\\\p{Cc}\p{Surrogate}]/u;
/** Paths distinguish elements of arrays from keys that are numbers. */
const elementNumber = /^(?:0|[1-9]\d*)$/;

/**
 * A filter as a condition on the column `metadata`, which holds JSON in SQLite's binary form. Every condition is 0 or 1, never NULL.
 *
 * SQLite cannot address keys with quotes or control characters, and elements of arrays by number. There the condition matches a superset.
 */
export function filterToSqlite(filter: Filter | undefined, parameters: SqlParameters): SqlCondition {
  // As JSON, so that numbers and escaped characters are read in the same way as those of the metadata.
  const scalar = (value: string | number): string => `(${parameters.add(JSON.stringify(value))} ->> '$')`;
  const typeOf = (path: string): string => `json_type(metadata, ${path})`;
  const equalTest = (values: readonly FilterScalar[]): ((alias: string) => string) => {
    const types = values.filter((value) => value === null || typeof value === 'boolean');
    const others = values.filter((value) => typeof value === 'string' || typeof value === 'number');
    const wanted =
      others.length === 1
        ? `= ${scalar(others[0] as string | number)}`
        : `IN (SELECT value FROM json_each(${parameters.add(JSON.stringify(others))}))`;
    return (alias) => {
      const tests = types.map((name) => `${alias}.type = '${name}'`);
      // The value of `true` is 1 as well.
      if (others.length > 0) tests.push(`(${alias}.atom ${wanted} AND ${alias}.type IN ('text', 'integer', 'real'))`);
      return `(${tests.join(' OR ')})`;
    };
  };
  return toSqlCondition(filter, rootPath, (anyElement) => {
    // `json_each` also lists a value that is no array, and the members of an object.
    const anyValue = (path: string, test: (alias: string) => string): string =>
      anyElement(path, (alias) => `${test(alias)} AND typeof(${alias}.key) <> 'text'`);
    return {
      textType: 'text',
      field(keys, root) {
        if (keys.length === 0) return root;
        const mayBeElement = (key: string, at: number): boolean =>
          (at > 0 || root !== rootPath) && elementNumber.test(key);
        if (keys.some((key, at) => unquotable.test(key) || mayBeElement(key, at))) return undefined;
        const toPath = (names: readonly string[]): string => {
          const suffix = names.map((name) => `."${name}"`).join('');
          return root === rootPath ? parameters.add(`$${suffix}`) : `(${root} || ${parameters.add(suffix)})`;
        };
        if (keys.length === 1) return toPath(keys);
        const literal = toPath([keys.join('.')]);
        return `(CASE WHEN ${typeOf(literal)} IS NULL THEN ${toPath(keys)} ELSE ${literal} END)`;
      },
      typeOf,
      equal(path, values) {
        const found = anyValue(path, equalTest(values));
        return values.includes(null) ? `(${typeOf(path)} IS NULL OR ${found})` : found;
      },
      order(path, operator, limit) {
        const types = typeof limit === 'number' ? `'integer', 'real'` : `'text'`;
        return anyValue(path, (alias) => `${alias}.atom ${operator} ${scalar(limit)} AND ${alias}.type IN (${types})`);
      },
      hasSize: (path, size) => `json_array_length(metadata, ${path}) = ${scalar(size)}`,
      hasElement: (path, value) => anyElement(path, equalTest([value])),
      elements: (path, alias) => `json_each(metadata, ${path}) AS ${alias}`,
      rootOf: (alias) => `${alias}.fullkey`,
      // `lower` of SQLite converts ASCII only.
      inText: (path, part) => ({
        hasPart: `instr(lower(metadata ->> ${path}), ${scalar(part)}) > 0`,
        isAscii: `length(metadata ->> ${path}) = octet_length(metadata ->> ${path})`,
      }),
    };
  });
}
