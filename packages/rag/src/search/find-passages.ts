import { isQuiverError, QuiverError } from '@quiver/core';
import { checkOptions } from '@quiver/core/internal';
import { chunkIdOf } from '../document/metadata-keys.js';
import type { Embedder } from '../embedding/index.js';
import { createFilterTest, toFilter } from '../filter/index.js';
import { diverseDepth, findDifferent, fusedDepth, rankedDepth, recordDepth } from '../store/depths.js';
import type { IndexRead } from '../store/scope.js';
import { defaultTopK, topKValue } from '../store/options.js';
import { recordText } from '../store/record-text.js';
import type {
  FusionWeights,
  QueryParams,
  VectorMatch,
  VectorMetadata,
  VectorRecord,
  VectorStore,
} from '../store/vector-store.js';
import { mergeCopies } from './merge-copies.js';
import type { Question } from './question.js';
import { rankCandidates } from './rank-candidates.js';

/** An index that is searched by vectors of an embedder; without one where no vectors are compared. */
export interface SearchedIndex {
  readonly store: VectorStore;
  readonly read: IndexRead;
  readonly embedder: Embedder | undefined;
}

/** Parameters of a query, without those of the index. */
export type PassageQuery = Omit<QueryParams, keyof IndexRead>;

/**
 * Searches an index for passages, as the query tools and `retrieve()` do it: chunks by the best of their vectors, with the weights that the
 * embedder recommends, and, for a query with words, ranked again by {@link rankCandidates}. Searches by vectors alone and diverse results keep the
 * order of the store. The query keeps the lead of the vectors of passages, for the confidence, if those of the embedder have a meaning.
 *
 * @throws `QUERY_EMBEDDER_CHANGED` if another embedder made the vectors of the index; errors of the store
 */
export async function findPassages(
  { store, read, embedder, question }: SearchedIndex & { readonly question: Question },
  { mode = 'vector', topK = defaultTopK, ...query }: PassageQuery,
): Promise<VectorMatch[]> {
  const index = { store, read, embedder: mode === 'keyword' ? undefined : embedder };
  const hasMeaning = index.embedder !== undefined && index.embedder.hybridWeight !== 0;
  const isRanked = mode !== 'vector' && !query.mmr;
  const fusion = mode === 'hybrid' ? fusionWith(embedder, query.fusion) : undefined;
  // Fewer results do not show the lead of the first ones.
  const compared = isRanked ? rankedDepth : hasMeaning ? fusedDepth : 0;
  const params = { ...query, mode, topK, fusion };
  const toPassages = isRanked ? (chunks: VectorMatch[]) => rankPassages(question, chunks) : mergeCopies;
  const found = await findChunks(index, params, recordDepth(topK, compared), toPassages);
  return found.map(({ standsOut, ...match }) => {
    if (hasMeaning && standsOut !== undefined) question.standsOut.set(match.id, standsOut);
    return match;
  });
}

/** Ranks the passages of the first records: those of all records that were read would make the first ones depend on `topK`. */
function rankPassages(question: Question, chunks: readonly VectorMatch[]): VectorMatch[] {
  return rankCandidates(question, mergeCopies(chunks), mergeCopies(chunks.slice(0, rankedDepth)).length);
}

/** Returns the weights of a hybrid query, with that of the embedder for its vectors unless they are given. */
export function fusionWith(embedder: Embedder | undefined, given?: FusionWeights): FusionWeights {
  return { vector: embedder?.hybridWeight ?? 1, ...given };
}

/**
 * Queries an index like `store.query()`, except that each result is a chunk with a different text, and that `topK` counts these:
 *
 * - A chunk with further vectors (`ingest({ vectors })`, or records of yours with the id of their chunk in `metadata.vectorOf`) is found by
 *   the best of them. A chunk that was deleted, or that does not match the filter, is left out.
 * - A text that is stored at several places, such as a file and an attachment, is one result. `metadata.alsoIn` of the result lists
 *   the other places, as far as they are among the best `topK` + 10 records. Texts whose own metadata differ, such as a tenant, stay apart.
 *
 * @param params - those of `store.query()`
 * @throws `OPTIONS_INVALID` for an invalid `topK`; errors of the store
 * @example
 * const matches = await queryChunks(store, { indexName: 'docs', queryVector, topK: 5 });
 */
export async function queryChunks<Params extends QueryParams>(
  store: VectorStore & { query(params: Params): Promise<VectorMatch[]> },
  params: Params,
): Promise<VectorMatch[]> {
  const { mode, queryVector, queryText, fusion, mmr, topK = defaultTopK, includeVector, ...read } = params;
  checkOptions('queryChunks', { topK }, { topK: topKValue });
  const query = { mode, queryVector, queryText, fusion, mmr, topK, includeVector };
  return findChunks({ store, read: { filter: undefined, ...read }, embedder: undefined }, query, recordDepth(topK));
}

