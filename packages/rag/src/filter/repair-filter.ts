import type { FilterField } from './filter.js';
import { fieldOperators, logicalOperators } from './operators.js';

type PlainObject = Readonly<Record<string, unknown>>;

const operatorNames: ReadonlyMap<string, string> = new Map(
  Array.from(fieldOperators, ([name, { writtenAs = [] }]) =>
    writtenAs.map((written) => [written, name] as const),
  ).flat(),
);

/**
 * Corrects a filter of a model where only one meaning is possible: `{ Year: { gte: '2020' } }` becomes `{ year: { $gte: 2020 } }`. Operators get
 * their `$`, names and known values their case, and texts and numbers the type of their field. Everything else is unchanged.
 *
 * @param filter - an unchecked filter, or its JSON text. A value that is not plain data, or too large, is returned unchanged
 * @param names - names of the declared fields
 * @param fieldOf - returns the declaration of a field
 */
export function repairFilter(
  filter: unknown,
  names: readonly string[],
  fieldOf: (name: string) => FilterField | undefined,
): unknown {
  try {
    const text = typeof filter === 'string' ? filter : JSON.stringify(filter);
    const given: unknown = typeof filter === 'string' ? JSON.parse(filter) : filter;
    return text.length <= longestFilter && isObject(given) ? repairQuery(given, names, fieldOf) : filter;
  } catch {
    // The check of the filter names the reason.
    return filter;
  }
}

/** Characters of a filter as JSON that is corrected. */
const longestFilter = 50_000;

function repairQuery(
  query: PlainObject,
  names: readonly string[],
  fieldOf: (name: string) => FilterField | undefined,
): PlainObject {
  const entries = Object.entries(query).map(([key, value]): [string, unknown] => {
    const operator = !fieldOf(key) && logicalOperators.includes(`$${key}`) ? `$${key}` : key;
    if (operator.startsWith('$')) return [operator, repairPart(value, (part) => repairQuery(part, names, fieldOf))];
    const name = fieldOf(key) ? key : (onlyOne(names, key) ?? onlyOne(parentsOf(names), key) ?? key);
    const field = fieldOf(name);
    const below = names.flatMap((declared) =>
      declared.startsWith(`${name}.`) ? [declared.slice(name.length + 1)] : [],
    );
    if (!field && below.length > 0)
      return [name, repairPart(value, (part) => repairQuery(part, below, (child) => fieldOf(`${name}.${child}`)))];
    return [name, repairCondition(value, field ?? {}, (child) => below.includes(child))];
  });
  return Object.fromEntries(entries);
}

/** Returns the first parts of names such as `born.year`, each once. */
function parentsOf(names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => name.includes('.')).map((name) => name.split('.', 1)[0] as string))];
}

function repairPart(value: unknown, repair: (part: PlainObject) => unknown): unknown {
  if (Array.isArray(value)) return value.map((part: unknown) => (isObject(part) ? repair(part) : part));
  return isObject(value) ? repair(value) : value;
}

/** @param isField - whether a name is that of a declared field below the one of the condition */
function repairCondition(value: unknown, field: FilterField, isField: (name: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => repairValue(item, field));
  if (!isObject(value)) return repairValue(value, field);
  const entries = Object.entries(value).map(([key, operand]): [string, unknown] => {
    const name = isField(key) ? key : (operatorNames.get(key.toLowerCase()) ?? key);
    if (name === '$not' && isObject(operand)) return [name, repairCondition(operand, field, isField)];
    const expected = fieldOperators.get(name)?.operand;
    if (expected === undefined) return [name, operand];
    if (Array.isArray(operand)) return [name, operand.map((item) => repairValue(item, field))];
    const repaired = repairValue(operand, field);
    return [name, expected === 'list' ? [repaired] : repaired];
  });
  return Object.fromEntries(entries);
}

function repairValue(value: unknown, { type, values }: FilterField): unknown {
  const typed = toType(value, type);
  if (!values || values.some((known) => known === typed)) return typed;
  return (
    onlyOne(
      values.filter((known) => typeof known === 'string'),
      typed,
    ) ?? typed
  );
}

function toType(value: unknown, type: FilterField['type']): unknown {
  if (type === 'number' && typeof value === 'string' && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value)) return Number(value);
  if (type === 'string' && typeof value === 'number') return String(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** Returns the text that differs from the given one in upper and lower case at most, if it is the only one. */
function onlyOne(texts: readonly string[], given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const same = texts.filter((text) => text.toLowerCase() === given.toLowerCase());
  return same.length === 1 ? same[0] : undefined;
}

function isObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
