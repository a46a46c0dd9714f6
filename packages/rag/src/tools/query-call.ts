import { QuiverError, toErrorMessage } from '@quiver/core';
import type { AnyRequestContext, ToolContext } from '@quiver/core/tools';
import { checkOptions, invalidOptions } from '@quiver/core/internal';
import { canonicalJson } from '../document/content-hash.js';
import { toEmbedder, type Embedder, type EmbedderInput } from '../embedding/index.js';
import { bothFilters, checkFilter, type CheckedFilter } from '../filter/index.js';
import { checkQuestion, Question } from '../search/question.js';
import { defaultTopK } from '../store/options.js';
import type { VectorFilter, VectorStore } from '../store/index.js';
import { parseScope, toIndexRead, toScopeFilter, type IndexRead, type RunScope } from '../store/scope.js';
import { type ModelFilter, readModelFilter } from './model-filter.js';
import {
  isRegistry,
  isStore,
  vectorQueryToolChecks,
  type QueryToolOptions,
  type VectorQueryToolOptions,
  type VectorStoreRegistry,
} from './query-tool-options.js';

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

const defaultMaxTopK = 50;
/** The request context, which the application writes, may exceed `maxTopK` up to this number. */
const maxTopKOfContext = 1000;

/** Options of the tool that the request context overrides. */
const contextOptions = [
  'vectorStoreName',
  'indexName',
  'databaseConfig',
  'model',
  'providerOptions',
  'mode',
  'fusion',
  'mmr',
  'reranker',
  'expand',
  'maxTokens',
  'minConfidence',
  'includeSources',
  'includeVectors',
] as const;

/** A call of a query tool: its input, and the options of the tool, overridden by the request context. */
export interface QueryCall extends Pick<QueryToolOptions, (typeof contextOptions)[number]> {
  readonly store: VectorStore;
  readonly queryText: string;
  /** The same; empty in the mode `filter`. */
  readonly question: Question;
  readonly topK: number;
  /** Position of a page of records; absent for the first one. */
  readonly cursor: string | undefined;
  /** The records that the application allows. */
  readonly allowed: IndexRead;
  /** The owner whose records these are. */
  readonly scope: RunScope;
  /** Filter of the model, if filters are enabled. */
  readonly modelFilter: ModelFilter | undefined;
  /** The records that match both filters: that of the model can narrow the search, never widen it. */
  readonly read: IndexRead;
  readonly requestContext: AnyRequestContext;
  /** Embedder of the model. @throws in the mode `filter`, which lacks it */
  readonly embedder: () => Embedder;
}

/** Numbers of passages. */
export interface Limits {
  readonly topK: number;
  readonly maxTopK: number;
}

/** @throws `OPTIONS_INVALID` for a default above the maximum */
export function readLimits({ topK, maxTopK = Math.max(defaultMaxTopK, topK ?? 0) }: QueryToolOptions): Limits {
  if (topK !== undefined && topK > maxTopK)
    throw invalidOptions(`topK must be at most maxTopK (${maxTopK}), not ${topK}.`);
  return { topK: topK ?? Math.min(defaultTopK, maxTopK), maxTopK };
}

interface CreatedTool {
  readonly options: QueryToolOptions;
  readonly limits: Limits;
  readonly trusted: CheckedFilter | undefined;
  readonly embedderOf: EmbedderOf;
}

type EmbedderOf = (call: Pick<QueryToolOptions, 'model' | 'providerOptions'>) => Embedder;

const maxEmbedders = 16;

/**
 * Returns the embedders of a tool. All calls with one model share one, so that its limit of parallel requests holds. At most 16 are kept; the
 * oldest is evicted.
 */
export function createEmbedderOf(): EmbedderOf {
  const known: { model: EmbedderInput; options: string; embedder: Embedder }[] = [];
  return ({ model, providerOptions }) => {
    const options = canonicalJson(providerOptions ?? {});
    const found = known.find((one) => one.model === model && one.options === options);
    if (found) return found.embedder;
    const embedder = toEmbedder(model, { providerOptions });
    if (known.push({ model, options, embedder }) > maxEmbedders) known.shift();
    return embedder;
  };
}

/**
 * Merges the options of the tool with the input and the request context, which takes precedence.
 *
 * @throws `VECTOR_STORE_MISSING`; `OPTIONS_INVALID` for an invalid `topK`, question or scope; `FILTER_INVALID` for an invalid filter.
 *   In the request context `undefined` is invalid, too: an unknown tenant must not open all tenants.
 */
