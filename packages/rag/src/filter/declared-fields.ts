import { QuiverError } from '@quiver/core';
import { eitherOf, objectOf, oneOf, type OptionCheck, stringValue, valueThat } from '@quiver/core/internal';
import { fieldTypes, type Filter, type FilterField, type FilterScalar } from './filter.js';
import { checkFilter, parseFilter, type CheckedFilter } from './parse.js';
import { repairFilter } from './repair-filter.js';

const fieldValue = eitherOf(
  'its meaning, or an object with its description',
  stringValue,
  objectOf<FilterField>({
    description: stringValue,
    type: oneOf(...fieldTypes),
    values: valueThat(Array.isArray, 'a list'),
  }),
);

/** Accepts fields by name. */
export const fieldsValue: OptionCheck = (value, option, owner) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, field]) => fieldValue(field, `${option}.${name}`, owner))
        .find((problem) => problem !== undefined)
    : `'${option}' must be an object of fields by name, not ${Array.isArray(value) ? 'a list' : typeof value}.`;

type Fields = Readonly<Record<string, string | FilterField>>;

/** Returns a text with a full stop. */
export function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Returns one line per field for a prompt. */
export function describeFields(fields: Fields): string {
  return Object.keys(fields)
    .map((name) => {
      const { description, type, values } = fieldOf(fields, name) as FilterField;
      const kind = type === undefined ? '' : ` (${type === 'date' ? 'date as ISO 8601 text' : type})`;
      const line = `${JSON.stringify(name)}${kind}${description ? `: ${description}` : ''}`;
      return values ? `${endSentence(line)} One of ${JSON.stringify(values)}.` : line;
    })
    .join('\n');
}

/**
 * Returns a filter if it is valid and uses declared fields alone, with values of their types. It is corrected where only one meaning is
 * possible, see {@link repairFilter}.
 *
 * @throws `FILTER_INVALID`; for an undeclared field, with its name in `details.undeclared`
 */
export function requireDeclared(filter: unknown, fields: Fields): CheckedFilter {
  const checked = checkFilter(repairFilter(filter, Object.keys(fields), (name) => fieldOf(fields, name)));
  for (const { name, condition } of conditionsIn(parseFilter(checked), '')) {
    const field = fieldOf(fields, name);
    if (!field) throw undeclared(name, fields);
    const values = condition.kind === 'in' ? condition.values : 'value' in condition ? [condition.value] : [];
    for (const value of values) if (!fits(field, value)) throw wrongValue(name, field, value);
  }
  return checked;
}

/** Returns the names of the fields of a filter, each once. */
export function fieldsIn(filter: Filter): string[] {
  return [...new Set(Array.from(conditionsIn(filter, ''), ({ name }) => name))];
}

/** Yields the conditions of a filter with the names of their fields. */
function* conditionsIn(filter: Filter, prefix: string): Generator<{ name: string; condition: Filter }> {
  if ('filters' in filter) for (const part of filter.filters) yield* conditionsIn(part, prefix);
  else if (filter.kind === 'not') yield* conditionsIn(filter.filter, prefix);
  else {
    const name = [prefix, ...filter.path].filter((part) => part !== '').join('.');
    if (filter.kind === 'element') yield* conditionsIn(filter.filter, name);
    else yield { name, condition: filter };
  }
}

function fieldOf(fields: Fields, name: string): FilterField | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof field === 'string' ? { description: field } : field;
}

function fits({ type, values }: FilterField, value: FilterScalar): boolean {
  if (values && !values.includes(value)) return false;
  if (value === null || type === undefined) return true;
  if (type === 'date') return typeof value === 'string' && isoDate.test(value) && !Number.isNaN(Date.parse(value));
  return typeof value === type;
}

/** Stores compare dates as texts, so that another form would find wrong records. */
const isoDate = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)?)?$/;

function undeclared(name: string, fields: Fields): QuiverError {
  const names = Object.keys(fields);
  const parent = names.find((declared) => name.startsWith(`${declared}.`));
  const hint = parent === undefined ? '' : `, and '${name.slice(parent.length + 1)}' is not an operator such as $gte`;
  return invalid(`The field '${name}' is not declared${hint}; declared: ${names.join(', ')}`, { undeclared: name });
}

function wrongValue(name: string, { type, values }: FilterField, value: FilterScalar): QuiverError {
  const kind = type === 'date' ? 'date in ISO 8601' : type;
  const expected = values ? `one of ${JSON.stringify(values)}` : `a ${kind}`;
  return invalid(`The value ${JSON.stringify(value)} of '${name}' is not ${expected}`);
}

function invalid(message: string, details: Record<string, unknown> = {}): QuiverError {
  return new QuiverError('FILTER_INVALID', `${message}. Use declared fields and values of their types.`, { details });
}
