import { isQuiverError, QuiverError } from '@quiver/core';
import { findNearestName } from '@quiver/core/internal';
import { hiddenKeys } from '../document/metadata-keys.js';
import { describeFields, endSentence, fieldsIn, requireDeclared } from '../filter/declared-fields.js';
import { bothFilters, checkFilter, type CheckedFilter, type FilterField, parseFilter } from '../filter/index.js';
import { isScalar, requireScope, type ScopedRead } from '../store/scope.js';
import type { VectorFilter, VectorMetadata, VectorRecord } from '../store/index.js';

/** Metadata fields that a model may filter by: a description, or a description with type and values, by name. `auto`: those of the index. */
export type FilterFields = Readonly<Record<string, string | FilterField>> | 'auto';

/** A filter that a model wrote for one call. */
export interface ModelFilter {
  /** The filter, corrected where only one meaning is possible. */
  readonly filter: CheckedFilter;
  /**
   * Returns why the filter matches no record that the application allows, with frequent values of its fields; `undefined` if it matches one. A model
   * that gets an empty result cannot tell a wrong value from missing documents.
   */
  readonly explainNoMatch: () => Promise<string | undefined>;
}

/**
 * Reads the filter of a model.
 *
 * @param fields - fields that the filter may use. Default: any, and nothing is corrected
 * @param allowed - the records that the application allows: no value of others is shown to the model. They are sampled once
 * @throws `FILTER_INVALID`; with fields, the message contains the fields, their types, and frequent values, so that the model can correct the filter;
 *   `QUERY_SCOPE_MISSING`
 */
export async function readModelFilter(
  given: unknown,
  fields: FilterFields | undefined,
  allowed: ScopedRead,
): Promise<ModelFilter> {
  const sample = sampleOf(allowed);
  const filter = fields === undefined ? checkFilter(given) : await readDeclared(given, fields, sample);
  return { filter, explainNoMatch: () => explainNoMatch(filter, fields, sample) };
}

async function readDeclared(given: unknown, fields: FilterFields, sample: Sample): Promise<CheckedFilter> {
  let known = await withTypes(fields, sample);
  for (;;) {
    try {
      return requireDeclared(given, known);
    } catch (error) {
      if (!isQuiverError(error, 'FILTER_INVALID')) throw error;
      const name = error.details?.['undeclared'];
      const isNew = fields === 'auto' && typeof name === 'string';
      // A record that was not in the sample may have it.
      if (!isNew || !(await sample.hasMatch({ [name]: { $exists: true } })))
        throw withValues(error, known, await sample.fields());
      known = { ...known, [name]: {} };
    }
  }
}

/** Returns the fields, with the types that the index has for those without a declared one. */
async function withTypes(fields: FilterFields, sample: Sample): Promise<Record<string, FilterField>> {
  const isDescription = (field: string | FilterField): field is string => typeof field === 'string';
  if (fields !== 'auto' && !Object.values(fields).some(isDescription)) return fields as Record<string, FilterField>;
  const found = await sample.fields();
  const declared = fields === 'auto' ? Object.fromEntries([...found].map(([name]) => [name, ''])) : fields;
  const typed = Object.entries(declared).map(([name, field]): [string, FilterField] => [
    name,
    isDescription(field) ? { description: field, ...typeOf(found.get(name)) } : field,
  ]);
  return Object.fromEntries(typed);
}

function typeOf(field: SampledField | undefined): Pick<FilterField, 'type'> {
  const [type, ...others] = field?.types ?? [];
  return type === undefined || others.length > 0 ? {} : { type: type as NonNullable<FilterField['type']> };
}

function withValues(error: QuiverError, fields: Record<string, FilterField>, found: SampledFields): QuiverError {
  const described = Object.entries(fields).map(([name, field]): string => {
    const line = describeFields({ [name]: field });
    const values = field.values ? '' : describeValues(found.get(name));
    return values === '' ? line : `${endSentence(line)}${values}`;
  });
  return new QuiverError('FILTER_INVALID', `${error.message}\nThe fields:\n${described.join('\n')}`, { cause: error });
}

