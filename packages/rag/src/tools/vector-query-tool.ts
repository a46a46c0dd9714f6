import { QuiverError, toErrorMessage } from '@quiver/core';
import { checkOptions, oneOf, type OptionChecks } from '@quiver/core/internal';
import type { JsonSchema } from '@quiver/core/schema';
import type { Tool, ToolExecute } from '@quiver/core/tools';
import type { EmbedderInput } from '../embedding/index.js';
import { bothFilters } from '../filter/index.js';
import { selectByReranker } from '../search/rerank.js';
import { findPassages } from '../search/find-passages.js';
import { vectorOfKey } from '../document/metadata-keys.js';
import { rerankDepth } from '../store/depths.js';
import type { QueryMode, VectorMatch } from '../store/index.js';
import type { QueryCall, RecordListInput, VectorQueryInput } from './query-call.js';
import { passagesSchema, toQueryResult, type PassagesOutput } from './query-result.js';
import { createQueryTool } from './query-tool.js';
import {
  listToolChecks,
  vectorQueryToolChecks,
  type QueryToolOptions,
  type RankingOption,
  type VectorQueryToolOptions,
} from './query-tool-options.js';

/** Output of a query tool. */
export interface VectorQueryOutput extends PassagesOutput {
  /** In the mode `filter`: cursor of the next page; absent on the last page. */
  nextCursor?: string;
}

/** Tool that `createVectorQueryTool()` returns. */
export interface VectorQueryTool<Input = VectorQueryInput> extends Omit<
  Tool<JsonSchema, JsonSchema, VectorQueryOutput>,
  'execute'
> {
  readonly execute: ToolExecute<Input, Promise<VectorQueryOutput>>;
}

/** Options of `createVectorQueryTool()` in the mode `filter`, which needs no embedder. */
export interface RecordListToolOptions extends Omit<VectorQueryToolOptions, RankingOption | 'model' | 'enableFilter'> {
  /** `filter`: the tool lists records that match a filter, without a query. */
  mode: 'filter';
  /** Not used. */
  model?: EmbedderInput;
  /** Whether the model can filter by metadata. Default `true`; with `false`, only the filter of the application applies. */
  enableFilter?: boolean;
}

const recordListChecks: OptionChecks<RecordListToolOptions> = { ...listToolChecks, mode: oneOf('filter') };

/**
 * Creates a tool that returns the passages of an index that match a query best. In the mode `filter` it lists all records that match the
 * filters of model and application, by id, page by page.
 *
 * The request context overrides these options: `vectorStoreName`, `indexName`, `topK`, `includeVectors`, `includeSources`, `maxTokens`,
 * `databaseConfig`, `reranker`, `model`, `providerOptions`, `mode`, `fusion`, `mmr`, `expand`, `minConfidence`. The filters and scopes of the options and of the
 * request context always apply, in addition to the filter of the model.
 *
 * @throws `OPTIONS_INVALID` for an unknown or invalid option, and for a `filter` or `scope` that is `undefined`; `FILTER_INVALID`
 * @throws (from `execute`) `QUERY_SCOPE_MISSING`; `VECTOR_STORE_MISSING`; `OPTIONS_INVALID` for a blank or too long question; `FILTER_INVALID`; `VECTOR_QUERY_UNSUPPORTED`; `QUERY_EMBEDDER_CHANGED`; `VECTOR_QUERY_FAILED` with the cause when store or
 *   embedding model fail. A failure is never an empty result.
 * @example
 * const searchDocs = createVectorQueryTool({ vectorStore: store, indexName: 'docs', model: 'openai/text-embedding-3-small' });
 * const { sources } = await searchDocs.execute({ queryText: 'How do I install it?', topK: 3 });
 */
export function createVectorQueryTool(options: RecordListToolOptions): VectorQueryTool<RecordListInput>;
export function createVectorQueryTool(options: VectorQueryToolOptions): VectorQueryTool;
export function createVectorQueryTool(options: VectorQueryToolOptions | RecordListToolOptions): unknown {
  const isList = options?.mode === 'filter';
  if (isList) checkOptions('createVectorQueryTool', options, recordListChecks);
  else checkOptions('createVectorQueryTool', options, vectorQueryToolChecks);
  return createQueryTool<VectorQueryOutput>({
    // The mode `filter` never reads the model.
    options: options as QueryToolOptions,
    name: isList ? 'VectorFilter' : 'VectorQuery',
    description: isList ? recordListDescription : defaultVectorQueryDescription,
    outputSchema: passagesSchema({}, isList ? { nextCursor: cursorSchema } : {}, ['nextCursor']),
    toFailure: (indexName, cause) =>
      new QuiverError('VECTOR_QUERY_FAILED', `The query of index '${indexName}' failed: ${toErrorMessage(cause)}`, {
        cause,
      }),
    query: async (call) => {
      if (call.mode === 'filter') return listRecords(call);
      return { sources: (await queryStore(call, call.mode)).map((match) => toQueryResult(match, match.score)) };
    },
  });
}

/** Description of the tool unless `description` is set. */
export const defaultVectorQueryDescription: string =
  'Searches the knowledge base for passages that are related to a question. Use it to answer questions from stored documents and to look up facts; ask in full sentences or with the words that the documents would use.';

const recordListDescription =
  'Lists the passages of the knowledge base whose metadata match a filter, page by page, in no particular order. Use it to enumerate or count what a filter selects; to answer a question, use a search.';

const cursorSchema: JsonSchema = {
  type: 'string',
  description: 'Pass it as cursor to read the next page. Absent on the last page.',
};

/** Further vectors of chunks are not records of their own here. */
const isChunk = { [vectorOfKey]: { $exists: false } };

async function listRecords(call: QueryCall): Promise<Pick<VectorQueryOutput, 'sources' | 'nextCursor'>> {
  const { store, read, topK, cursor, includeVectors } = call;
  const filter = bothFilters(read.filter, isChunk);
  const { records, nextCursor } = await store.listVectors({
    ...read,
    filter,
    limit: topK,
    cursor,
    includeVector: includeVectors ?? false,
  });
  const sources = records.map((record) => toQueryResult(record, 1));
  return { sources, ...(nextCursor !== undefined && { nextCursor }) };
}

async function queryStore(call: QueryCall, mode: QueryMode | undefined): Promise<VectorMatch[]> {
  const { store, read, queryText, question, topK, fusion, mmr, reranker } = call;
  const { signal } = read;
  const embedder = call.embedder();
  const [queryVector] = mode === 'keyword' ? [] : await embedder.embed([queryText], { purpose: 'query', signal });
  const includeVector = call.includeVectors ?? false;
  // Among more of them, the reranker would select results that repeat each other.
  const limit = reranker && !mmr ? rerankDepth(topK) : topK;
  const query = { mode, queryText, queryVector, fusion, mmr, topK: limit, includeVector };
  const matches = await findPassages({ store, read, embedder, question }, query);
  if (!reranker) return matches;
  const options = { topK, queryEmbedding: queryVector, signal };
  const ranked = await selectByReranker(reranker, queryText, matches, options);
  return ranked.map(({ result }) => result);
}