/** Returns the best `topK` chunks with different texts. @param toPassages - returns those of the chunks that a search found */
function findChunks(
  index: SearchedIndex,
  query: PassageQuery & { readonly topK: number },
  depth: number,
  toPassages: (chunks: VectorMatch[]) => VectorMatch[] = mergeCopies,
): Promise<VectorMatch[]> {
  const { topK, mmr } = query;
  const candidates = mmr && (mmr.candidates ?? diverseDepth(topK));
  const first = candidates === undefined ? depth : Math.max(topK, candidates);
  return findDifferent(topK, first, async (limit) => {
    const ofDiversity = mmr && { mmr: { ...mmr, candidates: limit === first ? (candidates ?? limit) : limit } };
    const { chunks, isLast } = await searchIndex(index, { ...query, topK: limit, ...ofDiversity });
    return { results: toPassages(chunks), isLast };
  });
}

/**
 * Searches an index, and returns chunks in place of their further vectors. Records of `ingest` name their embedder, so the results tell without a
 * request whether another one made the vectors of the index.
 *
 * @returns `isLast`: whether no other record matches
 * @throws `QUERY_EMBEDDER_CHANGED`; `VECTOR_DIMENSION_MISMATCH`; errors of the store
 */
export async function searchIndex(
  index: SearchedIndex,
  query: PassageQuery & { readonly topK: number },
): Promise<{ chunks: VectorMatch[]; isLast: boolean }> {
  try {
    const found = await index.store.query({ ...index.read, ...query });
    for (const { metadata } of found) requireSameEmbedder(index, metadata);
    return { chunks: await replaceFurtherVectors(index, found, query), isLast: found.length < query.topK };
  } catch (error) {
    throw isQuiverError(error, 'VECTOR_DIMENSION_MISMATCH') ? await explainDimension(index, error) : error;
  }
}

function requireSameEmbedder({ read, embedder }: SearchedIndex, { embedder: existing }: VectorMetadata): void {
  if (!embedder || typeof existing !== 'string' || existing === embedder.id) return;
  const { indexName } = read;
  throw new QuiverError(
    'QUERY_EMBEDDER_CHANGED',
    `The index '${indexName}' was made with the embedder '${existing}', and the query with '${embedder.id}'. Their vectors cannot be compared: pass the embedder of the index as model, or ingest the documents into another index with '${embedder.id}'.`,
    { details: { indexName, existing, requested: embedder.id } },
  );
}

/** Returns the error that names the reason, if a record of the index tells it. @throws `QUERY_EMBEDDER_CHANGED` */
async function explainDimension(index: SearchedIndex, cause: QuiverError): Promise<QuiverError> {
  const { store, embedder, read } = index;
  if (!embedder) return cause;
  const { records } = await store.listVectors({ ...read, filter: undefined, limit: 1 }).catch(() => ({ records: [] }));
  const [first] = records;
  if (first) requireSameEmbedder(index, first.metadata);
  if (first?.metadata['embedder'] === undefined) return cause;
  const { indexName } = read;
  const { details } = cause;
  return new QuiverError(
    'VECTOR_DIMENSION_MISMATCH',
    `The index '${indexName}' and the query have vectors of different length, although '${embedder.id}' made both: ${JSON.stringify(details)}. If a wrong response of the embedder created the index, delete it with store.deleteIndex({ indexName: '${indexName}' }) and ingest the documents again.`,
    { cause, details },
  );
}

/** Returns matches with chunks in place of their further vectors, each with its best match's score and place in the order. */
async function replaceFurtherVectors(
  { store, read: { filter, ...read } }: SearchedIndex,
  matches: readonly VectorMatch[],
  { includeVector }: PassageQuery,
): Promise<VectorMatch[]> {
  const best = new Map<string, VectorMatch>();
  const own = new Map<string, VectorRecord>();
  for (const match of matches) {
    const id = chunkIdOf(match);
    if (!best.has(id)) best.set(id, match);
    if (match.id === id) own.set(id, match);
  }
  const ids = [...best.keys()].filter((id) => !own.has(id));
  // A record can name any chunk, also one of another tenant.
  const matchesFilter = createFilterTest(toFilter(filter));
  const records = ids.length === 0 ? [] : await store.get({ ...read, ids, includeVector });
  for (const record of records) if (matchesFilter(record.metadata)) own.set(record.id, record);
  return [...best].flatMap(([id, match]) => {
    const chunk = own.get(id);
    if (!chunk) return [];
    const { metadata, vector } = chunk;
    return [{ ...match, id, metadata, document: recordText(chunk), ...(vector && { vector }) }];
  });
}
