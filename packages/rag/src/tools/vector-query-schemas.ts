import type { JsonSchema } from '@quiver/core/schema';
import { defaultTopK, type VectorQueryToolOptions } from './query-settings.js';

/** Returns the input schema. It contains `filter` only if filters are enabled, because a model uses every property. */
export function vectorQueryInputSchema({
  enableFilter = false,
  filterFields = {},
}: Pick<VectorQueryToolOptions, 'enableFilter' | 'filterFields'>): JsonSchema {
  const fields = Object.entries(filterFields).map(([name, meaning]) => ` ${JSON.stringify(name)}: ${meaning}`);
  return {
    type: 'object',
    properties: {
      queryText: {
        type: 'string',
        minLength: 1,
        description: 'The question, or the text to find related passages for.',
      },
      topK: {
        type: 'number',
        minimum: 1,
        default: defaultTopK,
        description: `How many passages to return (default ${defaultTopK}).`,
      },
      ...(enableFilter && {
        filter: {
          type: ['object', 'string'],
          description: `Restricts the search to passages whose metadata match, for example {"version": {"$gte": 2}, "lang": {"$in": ["en", "de"]}}. Operators: $eq $ne $gt $gte $lt $lte $in $nin $all $exists $contains $regex $elemMatch $size, combined by $and $or $not $nor.${fields.length > 0 ? ` Fields:${fields.join(';')}.` : ''}`,
        },
      }),
    },
    required: ['queryText'],
    additionalProperties: false,
  };
}

/**
 * Returns the output schema of tools that find passages.
 *
 * @param ofSource - further members of a passage, all of them required
 * @param beside - further members of the answer, all of them required
 */
export function passagesSchema(
  ofSource: Record<string, JsonSchema> = {},
  beside: Record<string, JsonSchema> = {},
): JsonSchema {
  return {
    type: 'object',
    properties: {
      relevantContext: { type: 'string', description: 'The texts of all passages, best first.' },
      sources: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            metadata: { type: 'object' },
            vector: { type: 'array', items: { type: 'number' } },
            score: { type: 'number', minimum: 0, maximum: 1 },
            document: { type: 'string' },
            ...ofSource,
          },
          required: ['id', 'metadata', 'vector', 'score', 'document', ...Object.keys(ofSource)],
        },
      },
      ...beside,
    },
    required: ['relevantContext', 'sources', ...Object.keys(beside)],
  };
}

export const vectorQueryOutputSchema: JsonSchema = passagesSchema();
