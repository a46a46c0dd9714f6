import { isQuiverError, QuiverError } from '@quiver/core';
import { describeFields, endSentence, requireDeclared } from '../filter/declared-fields.js';
import { checkFilter, type CheckedFilter, type FilterField } from '../filter/index.js';
import { describeValues, type SampledField, type SampledIndex } from './sampled-index.js';

/** Metadata fields that a model may filter by: a description, or a description with type and values, by name. `auto`: those of the index. */
export type FilterFields = Readonly<Record<string, string | FilterField>> | 'auto';

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
  index: SampledIndex,
): Promise<CheckedFilter> {
  if (fields === undefined) return checkFilter(given);
  const isAuto = fields === 'auto';
  let known = isAuto ? toFields(await index.fields()) : fields;
  const isTyped = Object.values(known).every((field) => typeof field !== 'string');
  if (!isTyped) known = withTypes(known, await index.fields());
  for (;;) {
    try {
      return requireDeclared(given, known);
    } catch (error) {
      // A record that was not in the sample may have it.
      const name = isQuiverError(error, 'FILTER_INVALID') ? error.details?.['undeclared'] : undefined;
      if (isAuto && typeof name === 'string' && (await index.hasMatch({ [name]: { $exists: true } })))
        known = { ...known, [name]: {} };
      else throw await withValues(error, known, index);
    }
  }
}

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

/** Adds the fields and their frequent values to the error. Only values of records that the application allows are in it. */
async function withValues(
  error: unknown,
  fields: Exclude<FilterFields, 'auto'>,
  index: SampledIndex,
): Promise<unknown> {
  if (!isQuiverError(error, 'FILTER_INVALID')) return error;
  const sample = await index.fields();
  const described = Object.entries(fields).map(([name, field]): string => {
    const line = describeFields({ [name]: field });
    const values = typeof field === 'object' && field.values ? '' : describeValues(sample.get(name));
    return values === '' ? line : `${endSentence(line)}${values}`;
  });
  return new QuiverError('FILTER_INVALID', `${error.message}\nThe fields:\n${described.join('\n')}`, { cause: error });
}
