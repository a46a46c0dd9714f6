import {
  getDefaultLogger,
  isQuiverError,
  QuiverError,
  toErrorMessage,
  traceChannels,
  type RetrievalTraceEvent,
} from '@quiver/core';
import {
  anyValue,
  booleanValue,
  eitherOf,
  functionValue,
  stringValue,
  valueThat,
  type OptionChecks,
} from '@quiver/core/options';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool, type AnyRequestContext, type Tool, type ToolContext, type ToolExecute } from '@quiver/core/tools';
import type { EmbedderInput } from '../embedding/index.js';
import { bothFilters, checkFilter } from '../filter/index.js';
import { expandPassages, expandValue, type MergedRecord, type PassageExpansion } from '../passages/expand-passages.js';
import { toChunks } from '../passages/query-chunks.js';
import { rerankConfigValue, type RerankConfig } from '../rerank/rerank.js';
import { invalidArgument, recordText, vectorOfKey } from '../store/check-arguments.js';
import { diversityValue, fusionValue, modeValue, objectsByName, objectValue, topKValue } from '../store/options.js';
import { isScoped, readTrustedFilter, trustedFilterChecks, type TrustedFilterOptions } from '../store/scope.js';
import type {
  DiversityOptions,
  FusionWeights,
  QueryMode,
  VectorFilter,
  VectorMetadata,
  VectorRecord,
  VectorStore,
} from '../store/index.js';
import type { DatabaseConfig } from './database-config.js';
import { queryInputSchema } from './query-schemas.js';

/** Chooses the store for a call, for example by the tenant in the request context. */
export type VectorStoreResolver = (options: {
  requestContext?: AnyRequestContext;
  /** Registry that the caller of the tool passed. */
  mastra?: unknown;
}) => VectorStore | Promise<VectorStore>;

/** Stores by name, for example a `Mastra` instance. */
export interface VectorStoreRegistry {
  /** Returns a `VectorStore`, or a promise of one. */
  getVector(name: string): unknown;
}

/** Options of `createVectorQueryTool()`. The filter of the request context and that of the model narrow `filter` and `scope` further. */
export interface VectorQueryToolOptions extends TrustedFilterOptions {
  /** Default `VectorQuery <vectorStoreName> <indexName> Tool`. */
  id?: string;
  /** Description of the tool for models. */
  description?: string;
  indexName: string;
  /** Embedder of the query; must be the one of the index. */
  model: EmbedderInput;
  /**
   * A store, a function that chooses one for each call, or a registry of stores by `vectorStoreName`. Default: the registry
   * `mastra` in the options of the call, or under that key in the request context.
   */
  vectorStore?: VectorStore | VectorStoreResolver | VectorStoreRegistry;
  /** Name of the store in a registry, and part of the default id. The request context overrides it. */
  vectorStoreName?: string;
  /** Vector search, keyword search, or both (`hybrid`). Default `vector`. A store without the mode throws. */
  mode?: QueryMode;
  /** Weights of the two rankings of `hybrid`. Default 1 each, or the recommendation of the embedder for its vectors. */
  fusion?: FusionWeights;
  /** Prefers passages that differ from each other. Default: the best passages. */
  diversity?: DiversityOptions;
  /** Returns the sections or neighbors of the passages that match, merged where they touch. Default: the passages themselves. */
  expand?: PassageExpansion;
  /** Number of passages of a call that names none. Default 10, or `maxTopK` if that is less. */
  topK?: number;
  /** Largest number of passages that a call receives; larger requests are reduced to it. Default 50, or `topK` if that is more. */
  maxTopK?: number;
  /** Lets the model filter by metadata. Default `false`. */
  enableFilter?: boolean;
  /** Metadata fields for filters of the model, each with a description that the model receives. */
  filterFields?: Readonly<Record<string, string>>;
  /** Whether to return the passages as `sources` in addition to their text. Default `true`. */
  includeSources?: boolean;
  /** Whether to return the vectors of the sources. Default `false`. */
  includeVectors?: boolean;
  databaseConfig?: DatabaseConfig;
  /** Model that sorts the passages. Its `topK` is that of the query by default. */
  reranker?: RerankConfig;
  /** Options of the embedding model. */
  providerOptions?: Record<string, Record<string, unknown>>;
}

/** Options of every query tool. In the mode `filter` there is no ranking. */
export interface QueryToolOptions extends Omit<VectorQueryToolOptions, 'mode'> {
  mode?: QueryMode | 'filter';
}

/** Checks of the options that all query tools have. */
export const queryToolChecks: OptionChecks<
  Omit<VectorQueryToolOptions, 'mode' | 'diversity' | 'includeVectors' | 'reranker'>
