import {
  getDefaultLogger,
  isQuiverError,
  traceChannels,
  type QuiverError,
  type RetrievalTraceEvent,
} from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool, type Tool, type ToolExecute } from '@quiver/core/tools';
import { ingestKeys } from '../document/metadata-keys.js';
import { expandMatches } from '../passages/expand-passages.js';
import { mergeCopies } from '../passages/merge-copies.js';
import { ratePassages } from '../passages/rate-passages.js';
import { isScoped } from '../store/scope.js';
import { readTrustedFilter } from '../store/trusted-filter.js';
import type { VectorStore } from '../store/index.js';
import { explainNoMatch } from './explain-no-match.js';
import { writePassages } from './passage-text.js';
import { hasFilters, readLimits, resolveCall, type QueryCall, type VectorQueryInput } from './query-call.js';
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
  const trusted = readTrustedFilter(options);
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
      const call = await resolveCall({ options, limits, trusted }, input, context);
      try {
        const result = await (channel.isActive ? traceQuery(name, call, query) : query(call));
        if (options.scope !== 'all') warnOfMissingFilter(call, result.sources);
        const { passages, ...emptiness } =
          call.mode === 'filter' ? { passages: result.sources } : ratePassages(result.sources, call);
        // Neighbors have to match the filter of the application. The filter of the model chooses the passages that they surround.
        const expanded =
          call.expand === undefined ? passages : await expandMatches(passages, call.expand, call.store, call.allowed);
        // Two chunks of two copies have the same section.
        const sources = call.mode === 'filter' ? expanded : mergeCopies(expanded);
        const { text, omitted } = writePassages(sources, call.maxTokens);
        const isFiltered = result.sources.length === 0 && call.modelFilter !== undefined;
        const filterHint = isFiltered ? await explainNoMatch(call.modelFilter, options.filterFields, call) : undefined;
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

/** Indexes with a warning, by their store, each at most once. They live as long as their store. */
const warned = new WeakMap<VectorStore, Set<string>>();

/** A model could read the documents of every owner. The results tell so without a request. */
function warnOfMissingFilter(call: QueryCall, sources: readonly QueryResult[]): void {
  const { store, allowed } = call;
  const { indexName, filter } = allowed;
  const scoped = sources.find(isScoped);
  if (!scoped || warned.get(store)?.has(indexName) || Object.keys(filter ?? {}).length > 0) return;
  const settings: Readonly<Record<string, unknown>> = { ...allowed };
  if (store.capabilities.restrictions?.some((name) => settings[name])) return;
  warned.set(store, (warned.get(store) ?? new Set()).add(indexName));
  const keys = String(scoped.metadata['scopeKeys']).split('.');
  const example = keys.map((key) => `${key}: …`).join(', ');
  getDefaultLogger().warn(
    `A query tool returned documents of the index '${indexName}', whose owners are separated by the scope { ${keys.join(', ')} }, without a filter of the application: it finds the documents of every owner. Pass scope: { ${example} } to the tool, or set a filter for each call: requestContext.set('filter', { ${example} }). If the tool may return all documents, pass scope: 'all'.`,
  );
}
