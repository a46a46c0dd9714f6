import { findNearestName } from '@quiver/core/internal';
import { fieldsIn } from '../filter/declared-fields.js';
import { parseFilter, type CheckedFilter } from '../filter/index.js';
import type { FilterFields } from './model-filter.js';
import { describeValues, longestShown, type SampledIndex } from './sampled-index.js';

/** Conditions that are tried one by one, and fields that are described. */
const triedConditions = 10;
const maxFields = 20;

/**
 * Returns why a filter matches no record that the application allows, with frequent values of the fields; `undefined` if it matches one.
 * A model that gets an empty result cannot tell a wrong value from missing documents.
 *
 * @param fields - fields that the filter may use. If they are declared, no other field of the index is named
 */
export async function explainNoMatch(
  filter: CheckedFilter,
  fields: FilterFields | undefined,
  index: SampledIndex,
): Promise<string | undefined> {
  if (await index.hasMatch(filter)) return undefined;
  const conditions = conditionsOf(filter).slice(0, triedConditions);
  const found = await Promise.all(conditions.map((condition) => index.hasMatch(condition)));
  const wrong = conditions.filter((_, place) => !found[place]);
  const reason =
    wrong.length === 0
      ? 'records match each of its conditions, and none matches all of them'
      : `no record matches ${wrong.map((condition) => JSON.stringify(condition)).join(', and none ')}`;
  const sample = await index.fields();
  const used = fieldsIn(parseFilter({ $and: wrong.length === 0 ? conditions : wrong }));
  const names = used.slice(0, triedConditions);
  const isDeclared = fields !== undefined && fields !== 'auto';
  const known = isDeclared ? [] : [...sample.keys()].filter((name) => name.length <= longestShown);
  const lines = names.map((name) => {
    const field = sample.get(name);
    return `${JSON.stringify(name)}.${field ? describeValues(field) : ` No record has it.${suggestField(name, known)}`}`;
  });
  if (known.length > 0 && names.some((name) => !sample.has(name))) lines.push(listFields(known));
  return [`The filter matches nothing: ${reason}. The fields:`, ...lines].join('\n');
}

function suggestField(name: string, known: readonly string[]): string {
  const nearest = findNearestName(name, known);
  return nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
}

function listFields(known: readonly string[]): string {
  const listed = known.slice(0, maxFields).map((name) => JSON.stringify(name));
  const rest = known.length > maxFields ? `, and ${known.length - maxFields} more` : '';
  return `The records have the fields ${listed.join(', ')}${rest}.`;
}

/** Returns the conditions that a filter requires together. */
function conditionsOf(filter: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  return Object.entries(filter).flatMap(([name, value]) =>
    name === '$and' && Array.isArray(value) ? value.flatMap(conditionsOf) : [{ [name]: value }],
  );
}