/** Conditions that are tried one by one, and fields that are described. */
const triedConditions = 10;
const maxFields = 20;

async function explainNoMatch(
  filter: CheckedFilter,
  fields: FilterFields | undefined,
  sample: Sample,
): Promise<string | undefined> {
  if (await sample.hasMatch(filter)) return undefined;
  const conditions = conditionsOf(filter).slice(0, triedConditions);
  const matching = await Promise.all(conditions.map(sample.hasMatch));
  const wrong = conditions.filter((_, place) => !matching[place]);
  const reason =
    wrong.length === 0
      ? 'records match each of its conditions, and none matches all of them'
      : `no record matches ${wrong.map((condition) => JSON.stringify(condition)).join(', and none ')}`;
  const found = await sample.fields();
  const used = fieldsIn(parseFilter({ $and: wrong.length === 0 ? conditions : wrong }));
  const names = used.slice(0, triedConditions);
  // If the fields are declared, no other field of the index is named.
  const isDeclared = fields !== undefined && fields !== 'auto';
  const known = isDeclared ? [] : [...found.keys()].filter((name) => name.length <= longestShown);
  const lines = names.map((name) => {
    const field = found.get(name);
    return `${JSON.stringify(name)}.${field ? describeValues(field) : ` No record has it.${suggestField(name, known)}`}`;
  });
  if (known.length > 0 && names.some((name) => !found.has(name))) lines.push(listFields(known));
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

function conditionsOf(filter: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  return Object.entries(filter).flatMap(([name, value]) =>
    name === '$and' && Array.isArray(value) ? value.flatMap(conditionsOf) : [{ [name]: value }],
  );
}

const sampleSize = 1000;
const maxValues = 20;
const maxDepth = 4;
/** Longer names and values are not shown to a model. */
const longestShown = 60;

type SampledFields = Map<string, SampledField>;

interface SampledField {
  readonly types: Set<string>;
  readonly counts: Map<string | number | boolean, number>;
}

interface Sample {
  /** Returns the metadata fields of the first records, which are read once. */
  readonly fields: () => Promise<SampledFields>;
  readonly hasMatch: (filter: VectorFilter) => Promise<boolean>;
}

function sampleOf(allowed: ScopedRead): Sample {
  const { store, read } = allowed;
  const scan = async (filter: VectorFilter, limit: number): Promise<VectorRecord[]> => {
    const { records } = await store.listVectors({ ...read, filter: bothFilters(read.filter, filter), limit });
    requireScope(allowed, records);
    return records;
  };
  let fields: Promise<SampledFields> | undefined;
  return {
    fields: () => (fields ??= scan(undefined, sampleSize).then(toFields)),
    hasMatch: async (filter) => (await scan(filter, 1)).length > 0,
  };
}

function toFields(records: readonly VectorRecord[]): SampledFields {
  const fields: SampledFields = new Map();
  for (const { metadata } of records) addFields(fields, metadata, '');
  return fields;
}

function addFields(fields: SampledFields, metadata: VectorMetadata, prefix: string): void {
  for (const [key, value] of Object.entries(metadata as Record<string, unknown>)) {
    if ((prefix === '' && (hiddenKeys.has(key) || key === 'text')) || key.startsWith('$') || key.includes('.'))
      continue;
    const name = prefix + key;
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (isScalar(item)) {
        const field = fields.get(name) ?? { types: new Set(), counts: new Map() };
        fields.set(name, field);
        field.types.add(typeof item);
        field.counts.set(item, (field.counts.get(item) ?? 0) + 1);
      } else if (typeof item === 'object' && item !== null && prefix.split('.').length < maxDepth) {
        addFields(fields, item, `${name}.`);
      }
    }
  }
}

/** Returns the frequent values of a field as a sentence; empty if there are none. */
function describeValues(field: SampledField | undefined): string {
  const frequent = [...(field?.counts ?? [])]
    .filter(([value]) => String(value).length <= longestShown)
    .toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, maxValues)
    .map(([value]) => JSON.stringify(value));
  return frequent.length === 0 ? '' : ` Values: ${frequent.join(', ')}.`;
}
