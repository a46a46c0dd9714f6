import { QuiverError, toErrorMessage } from '@quiver/core';
import type { AnyRequestContext, ToolContext } from '@quiver/core/tools';
import type { EmbedderInput } from '../embedding/index.js';
import { bothFilters, checkFilter } from '../filter/index.js';
import type { RerankConfig } from '../rerank/rerank.js';
import type { DiversityOptions, FusionWeights, QueryMode, VectorFilter, VectorStore } from '../store/index.js';
import type { DatabaseConfig } from './database-config.js';

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

export interface VectorQueryToolOptions {
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

export const defaultTopK = 10;
const maxTopK = 1000;

/** Settings of one call: the options of the tool, overridden by the request context. */
export interface QuerySettings extends Required<
  Pick<VectorQueryToolOptions, 'indexName' | 'model' | 'includeSources' | 'includeVectors' | 'databaseConfig'>
> {
  readonly providerOptions: VectorQueryToolOptions['providerOptions'];
  readonly mode: QueryMode;
  readonly fusion: FusionWeights | undefined;
  readonly diversity: DiversityOptions | undefined;
  readonly reranker: RerankConfig | undefined;
  readonly topK: unknown;
  readonly enableFilter: boolean;
  /** Filter of the application; always applies. */
  readonly trustedFilter: VectorFilter;
}

/**
 * Merges the options of the tool with the request context, which takes precedence.
 *
 * @throws `FILTER_INVALID` when the request context holds an invalid filter. `undefined` is invalid, too: an
 *   unknown tenant must not open all tenants.
 */
export function resolveSettings(options: VectorQueryToolOptions, requestContext: AnyRequestContext): QuerySettings {
  const setting = <Key extends keyof VectorQueryToolOptions>(key: Key): VectorQueryToolOptions[Key] =>
    requestContext.has(key) ? (requestContext.get(key) as VectorQueryToolOptions[Key]) : options[key];
  return {
    indexName: setting('indexName') ?? options.indexName,
    model: setting('model') ?? options.model,
    includeSources: setting('includeSources') ?? true,
    includeVectors: setting('includeVectors') ?? false,
    databaseConfig: setting('databaseConfig') ?? {},
    providerOptions: setting('providerOptions'),
    mode: setting('mode') ?? 'vector',
    fusion: setting('fusion'),
    diversity: setting('diversity'),
    reranker: setting('reranker'),
    topK: requestContext.get('topK') as unknown,
    enableFilter: options.enableFilter ?? false,
    trustedFilter: requestContext.has('filter') ? checkFilter(requestContext.get('filter')) : undefined,
  };
}

/** Returns the filter of the model, if filters are enabled. */
export function resolveModelFilter({ enableFilter }: QuerySettings, filter: VectorFilter | string): VectorFilter {
  return enableFilter && filter !== undefined && filter !== null ? checkFilter(filter) : undefined;
}

/** Combines the filters of the application and the model: the model can narrow the search, never widen it. */
export function resolveFilter(settings: QuerySettings, filter: VectorFilter | string): VectorFilter {
  return bothFilters(settings.trustedFilter, resolveModelFilter(settings, filter));
}

/**
 * Returns `topK` of the application, otherwise of the model, as a whole number of at most 1,000.
 *
 * @throws `VECTOR_ARGUMENT_INVALID` for anything that is not a number of at least 1
 */
export function resolveTopK({ topK: set }: QuerySettings, asked: number | undefined): number {
  const topK = set ?? asked ?? defaultTopK;
  const wanted = Math.floor(Number(topK));
  if (!(wanted >= 1)) throw new QuiverError('VECTOR_ARGUMENT_INVALID', `topK must be at least 1, not ${String(topK)}.`);
  return Math.min(wanted, maxTopK);
}

/**
 * Returns the store of a call: `vectorStore`, or the store of that name in a registry.
 *
 * @throws `VECTOR_STORE_MISSING` without a store, and when the registry has none of that name
 */
export async function resolveStore(
  { vectorStore, vectorStoreName }: VectorQueryToolOptions,
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
