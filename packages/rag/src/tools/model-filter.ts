import { isQuiverError, QuiverError } from '@quiver/core';
import { findNearestName } from '@quiver/core/options';
import { bothFilters, checkFilter, parseFilter, type CheckedFilter, type FilterField } from '../filter/index.js';
import { hiddenKeys } from '../document/metadata-keys.js';
import { describeFields, endSentence, fieldsIn, requireDeclared } from '../filter/declared-fields.js';
import type { IndexRead } from '../store/index-read.js';
import { isScalar } from '../store/scope.js';
import type { VectorFilter, VectorMetadata, VectorStore } from '../store/index.js';

/** Metadata fields that a model may filter by: a description, or a description with type and values, by name. `auto`: those of the index. */
export type FilterFields = Readonly<Record<string, string | FilterField>> | 'auto';

interface FilteredIndex {
  readonly store: VectorStore;
  /** The records that the application allows. */
  readonly allowed: IndexRead;
}

/**
 * Returns the filter of a model, corrected where only one meaning is possible.
 *
 * @param fields - fields that the filter may use. Default: any, and nothing is corrected
 * @throws `FILTER_INVALID`; with fields, the message contains the fields, their types, and frequent values of the records that the application
 *   allows, so that the model can correct the filter
 */
export async function readModelFilter(
  given: unknown,
  fields: FilterFields | undefined,
  index: FilteredIndex,
): Promise<CheckedFilter> {
  if (fields === undefined) return checkFilter(given);
  const isAuto = fields === 'auto';
  let known = isAuto ? toFields(await sampleFields(index)) : fields;
  const isTyped = Object.values(known).every((field) => typeof field !== 'string');
  if (!isTyped) known = withTypes(known, await sampleFields(index));
  for (;;) {
    try {
      return requireDeclared(given, known);
    } catch (error) {
      const name = isQuiverError(error, 'FILTER_INVALID') ? error.details?.['undeclared'] : undefined;
      if (isAuto && typeof name === 'string' && (await hasField(index, name))) known = { ...known, [name]: {} };
      else throw await withValues(error, known, index);
    }
  }
}

/** Number of records that are read to find fields, types and values. */
const sampleSize = 1000;
const maxValues = 20;
const maxFields = 20;
const longestValue = 60;

interface SampledField {
  readonly types: Set<string>;
  readonly counts: Map<string | number | boolean, number>;
}

async function sampleFields(index: FilteredIndex): Promise<Map<string, SampledField>> {
  const { records } = await scan(index, undefined, sampleSize);
  const sample = new Map<string, SampledField>();
  for (const { metadata } of records) addFields(sample, metadata, '');
  return sample;
}

function scan({ store, allowed }: FilteredIndex, filter: VectorFilter, limit: number): ReturnType<VectorStore['scan']> {
  return store.scan({ ...allowed, filter: bothFilters(allowed.filter, filter), limit });
}

function addFields(sample: Map<string, SampledField>, metadata: VectorMetadata, prefix: string): void {
  for (const [key, value] of Object.entries(metadata as Record<string, unknown>)) {
    if ((prefix === '' && (hiddenKeys.has(key) || key === 'text')) || key.startsWith('$') || key.includes('.'))
      continue;
    const name = prefix + key;
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (isScalar(item)) {
        const field = sample.get(name) ?? { types: new Set(), counts: new Map() };
        sample.set(name, field);
        field.types.add(typeof item);
        field.counts.set(item, (field.counts.get(item) ?? 0) + 1);
      } else if (typeof item === 'object' && item !== null && prefix.split('.').length < maxDepth) {
        addFields(sample, item, `${name}.`);
      }
    }
  }
}

const maxDepth = 4;
function toFields(sample: Map<string, SampledField>): Record<string, FilterField> {
  return Object.fromEntries([...sample].map(([name, field]) => [name, typeOf(field)]));
}

function typeOf(field: SampledField | undefined): Pick<FilterField, 'type'> {
  const [type] = field?.types ?? [];
  return field?.types.size === 1 ? { type: type as NonNullable<FilterField['type']> } : {};
}

/** Adds the types of the index to fields that are only described. */
function withTypes(
  fields: Exclude<FilterFields, 'auto'>,
  sample: Map<string, SampledField>,
): Record<string, FilterField> {
  const typed = Object.entries(fields).map(([name, field]): [string, FilterField] => [
    name,
    typeof field === 'string' ? { description: field, ...typeOf(sample.get(name)) } : field,
  ]);
  return Object.fromEntries(typed);
}

/** Whether a record that was not in the sample has the field. */
async function hasField(index: FilteredIndex, name: string): Promise<boolean> {
  const { records } = await scan(index, { [name]: { $exists: true } }, 1);
  return records.length > 0;
}

/** Adds the fields and their frequent values to the error. Only values of records that the application allows are in it. */
async function withValues(
  error: unknown,
  fields: Exclude<FilterFields, 'auto'>,
  index: FilteredIndex,
): Promise<unknown> {
  if (!isQuiverError(error, 'FILTER_INVALID')) return error;
  const sample = await sampleFields(index);
  const described = Object.entries(fields).map(([name, field]): string => {
    const line = describeFields({ [name]: field });
    const values = typeof field === 'object' && field.values ? '' : describeValues(sample.get(name));
    return values === '' ? line : `${endSentence(line)}${values}`;
  });
  return new QuiverError('FILTER_INVALID', `${error.message}\nThe fields:\n${described.join('\n')}`, { cause: error });
}

/** Conditions that are tried one by one, and fields that are described. */
const triedConditions = 10;

/**
 * Returns why a filter matches no record that the application allows, with frequent values of the fields; `undefined` if it matches one.
 * A model that gets an empty result cannot tell a wrong value from missing documents.
 *
 * @param fields - fields that the filter may use. If they are declared, no other field of the index is named
 */
export async function explainNoMatch(
  filter: CheckedFilter,
  fields: FilterFields | undefined,
  index: FilteredIndex,
): Promise<string | undefined> {
  const matches = async (part: VectorFilter): Promise<boolean> => (await scan(index, part, 1)).records.length > 0;
  if (await matches(filter)) return undefined;
  const conditions = conditionsOf(filter).slice(0, triedConditions);
  const found = await Promise.all(conditions.map(matches));
  const wrong = conditions.filter((_, place) => !found[place]);
  const reason =
    wrong.length === 0
      ? 'records match each of its conditions, and none matches all of them'
      : `no record matches ${wrong.map((condition) => JSON.stringify(condition)).join(', and none ')}`;
  const sample = await sampleFields(index);
  const used = fieldsIn(parseFilter({ $and: wrong.length === 0 ? conditions : wrong }));
  const names = used.slice(0, triedConditions);
  const isDeclared = fields !== undefined && fields !== 'auto';
  const known = isDeclared ? [] : [...sample.keys()].filter((name) => name.length <= longestValue);
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

function describeValues(field: SampledField | undefined): string {
  const frequent = [...(field?.counts ?? [])]
    .filter(([value]) => String(value).length <= longestValue)
    .toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, maxValues)
    .map(([value]) => JSON.stringify(value));
  return frequent.length === 0 ? '' : ` Values: ${frequent.join(', ')}.`;
}