> = {
  vectorStore: eitherOf('a vector store, a registry with getVector(name), or a function', functionValue, objectValue),
  vectorStoreName: stringValue,
  indexName: stringValue,
  model: anyValue,
  id: stringValue,
  description: stringValue,
  ...trustedFilterChecks,
  topK: topKValue,
  maxTopK: topKValue,
  enableFilter: booleanValue,
  filterFields: valueThat(
    (value) => Object.values(value ?? {}).every((meaning) => typeof meaning === 'string'),
    'an object of descriptions by field',
  ),
  fusion: fusionValue,
  expand: expandValue,
  includeSources: booleanValue,
  databaseConfig: objectsByName,
  providerOptions: objectsByName,
};

/** Checks of the options of vector query tools. */
export const vectorQueryToolChecks: OptionChecks<VectorQueryToolOptions> = {
  ...queryToolChecks,
  mode: modeValue,
  diversity: diversityValue,
  includeVectors: booleanValue,
  reranker: rerankConfigValue,
};

/** Input of a query tool. */
export interface VectorQueryInput {
  queryText: string;
  /** Number of passages. Default and maximum: `topK` and `maxTopK` of the tool, 10 and 50. Fractions are rounded down. */
  topK?: number;
  /** Filter as an object or as JSON text, if filters are enabled. */
  filter?: VectorFilter | string;
}

/** Input of a tool with the mode `filter`. */
export interface RecordListInput {
  /** Filter as an object or as JSON text. Default: all records. */
  filter?: VectorFilter | string;
  /** Number of records per page. Default and maximum: `topK` and `maxTopK` of the tool, 10 and 50. Fractions are rounded down. */
  topK?: number;
  /** `nextCursor` of the previous page, which had the same filter. */
  cursor?: string;
}

/** A passage. */
export interface QueryResult {
  id: string;
  metadata: VectorMetadata;
  /** Empty unless `includeVectors` is set. */
  vector: number[];
  /** In [0, 1], larger is better; 1 in the mode `filter`. */
  score: number;
  /** Text of the passage; empty if the store has none. */
  document: string;
  /** With `expand`: records that the passage consists of, in the order of their source. */
  records?: MergedRecord[];
}

const defaultTopK = 10;
const defaultMaxTopK = 50;
/** The request context, which the application writes, may exceed `maxTopK` up to this number. */
const maxTopKOfContext = 1000;

type CallSetting = 'providerOptions' | 'mode' | 'fusion' | 'diversity' | 'reranker' | 'expand' | 'includeVectors';

type CallSettings = { readonly [Setting in CallSetting]: QueryToolOptions[Setting] | undefined };

/** A call of a query tool: its input, and the options of the tool, overridden by the request context. */
export interface QueryCall extends CallSettings, Pick<QueryToolOptions, 'indexName' | 'model'> {
  readonly store: VectorStore;
  readonly queryText: string;
  readonly topK: number;
  /** Position of a page of records; absent for the first one. */
  readonly cursor: string | undefined;
  /** Filter of the application; always applies. */
  readonly trustedFilter: VectorFilter;
  /** Filter of the model, if filters are enabled: it can narrow the search, never widen it. */
  readonly modelFilter: VectorFilter;
  /** Settings of the store. */
  readonly databaseConfig: object | undefined;
  readonly requestContext: AnyRequestContext;
  readonly signal: AbortSignal | undefined;
}

export interface QueryToolDefinition<Output extends { sources: readonly QueryResult[] }> {
  readonly options: QueryToolOptions;
  /** Beginning of the default id. */
  readonly name: string;
  /** Default description. */
  readonly description: string;
  readonly outputSchema: JsonSchema;
  /** Returns the error for a failure of the store or the model. */
  readonly toFailure: (indexName: string, cause: unknown) => QuiverError;
  readonly query: (call: QueryCall) => Promise<Omit<Output, 'relevantContext'>>;
}

/** Creates a tool that returns passages of an index. */
export function createQueryTool<Output extends { relevantContext: string; sources: readonly QueryResult[] }>(
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
    execute: async (input: VectorQueryInput, context): Promise<Output> => {
      const call = await resolveCall({ options, limits, trusted }, input, context);
      try {
        const result = await (channel.isActive ? traceQuery(name, call, query) : query(call));
        if (options.scope !== 'all') warnOfMissingFilter(call, result.sources);
        const chunks = result.sources.some(isFurtherVector) ? await sourceChunks(call, result.sources) : result.sources;
        const sources = call.expand === undefined ? chunks : await expandSources(call, chunks);
        const texts = sources.map(({ document }) => document).filter((text) => text !== '');
        const isIncluded = settingOf(options, context.requestContext, 'includeSources') ?? true;
        return {
          relevantContext: texts.join('\n\n'),
          ...result,
          sources: isIncluded ? sources : [],
        } as unknown as Output;
      } catch (error) {
        if (isQuiverError(error) || call.signal?.aborted) throw error;
        throw toFailure(call.indexName, error);
      }
    },
  });
}

