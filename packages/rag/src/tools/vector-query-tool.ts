import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import { createTool, type AnyRequestContext, type Tool, type ToolCallOptions } from '@quiver/core/tools';
import { toEmbedder, type EmbedderInput } from '../embedding/index.js';
import { parseFilter } from '../filter/index.js';
import type { VectorFilter, VectorMatch, VectorMetadata, VectorStore } from '../store/index.js';

/** Settings of particular stores, by the name of their block; a store receives its own block and nothing else. */
export type DatabaseConfig = Record<string, Record<string, unknown>>;

/** Chooses the store for a call, for example by the tenant in the request context. */
export type VectorStoreResolver = (options: {
  requestContext?: AnyRequestContext;
}) => VectorStore | Promise<VectorStore>;

export interface VectorQueryToolOptions {
  /** Default `VectorQuery <vectorStoreName> <indexName> Tool`. */
  id?: string;
  /** Tells a model when to use the tool. */
  description?: string;
  indexName: string;
  /** Turns the question into a vector; must be what the index was made with. */
  model: EmbedderInput;
  /** A store, or a function that chooses one for each call. */
  vectorStore?: VectorStore | VectorStoreResolver;
  /** Only part of the default id; the store itself is `vectorStore`. */
  vectorStoreName?: string;
  /** Lets the model filter by metadata. Default `false`. */
  enableFilter?: boolean;
  /** Returns the passages as `sources` beside their text. Default `true`. */
  includeSources?: boolean;
  /** Returns the vectors of the sources. Default `false`. */
  includeVectors?: boolean;
  databaseConfig?: DatabaseConfig;
  /** Passed on to the embedding model. */
  providerOptions?: Record<string, Record<string, unknown>>;
}

export interface VectorQueryInput {
  queryText: string;
  /** Passages wanted. Default 10; fractions are rounded down, more than 1,000 are never returned. */
  topK?: number;
  /** Only when filters are enabled: an object, or JSON text of one. */
  filter?: VectorFilter | string;
}

/** A passage. */
export interface QueryResult {
  id: string;
  metadata: VectorMetadata;
  /** Empty unless vectors were asked for. */
  vector: number[];
  /** In [0, 1], larger is better. */
  score: number;
  /** The text of the passage; empty if the store holds none. */
  document: string;
}

export interface VectorQueryOutput {
  /** The texts of all passages, best first, separated by blank lines. */
  relevantContext: string;
  sources: QueryResult[];
}

export interface VectorQueryTool extends Omit<Tool<JsonSchema, JsonSchema, VectorQueryOutput>, 'execute'> {
  readonly execute: (input: VectorQueryInput, options?: ToolCallOptions) => Promise<VectorQueryOutput>;
}

const defaultTopK = 10;
const maxTopK = 1000;

/**
 * A tool that answers a question with the nearest passages of an index.
 *
 * The request context overrides what was set here: `indexName`, `topK`, `filter`, `includeVectors`, `includeSources`,
 * `databaseConfig`, `model`, `providerOptions`. A filter in the request context always applies; what the model filters by is added.
 *
 * @throws (from `execute`) `VECTOR_STORE_MISSING`; `FILTER_INVALID`; `VECTOR_QUERY_FAILED` with the cause when store or
 *   embedding model fail. A failure is never an empty result.
 * @example
 * const searchDocs = createVectorQueryTool({ vectorStore: store, indexName: 'docs', model: 'openai/text-embedding-3-small' });
 * const { sources } = await searchDocs.execute({ queryText: 'How do I install it?', topK: 3 });
 */
export function createVectorQueryTool(options: VectorQueryToolOptions): VectorQueryTool {
  const { vectorStoreName = 'DirectVectorStore', indexName, enableFilter = false } = options;
  return createTool({
    id: options.id ?? `VectorQuery ${vectorStoreName} ${indexName} Tool`,
    description: options.description ?? defaultDescription,
    inputSchema: inputSchema(enableFilter),
    outputSchema,
    mcp: { annotations: { readOnlyHint: true, openWorldHint: false } },
    execute: async (input: VectorQueryInput, { requestContext, abortSignal }): Promise<VectorQueryOutput> => {
      const settings = resolveSettings(options, requestContext);
      const store = await resolveStore(options, requestContext);
      try {
        const matches = await queryStore(store, settings, input, abortSignal);
        const sources = matches.map(toQueryResult);
        const relevantContext = sources
          .map(({ document }) => document)
          .filter((text) => text !== '')
          .join('\n\n');
        return { relevantContext, sources: settings.includeSources ? sources : [] };
      } catch (error) {
        if (isQuiverError(error) || abortSignal?.aborted) throw error;
        throw new QuiverError(
          'VECTOR_QUERY_FAILED',
          `The query of index '${settings.indexName}' failed: ${toErrorMessage(error)}`,
          { cause: error },
        );
      }
    },
  });
}

