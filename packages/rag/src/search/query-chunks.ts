import { checkOptions } from '@quiver/core/internal';
import { createFilterTest, toFilter } from '../filter/index.js';
import { chunkIdOf, findDifferent, maxCandidates } from '../store/different-results.js';
import { recordText } from '../store/record-text.js';
import { argumentSettings, defaultTopK, topKValue } from '../store/options.js';
import { diverseCandidates } from '../store/search.js';
import type { QueryParams, VectorMatch, VectorStore } from '../store/vector-store.js';
import { mergeCopies } from './merge-copies.js';

/**
 * Queries an index like `store.query()`, except that each result is a chunk with a different text, and that `topK` counts these:
 *
 * - A chunk with further vectors (`ingest({ vectors })`, or records of yours with the id of their chunk in `metadata.vectorOf`) is found by
 *   the best of them. A chunk that was deleted, or that does not match the filter, is left out.
 * - A text that is stored at several places, such as a file and an attachment, is one result. `metadata.alsoIn` of the result lists
 *   the other places, as far as they are among the best `topK` + 20 records. Texts whose own metadata differ, such as a tenant, stay apart.
 *
 * @param params - those of `store.query()`
 * @throws `VECTOR_ARGUMENT_INVALID` for an invalid `topK`; errors of the store
 * @example
 * const matches = await queryChunks(store, { indexName: 'docs', queryVector, topK: 5 });
 */
export async function queryChunks<Params extends QueryParams>(
  store: VectorStore & { query(params: Params): Promise<VectorMatch[]> },
  params: Params,
): Promise<VectorMatch[]> {
  const { topK = defaultTopK, mmr } = params;
  checkOptions('queryChunks', { topK }, { topK: topKValue }, argumentSettings);
  const candidates = mmr && (mmr.candidates ?? diverseCandidates(topK));
  const first = Math.max(topK, candidates ?? candidatesFor(topK));
  return findDifferent(topK, first, async (limit) => {
    const found = await store.query({
      ...params,
      topK: limit,
      ...(candidates !== undefined && {
        mmr: { ...mmr, candidates: limit === first ? candidates : limit },
      }),
    });
    return { results: mergeCopies(await replaceFurtherVectors(store, params, found)), isLast: found.length < limit };
  });
}

const spareCandidates = 20;

/** Number of records to read for `topK` results: copies of a text rank near it, and rarely next to it. */
export function candidatesFor(topK: number): number {
  return Math.max(topK, Math.min(topK + spareCandidates, maxCandidates));
}

/** Returns matches with chunks in place of their further vectors, each with its best match's score and place in the order. */
export async function replaceFurtherVectors<Match extends VectorMatch>(
  store: VectorStore,
  params: QueryParams,
  matches: readonly Match[],
): Promise<Match[]> {
  const best = new Map<string, Match>();
  const own = new Map<string, Match>();
  for (const match of matches) {
    const id = chunkIdOf(match);
    if (!best.has(id)) best.set(id, match);
    if (match.id === id) own.set(id, match);
  }
  const wanted = [...best];
  const ids = wanted.flatMap(([id]) => (own.has(id) ? [] : [id]));
  const { queryVector: _vector, queryText: _text, mode: _mode, fusion: _fusion, mmr: _mmr, ...rest } = params;
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