const channel = traceChannels['quiver:retrieval'];

function traceQuery<Result extends { readonly sources: readonly QueryResult[] }>(
  kind: string,
  call: QueryCall,
  query: (call: QueryCall) => Promise<Result>,
): Promise<Result> {
  const { indexName, queryText, topK } = call;
  const event: RetrievalTraceEvent = { type: 'retrieval', operation: 'query', indexName, kind, queryText, topK };
  return channel.trace(event, async () => {
    const result = await query(call);
    event.documents = result.sources;
    return result;
  });
}

/** Indexes with a warning, by their store, each at most once. They live as long as their store. */
const warned = new WeakMap<VectorStore, Set<string>>();

/** Blocks of `databaseConfig` have their own conditions: `where` of Chroma, `namespace` of Pinecone. */
const restrictions = ['where', 'namespace'] as const;

/** A model could read the documents of every owner. The results tell so without a request. */
function warnOfMissingFilter(call: QueryCall, sources: readonly QueryResult[]): void {
  const { store, indexName, trustedFilter, databaseConfig } = call;
  const isRestricted = restrictions.some((name) => (databaseConfig as Record<string, unknown> | undefined)?.[name]);
  if (isRestricted || Object.keys(trustedFilter ?? {}).length > 0) return;
  const scoped = sources.find(isScoped);
  if (!scoped || warned.get(store)?.has(indexName)) return;
  warned.set(store, (warned.get(store) ?? new Set()).add(indexName));
  const keys = String(scoped.metadata['scopeKeys']).split('.');
  const example = keys.map((key) => `${key}: …`).join(', ');
  getDefaultLogger().warn(
    `A query tool returned documents of the index '${indexName}', whose owners are separated by the scope { ${keys.join(', ')} }, without a filter of the application: it finds the documents of every owner. Pass scope: { ${example} } to the tool, or set a filter for each call: requestContext.set('filter', { ${example} }). If the tool may return all documents, pass scope: 'all'.`,
  );
}

/** Whether a record has a further vector of a chunk, see `ChunkVectors`. */
export function isFurtherVector({ metadata }: Pick<VectorRecord, 'metadata'>): boolean {
  return metadata[vectorOfKey] !== undefined;
}

function sourceChunks(call: QueryCall, sources: readonly QueryResult[]): Promise<QueryResult[]> {
  const { store, indexName, databaseConfig, trustedFilter, modelFilter, signal } = call;
  const filter = bothFilters(trustedFilter, modelFilter);
  return toChunks(store, { ...databaseConfig, indexName, filter, ...(signal && { signal }) }, sources);
}

/** Neighbors have to match the filter of the application. The filter of the model chooses the passages that they surround. */
function expandSources(call: QueryCall, sources: readonly QueryResult[]): Promise<QueryResult[]> {
  const { store, indexName, databaseConfig, signal } = call;
  return expandPassages(sources, {
    store,
    indexName,
    expand: call.expand as PassageExpansion,
    filter: call.trustedFilter,
    databaseConfig: { [store.databaseConfigKey]: databaseConfig },
    ...(signal && { signal }),
  });
}

/** Converts a record of a store to a passage. */
export function toQueryResult(record: VectorRecord, score: number): QueryResult {
  const { id, metadata, vector = [] } = record;
  return { id, metadata, vector, score, document: recordText(record) };
}

/** Numbers of passages. */
interface Limits {
  readonly topK: number;
  readonly maxTopK: number;
}

/** @throws `VECTOR_ARGUMENT_INVALID` for a default above the maximum */
function readLimits({ topK, maxTopK = Math.max(defaultMaxTopK, topK ?? 0) }: QueryToolOptions): Limits {
  if (topK !== undefined && topK > maxTopK)
    throw invalidArgument(`topK must be at most maxTopK (${maxTopK}), not ${topK}.`);
  return { topK: topK ?? Math.min(defaultTopK, maxTopK), maxTopK };
}

/** A tool that was created. */
interface CreatedTool {
  readonly options: QueryToolOptions;
  readonly limits: Limits;
  readonly trusted: VectorFilter;
}

/**
 * Merges the options of the tool with the input and the request context, which takes precedence.
 *
 * @throws `VECTOR_STORE_MISSING`; `VECTOR_ARGUMENT_INVALID` for an invalid `topK`; `FILTER_INVALID` for an invalid filter. In the request
 *   context `undefined` is an invalid filter, too: an unknown tenant must not open all tenants.
 */