const defaultDescription =
  'Searches the knowledge base for passages that are related to a question. Use it to answer questions from stored documents and to look up facts; ask in full sentences or with the words that the documents would use.';

interface QuerySettings extends Required<
  Pick<VectorQueryToolOptions, 'indexName' | 'model' | 'includeSources' | 'includeVectors' | 'databaseConfig'>
> {
  readonly providerOptions: VectorQueryToolOptions['providerOptions'];
  readonly topK: number | undefined;
  readonly trustedFilter: VectorFilter | string;
  readonly enableFilter: boolean;
}

/** What the application put into the request context wins over what was set at creation. */
function resolveSettings(options: VectorQueryToolOptions, requestContext: AnyRequestContext): QuerySettings {
  const setting = <Key extends keyof VectorQueryToolOptions>(key: Key): VectorQueryToolOptions[Key] =>
    requestContext.has(key) ? (requestContext.get(key) as VectorQueryToolOptions[Key]) : options[key];
  return {
    indexName: setting('indexName') ?? options.indexName,
    model: setting('model') ?? options.model,
    includeSources: setting('includeSources') ?? true,
    includeVectors: setting('includeVectors') ?? false,
    databaseConfig: setting('databaseConfig') ?? {},
    providerOptions: setting('providerOptions'),
    enableFilter: options.enableFilter ?? false,
    topK: requestContext.get('topK') as number | undefined,
    trustedFilter: requestContext.get('filter') as VectorFilter | string,
  };
}

async function resolveStore(
  { vectorStore, vectorStoreName }: VectorQueryToolOptions,
  requestContext: AnyRequestContext,
): Promise<VectorStore> {
  const store = typeof vectorStore === 'function' ? await vectorStore({ requestContext }) : vectorStore;
  if (store) return store;
  const name = (requestContext.get('vectorStoreName') as string | undefined) ?? vectorStoreName;
  throw new QuiverError(
    'VECTOR_STORE_MISSING',
    `The query tool has no vector store${name === undefined ? '' : ` for the name '${name}'`}. Pass vectorStore: a store, or a function that chooses one, such as ({ requestContext }) => stores[requestContext.get('vectorStoreName')].`,
  );
}

async function queryStore(
  store: VectorStore,
  {
    indexName,
    model,
    includeVectors,
    databaseConfig,
    providerOptions,
    topK,
    trustedFilter,
    enableFilter,
  }: QuerySettings,
  input: VectorQueryInput,
  signal: AbortSignal | undefined,
): Promise<VectorMatch[]> {
  const filters = [trustedFilter, enableFilter ? input.filter : undefined]
    .map(toFilterObject)
    .filter((filter) => filter != null);
  const embedder = toEmbedder(model, { ...(providerOptions && { providerOptions }) });
  const [queryVector] = await embedder.embed([input.queryText], { purpose: 'query', ...(signal && { signal }) });
  return store.query({
    ...databaseConfig[store.databaseConfigKey],
    indexName,
    queryVector: queryVector ?? [],
    topK: requireTopK(topK ?? input.topK ?? defaultTopK),
    // The application's filter is a limit that a model cannot widen, so both apply.
    filter: filters.length > 1 ? { $and: filters } : filters[0],
    includeVector: includeVectors,
  });
}

/** Checked before it is sent anywhere. @throws `FILTER_INVALID` */
function toFilterObject(filter: VectorFilter | string): VectorFilter {
  if (filter === undefined || filter === null) return undefined;
  parseFilter(filter);
  return typeof filter === 'string' ? (JSON.parse(filter) as VectorFilter) : filter;
}

function requireTopK(topK: unknown): number {
  const wanted = Math.floor(Number(topK));
  if (!(wanted >= 1)) throw new QuiverError('VECTOR_ARGUMENT_INVALID', `topK must be at least 1, not ${String(topK)}.`);
  return Math.min(wanted, maxTopK);
}

const textKeys = ['text', 'content', 'pageContent', 'document'];

function toQueryResult({ id, metadata, vector, score, document }: VectorMatch): QueryResult {
  const key = textKeys.find((name) => typeof metadata[name] === 'string');
  return {
    id,
    metadata,
    vector: vector ?? [],
    score,
    document: document ?? (key === undefined ? '' : (metadata[key] as string)),
  };
}

function inputSchema(enableFilter: boolean): JsonSchema {
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
          description:
            'Restricts the search to passages whose metadata match, for example {"version": {"$gte": 2}, "lang": {"$in": ["en", "de"]}}. Operators: $eq $ne $gt $gte $lt $lte $in $nin $all $exists $contains $regex $elemMatch $size, combined by $and $or $not $nor.',
        },
      }),
    },
    required: ['queryText'],
    additionalProperties: false,
  };
}

const outputSchema: JsonSchema = {
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
        },
        required: ['id', 'metadata', 'vector', 'score', 'document'],
      },
    },
  },
  required: ['relevantContext', 'sources'],
};
