import type { JsonSchema } from '@quiver/core/schema';
import { describeFields } from '../filter/declared-fields.js';
import { comparisonsOf, filterOperators, logicalOperators } from '../filter/index.js';
import type { FilterFields } from './model-filter.js';

interface QueryInputOptions {
  /** Whether the tool lists the records that match a filter, page by page. */
  readonly isList: boolean;
  /** Whether the model can filter. */
  readonly hasFilter: boolean;
  readonly filterFields: FilterFields | undefined;
  /** Default number of passages. */
  readonly topK: number;
  readonly maxTopK: number;
}

/** Returns the input schema. It contains `filter` only if filters are enabled, because a model uses every property. */
export function queryInputSchema(options: QueryInputOptions): JsonSchema {
  const { isList, hasFilter, filterFields, topK, maxTopK } = options;
  return {
    type: 'object',
    properties: {
      ...(!isList && {
        queryText: {
          type: 'string',
          minLength: 1,
          description: 'The question, or the text to find related passages for.',
        },
      }),
      topK: {
        type: 'number',
        minimum: 1,
        default: topK,
        description: `How many passages to return (default ${topK}, at most ${maxTopK}; larger numbers count as ${maxTopK}).`,
      },
      ...(hasFilter && {
        filter: {
          type: ['object', 'string'],
          description: `Restricts the search to passages whose metadata match, for example {"version": {"$gte": 2}, "lang": {"$in": ["en", "de"]}}. Operators: ${filterOperators.join(' ')}, combined by ${logicalOperators.join(' ')}.${fieldsNote(filterFields)}`,
          ...(typeof filterFields === 'object' && { properties: fieldProperties(filterFields) }),
        },
      }),
      ...(isList && {
        cursor: {
          type: 'string',
          description:
            'The nextCursor of the previous page, to read on with the same filter. Leave it out for the first page.',
        },
      }),
    },
    required: isList ? [] : ['queryText'],
    additionalProperties: false,
  };
}

function fieldsNote(fields: FilterFields | undefined): string {
  if (fields === undefined) return '';
  if (fields === 'auto') return ' A filter with an unknown field returns the fields of the index with their values.';
  return ` Only these fields can be used:\n${describeFields(fields)}`;
}

/** The types accept what can be corrected, such as a number as text: a call that does not match the schema would not reach the tool. */
function fieldProperties(fields: Exclude<FilterFields, 'auto'>): Record<string, JsonSchema> {
  const entries = Object.entries(fields).map(([name, field]): [string, JsonSchema] => {
    const { description, type } = typeof field === 'string' ? { description: field, type: undefined } : field;
    const types = ['string', 'number', 'boolean', 'object', 'array', 'null'];
    return [
      name,
      {
        type: types,
        description: `${type ?? 'any value'}${description ? `: ${description}` : ''}; or an object of ${comparisonsOf(type).join(' ')} $exists`,
      },
    ];
  });
  return Object.fromEntries(entries);
}