async function resolveCall(
  { options, limits, trusted }: CreatedTool,
  { queryText, topK, filter, cursor }: VectorQueryInput & RecordListInput,
  context: ToolContext,
): Promise<QueryCall> {
  const { requestContext, abortSignal: signal } = context;
  const setting = <Key extends keyof QueryToolOptions>(key: Key): QueryToolOptions[Key] =>
    settingOf(options, requestContext, key);
  const trustedFilter = requestContext.has('filter')
    ? bothFilters(trusted, checkFilter(requestContext.get('filter')))
    : trusted;
  const store = await resolveStore(options, context);
  const hasModelFilter = hasFilters(options) && filter !== undefined && filter !== null;
  return {
    store,
    queryText,
    indexName: setting('indexName') ?? options.indexName,
    model: setting('model') ?? options.model,
    includeVectors: setting('includeVectors'),
    databaseConfig: (setting('databaseConfig') ?? {})[store.databaseConfigKey],
    providerOptions: setting('providerOptions'),
    mode: setting('mode'),
    fusion: setting('fusion'),
    diversity: setting('diversity'),
    reranker: setting('reranker'),
    expand: setting('expand'),
    topK: resolveTopK(requestContext.get('topK'), topK, limits),
    cursor,
    trustedFilter,
    modelFilter: hasModelFilter ? checkFilter(filter) : undefined,
    requestContext,
    signal,
  };
}

function hasFilters({ enableFilter, mode }: Pick<QueryToolOptions, 'enableFilter' | 'mode'>): boolean {
  return enableFilter ?? mode === 'filter';
}

function settingOf<Key extends keyof QueryToolOptions>(
  options: QueryToolOptions,
  requestContext: AnyRequestContext,
  key: Key,
): QueryToolOptions[Key] {
  return requestContext.has(key) ? (requestContext.get(key) as QueryToolOptions[Key]) : options[key];
}

/** Returns a whole number. @throws `VECTOR_ARGUMENT_INVALID` for anything that is not a number of at least 1 */
function resolveTopK(ofContext: unknown, ofInput: number | null | undefined, { topK, maxTopK }: Limits): number {
  const given = ofContext ?? ofInput ?? topK;
  const wanted = Math.floor(Number(given));
  if (!(wanted >= 1)) throw invalidArgument(`topK must be at least 1, not ${String(given)}.`);
  return Math.min(wanted, (ofContext ?? null) === null ? maxTopK : Math.max(maxTopK, maxTopKOfContext));
}

/**
 * Returns the store of a call: `vectorStore`, or the store of that name in a registry.
 *
 * @throws `VECTOR_STORE_MISSING` without a store, and when the registry has none of that name
 */
async function resolveStore(
  { vectorStore, vectorStoreName }: QueryToolOptions,
  { requestContext, mastra }: Pick<ToolContext, 'requestContext' | 'mastra'>,
): Promise<VectorStore> {
  const name = (requestContext.get('vectorStoreName') as string | undefined) ?? vectorStoreName;
  if (typeof vectorStore === 'function') {
    const store = await vectorStore({ requestContext, mastra });
    if (store) return store;
  } else if (vectorStore && !isRegistry(vectorStore)) {
    return vectorStore;
  } else {
    const registry = [vectorStore, mastra, requestContext.get('mastra') as unknown].find(isRegistry);
    if (registry && name !== undefined) return findStore(registry, name);
  }
  throw new QuiverError(
    'VECTOR_STORE_MISSING',
    `The query tool has no vector store${name === undefined ? '' : ` for the name '${name}'`}. Pass vectorStore: a store, a registry with getVector(name), or a function that chooses a store, such as ({ requestContext }) => stores[requestContext.get('vectorStoreName')].`,
  );
}

function isRegistry(value: unknown): value is VectorStoreRegistry {
  const { getVector, query } = (value ?? {}) as Partial<VectorStoreRegistry & VectorStore>;
  return typeof getVector === 'function' && typeof query !== 'function';
}

async function findStore(registry: VectorStoreRegistry, name: string): Promise<VectorStore> {
  let cause: unknown;
  try {
    const store = (await registry.getVector(name)) as VectorStore | null | undefined;
    if (typeof store?.query === 'function') return store;
  } catch (error) {
    cause = error;
  }
  throw new QuiverError(
    'VECTOR_STORE_MISSING',
    `getVector('${name}') returned no vector store${cause === undefined ? '' : `: ${toErrorMessage(cause)}`}. Register a store of @quiver/rag under this name, or pass vectorStore to the tool.`,
    { cause },
  );
}