export async function resolveCall(
  { options, limits, trusted, embedderOf }: CreatedTool,
  { queryText, topK, filter, cursor }: VectorQueryInput & RecordListInput,
  context: ToolContext,
): Promise<QueryCall> {
  const { requestContext, abortSignal: signal } = context;
  if (options.mode !== 'filter') checkQuestion(queryText, options.maxQuestionLength);
  const settings = resolveSettings(options, requestContext);
  const ofContext = requestContext.has('filter') ? checkFilter(requestContext.get('filter')) : undefined;
  // `null`: an unknown scope is invalid, as an unknown filter is.
  const scopeOfContext = requestContext.has('scope') ? parseScope(requestContext.get('scope') ?? null) : undefined;
  const trustedFilter = bothFilters(trusted, bothFilters(ofContext, toScopeFilter(scopeOfContext)));
  const store = await resolveStore(settings, context);
  const { indexName, databaseConfig } = settings;
  const allowed = toIndexRead(store, { indexName, databaseConfig, filter: trustedFilter, signal });
  const scope = scopeOfContext ?? parseScope(options.scope);
  const hasModelFilter = hasFilters(options) && filter !== undefined && filter !== null;
  const scoped = { store, read: allowed, scope };
  const modelFilter = hasModelFilter ? await readModelFilter(filter, options.filterFields, scoped) : undefined;
  return {
    ...settings,
    // A list stays one: its input has no question.
    ...(options.mode === 'filter' && { mode: options.mode }),
    store,
    allowed,
    scope,
    modelFilter,
    read: { ...allowed, filter: bothFilters(trustedFilter, modelFilter?.filter) },
    queryText,
    question: new Question(queryText ?? ''),
    topK: resolveTopK(requestContext.get('topK'), topK, limits),
    cursor,
    requestContext,
    embedder: () => embedderOf(settings),
  };
}

export function hasFilters(options: Pick<QueryToolOptions, 'enableFilter' | 'filterFields' | 'mode'>): boolean {
  return options.enableFilter ?? (options.mode === 'filter' || options.filterFields !== undefined);
}

/** Returns the options of the tool, with those that the request context has. @throws `OPTIONS_INVALID` */
function resolveSettings(options: QueryToolOptions, requestContext: AnyRequestContext): QueryToolOptions {
  const given = contextOptions.map((key) => [key, requestContext.get(key) as unknown] as const);
  const ofContext: Partial<VectorQueryToolOptions> = Object.fromEntries(
    given.filter(([, value]) => value !== undefined),
  );
  checkOptions<object>('The request context of a query tool', ofContext, vectorQueryToolChecks);
  return { ...options, ...ofContext };
}

/** Returns a whole number. @throws `OPTIONS_INVALID` for anything that is not a number of at least 1 */
function resolveTopK(ofContext: unknown, ofInput: number | null | undefined, { topK, maxTopK }: Limits): number {
  const given = ofContext ?? ofInput ?? topK;
  const wanted = Math.floor(Number(given));
  if (!(wanted >= 1)) throw invalidOptions(`topK must be at least 1, not ${String(given)}.`);
  return Math.min(wanted, (ofContext ?? null) === null ? maxTopK : Math.max(maxTopK, maxTopKOfContext));
}

/**
 * Returns the store of a call: `vectorStore`, or the store of that name in a registry.
 *
 * @throws `VECTOR_STORE_MISSING` without a store, and when the registry has none of that name
 */
async function resolveStore(
  { vectorStore, vectorStoreName: name }: QueryToolOptions,
  { requestContext, mastra }: Pick<ToolContext, 'requestContext' | 'mastra'>,
): Promise<VectorStore> {
  if (typeof vectorStore === 'function') {
    const store = await vectorStore({ requestContext, mastra });
    if (isStore(store)) return store;
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

async function findStore(registry: VectorStoreRegistry, name: string): Promise<VectorStore> {
  let cause: unknown;
  try {
    const store = await registry.getVector(name);
    if (isStore(store)) return store;
  } catch (error) {
    cause = error;
  }
  throw new QuiverError(
    'VECTOR_STORE_MISSING',
    `getVector('${name}') returned no vector store${cause === undefined ? '' : `: ${toErrorMessage(cause)}`}. Register a store of @quiver/rag under this name, or pass vectorStore to the tool.`,
    { cause },
  );
}
