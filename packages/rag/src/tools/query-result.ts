import type { JsonSchema } from '@quiver/core/schema';
import type { MergedRecord } from '../search/expand-passages.js';
import type { NothingFound } from '../search/confidence.js';
import { recordText } from '../store/record-text.js';
import type { VectorMetadata, VectorRecord } from '../store/index.js';

/** A passage. */
export interface QueryResult {
  id: string;
  metadata: VectorMetadata;
  /** Empty unless `includeVectors` is set. The text for models never contains it. */
  vector: number[];
  /** In [0, 1], larger is better; 1 in the mode `filter`. */
  score: number;
  /**
   * How much of what the query asks for is in the passage, in [0, 1]: .5 separates questions that the documents answer from others
   * best. Comparable between questions, modes and indexes, in contrast to `score`. Absent in the mode `filter`. With `expand`, that of the best record.
   */
  confidence?: number;
  /** Text of the passage; empty if the store has none. */
  document: string;
  /** With `expand`: records that the passage consists of, in the order of their source. */
  records?: MergedRecord[];
}

/** Members that the outputs of all query tools have. */
export interface PassagesOutput<Source extends QueryResult = QueryResult> extends NothingFound {
  /**
   * The passages as a model receives them, best first: each below its number, which is its place in `sources`, and its title, headings and
   * source. Empty if no passage was found.
   */
  relevantContext: string;
  sources: Source[];
  /**
   * Why the filter of the model matches no record, with frequent values of its fields. Absent if it matches one, and if there is no filter of
   * the model.
   */
  filterHint?: string;
  /** Number of the last passages that `relevantContext` lacks because of `maxTokens`; absent without any. */
  omitted?: number;
}

/** Converts a record of a store to a passage. */
export function toQueryResult(record: VectorRecord, score: number): QueryResult {
  const { id, metadata, vector = [] } = record;
  return { id, metadata, vector, score, document: recordText(record) };
}

const recordsSchema: JsonSchema = {
  type: 'array',
  description: 'The records that were merged into this passage.',
  items: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      startIndex: { type: 'integer' },
      endIndex: { type: 'integer' },
      score: { type: 'number', description: 'Present if the record itself matched.' },
    },
    required: ['id'],
  },
};

/** A member of a passage that is missing does not compile. */
const passageProperties = {
  id: { type: 'string' },
  metadata: { type: 'object' },
  vector: { type: 'array', items: { type: 'number' } },
  score: { type: 'number', minimum: 0, maximum: 1 },
  confidence: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'How much of what the query asks for is in the passage.',
  },
  document: { type: 'string' },
  records: recordsSchema,
} satisfies Record<keyof QueryResult, JsonSchema>;

/**
 * Returns the output schema of tools that find passages.
 *
 * @param ofSource - further members of a passage, all of them required
 * @param ofResult - further members of the result
 * @param optional - members of the result that can be absent
 */
export function passagesSchema(
  ofSource: Record<string, JsonSchema> = {},
  ofResult: Record<string, JsonSchema> = {},
  optional: readonly string[] = [],
): JsonSchema {
  return {
    type: 'object',
    properties: {
      relevantContext: { type: 'string', description: 'The passages with their numbers and sources, best first.' },
      sources: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            ...passageProperties,
            ...ofSource,
          },
          required: ['id', 'metadata', 'vector', 'score', 'document', ...Object.keys(ofSource)],
        },
      },
      nothingFound: { type: 'boolean', description: 'Present if the documents do not answer the question.' },
      nearestTopics: {
        type: 'array',
        items: { type: 'string' },
        description: 'With nothingFound: what the nearest passages are about.',
      },
      filterHint: { type: 'string', description: 'Why the filter matches nothing, with values that occur.' },
      omitted: {
        type: 'integer',
        description: 'Number of the last passages that the text lacks, because it is limited.',
      },
      ...ofResult,
    } satisfies Record<keyof PassagesOutput, JsonSchema>,
    required: ['relevantContext', 'sources', ...Object.keys(ofResult).filter((name) => !optional.includes(name))],
  };
}
