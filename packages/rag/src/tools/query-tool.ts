import { isQuiverError, traceChannels, type QuiverError, type RetrievalTraceEvent } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool, type Tool, type ToolExecute } from '@quiver/core/tools';
import { ingestKeys } from '../document/metadata-keys.js';
import { expandMatches } from '../search/expand-passages.js';
import { mergeCopies } from '../search/merge-copies.js';
import { ratePassages } from '../search/confidence.js';
import { readTrustedFilter, requireScope } from '../store/scope.js';
import { writePassages } from './passage-text.js';
import {
  createEmbedderOf,
  hasFilters,
  readLimits,
  resolveCall,
  type QueryCall,
  type VectorQueryInput,
} from './query-call.js';
import { queryInputSchema } from './query-input-schema.js';
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
    inputSchema: queryInputSchema({
      isList: options.mode === 'filter',
      hasFilter: hasFilters(options),
      filterFields: options.filterFields,
      ...limits,
    }),
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

/** Returns a passage without the metadata that `ingest` writes for itself. */
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
