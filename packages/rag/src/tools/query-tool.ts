import { isQuiverError, traceChannels, type QuiverError, type RetrievalTraceEvent } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool, type Tool, type ToolExecute } from '@quiver/core/tools';
import { ingestKeys } from '../document/metadata-keys.js';
import { describeFields } from '../filter/declared-fields.js';
import { comparisonsOf, filterOperators, logicalOperators } from '../filter/index.js';
import { expandMatches } from '../search/expand-passages.js';
import { mergeCopies } from '../search/merge-copies.js';
import { ratePassages } from '../search/confidence.js';
import { readTrustedFilter, requireScope } from '../store/scope.js';
import type { FilterFields } from './model-filter.js';
import { writePassages } from './passage-text.js';
import {
  createEmbedderOf,
  hasFilters,
  type Limits,
  readLimits,
  resolveCall,
  type QueryCall,
  type VectorQueryInput,
} from './query-call.js';
import type { PassagesOutput, QueryResult } from './query-result.js';
import type { QueryToolOptions } from './query-tool-options.js';

export interface QueryToolDefinition<Output extends PassagesOutput> {
  readonly options: QueryToolOptions;
  /** Beginning of the default id. */
  readonly name: string;
  /** Default description. */
  readonly description: string;
  readonly outputSchema: JsonSchema;
  /** Returns the error for a failure of the store or the model. */
  readonly toFailure: (indexName: string, cause: unknown) => QuiverError;
  readonly query: (call: QueryCall) => Promise<Omit<Output, 'relevantContext' | 'omitted'>>;
}

/** Creates a tool that returns passages of an index. */
export function createQueryTool<Output extends PassagesOutput>(
  definition: QueryToolDefinition<Output>,
): Omit<Tool<JsonSchema, JsonSchema, Output>, 'execute'> & {
  readonly execute: ToolExecute<VectorQueryInput, Promise<Output>>;
} {
  const { options, name, outputSchema, toFailure, query } = definition;
  const limits = readLimits(options);
  const tool = { options, limits, trusted: readTrustedFilter(options), embedderOf: createEmbedderOf() };
  const { vectorStoreName = 'DirectVectorStore', indexName } = options;
  return createTool({
    id: options.id ?? `${name} ${vectorStoreName} ${indexName} Tool`,
    description: options.description ?? definition.description,
    inputSchema: queryInputSchema(options, limits),
    outputSchema,
    mcp: { annotations: { readOnlyHint: true, openWorldHint: false } },
    toModelOutput: (output) => ({ type: 'text', value: toModelText(output as PassagesOutput & RecordPage) }),
    execute: async (input: VectorQueryInput, context): Promise<Output> => {
      const call = await resolveCall(tool, input, context);
      try {
        const result = await (channel.isActive ? traceQuery(name, call, query) : query(call));
        requireScope({ ...call, read: call.allowed }, result.sources);
        const { passages, ...emptiness } =
          call.mode === 'filter' ? { passages: result.sources } : ratePassages(result.sources, call);
        // Neighbors have to match the filter of the application. The filter of the model chooses the passages that they surround.
        const expanded =
          call.expand === undefined ? passages : await expandMatches(passages, call.expand, call.store, call.allowed);
        // Two chunks of two copies have the same section.
        const sources = call.mode === 'filter' ? expanded : mergeCopies(expanded);
        const { text, omitted } = writePassages(sources, call.maxTokens);
        const filterHint = result.sources.length === 0 ? await call.modelFilter?.explainNoMatch() : undefined;
        return {
          relevantContext: text,
          ...result,
          ...emptiness,
          ...(filterHint !== undefined && { filterHint }),
          sources: call.includeSources === false ? [] : sources.map(withoutIngestKeys),
          ...(omitted > 0 && { omitted }),
        } as unknown as Output;
      } catch (error) {
        if (isQuiverError(error) || call.read.signal?.aborted) throw error;
        throw toFailure(call.read.indexName, error);
      }
    },
  });
}

interface RecordPage {
  readonly nextCursor?: string;
}

function toModelText(output: PassagesOutput & RecordPage): string {
  const { relevantContext, nearestTopics = [], filterHint, nextCursor } = output;
  const topics = nearestTopics.length === 0 ? [] : [`Nearest topics: ${nearestTopics.join('; ')}.`];
  const hints = filterHint === undefined ? topics : [filterHint];
  const text = relevantContext === '' ? ['No passage was found.', ...hints].join(' ') : relevantContext;
  return nextCursor === undefined ? text : `${text}\n\nnextCursor: ${nextCursor}`;
}

function withoutIngestKeys(source: QueryResult): QueryResult {
  const entries = Object.entries(source.metadata).filter(([key]) => !ingestKeys.has(key));
  return { ...source, metadata: Object.fromEntries(entries) };
}

const channel = traceChannels['quiver:retrieval'];

function traceQuery<Result extends { readonly sources: readonly QueryResult[] }>(
  kind: string,
  call: QueryCall,
  query: (call: QueryCall) => Promise<Result>,
): Promise<Result> {
  const { queryText, topK } = call;
  const { indexName } = call.read;
  const event: RetrievalTraceEvent = { type: 'retrieval', operation: 'query', indexName, kind, queryText, topK };
  return channel.trace(event, async () => {
    const result = await query(call);
    event.documents = result.sources;
    return result;
  });
}

/** Returns the input schema. It contains `filter` only if filters are enabled, because a model uses every property. */
function queryInputSchema(options: QueryToolOptions, { topK, maxTopK }: Limits): JsonSchema {
  const { filterFields } = options;
  const isList = options.mode === 'filter';
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
      ...(hasFilters(options) && {
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
