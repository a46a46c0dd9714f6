import { createFilterTest } from '../filter/index.js';
import { recordText, toFilter, vectorOfKey } from '../store/check-arguments.js';
import type { QueryParams, VectorMatch, VectorStore } from '../store/vector-store.js';

/**
 * Queries an index whose chunks have further vectors (`ingest({ vectors })`, or records of yours with the id of their chunk in
 * `metadata.vectorOf`). Like `store.query()`, except that a chunk is found by the best of its vectors, that each result is a chunk with its
 * own text, and that `topK` counts chunks. A chunk that was deleted, or that does not match the filter, is left out.
 *
 * @param params - those of `store.query()`
 * @throws errors of the store
 * @example
 * const matches = await queryChunks(store, { indexName: 'docs', queryVector, topK: 5 });
 */
export async function queryChunks<Params extends QueryParams>(
  store: VectorStore & { query(params: Params): Promise<VectorMatch[]> },
  params: Params,
): Promise<VectorMatch[]> {
  return groupByChunk(store, params, await store.query(params));
}

/** Remote stores return at most so many records. */
const maxCandidates = 10_000;
const growth = 4;

/** Returns the best `topK` chunks, and queries more records where several of the given ones belong to the same chunk. */
export async function groupByChunk(
  store: VectorStore,
  params: QueryParams,
  first: readonly VectorMatch[],
): Promise<VectorMatch[]> {
  const { topK = 10, diversity } = params;
  let [matches, limit] = [first, topK];
  while (matches.length >= limit && limit < maxCandidates && countChunks(matches) < topK) {
    limit = Math.min(limit * growth, maxCandidates);
    const candidates = diversity?.candidates;
    matches = await store.query({
      ...params,
      topK: limit,
      ...(candidates !== undefined && { diversity: { ...diversity, candidates: Math.max(candidates, limit) } }),
    });
  }
  return toChunks(store, params, matches, topK);
}

function countChunks(matches: readonly VectorMatch[]): number {
  return new Set(matches.map(chunkIdOf)).size;
}

function chunkIdOf({ id, metadata }: Pick<VectorMatch, 'id' | 'metadata'>): string {
  const of: unknown = metadata[vectorOfKey];
  return typeof of === 'string' ? of : id;
}

/** Returns the chunks of matches, each with its best match's score and place in the order. */
export async function toChunks<Match extends VectorMatch>(
  store: VectorStore,
  params: QueryParams,
  matches: readonly Match[],
  topK: number = matches.length,
): Promise<Match[]> {
  const best = new Map<string, Match>();
  const own = new Map<string, Match>();
  for (const match of matches) {
    const id = chunkIdOf(match);
    if (!best.has(id)) best.set(id, match);
    if (match.id === id) own.set(id, match);
  }
  const wanted = [...best].slice(0, topK);
  const ids = wanted.flatMap(([id]) => (own.has(id) ? [] : [id]));
  const {
    queryVector: _vector,
    queryText: _text,
    mode: _mode,
    fusion: _fusion,
    diversity: _diversity,
    ...rest
  } = params;
  const { topK: _topK, filter, ...target } = rest;
  const records = ids.length === 0 ? [] : await store.get({ ...target, ids });
  // A record can name any chunk, also one of another tenant.
  const matchesFilter = createFilterTest(toFilter(filter));
  const found = new Map(records.filter(({ metadata }) => matchesFilter(metadata)).map((record) => [record.id, record]));
  return wanted.flatMap(([id, match]) => {
    const chunk = own.get(id) ?? found.get(id);
    if (!chunk) return [];
    const { metadata, vector } = chunk;
    return [{ ...match, id, metadata, document: recordText(chunk), ...(vector && { vector }) }];
  });
}
