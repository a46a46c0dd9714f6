import { QuiverError } from '@quiver/core';
import { createFilterTest } from '../../filter/index.js';
import { Bm25Index } from '../../words/bm25-index.js';
import { englishAnalysis, termsOf } from '../../words/analysis.js';
import { english } from '../../words/languages.js';
import { queryTermsIn } from '../../words/query-terms.js';
import { keywordText } from '../../store/record-text.js';
import type { IndexShape } from '../../store/checks.js';
import { inOrder, type NearestSearch, type TermSearch } from '../../store/record-store.js';
import { nearestMatching } from '../../store/paging.js';
import type { FoundRecord } from '../../store/search.js';
import { combine } from '../../store/conditions.js';
import type { VectorMetric, VectorRecord } from '../../store/vector-store.js';
import type { ChromaWhere } from './chroma-client.js';
import {
  type ChromaSource,
  filterToWhere,
  fromChromaRows,
  includedIn,
  maxConditions,
  readPages,
  readRecords,
} from './chroma-record.js';

/** Limit of texts that are read and ranked here. */
const maxTexts = 10_000;

type ChromaIndex = ChromaSource & IndexShape;

/**
 * Returns records that share a term with the query. Chroma has no keyword search: it selects the documents that contain a prefix of a
 * term, and BM25 ranks them here, among themselves.
 *
 * @throws `VECTOR_QUERY_UNSUPPORTED` when they are more than 10,000
 */
export async function findByTerms(
  source: ChromaIndex,
  { queryText, limit, includeVector, filter }: TermSearch,
): Promise<FoundRecord[]> {
  const terms = queryTermsIn(queryText, [english]);
  if (terms.length === 0) return [];
  const whereDocument = combine(
    '$and',
    [withAnyOf(terms.flatMap(({ forms }) => forms)), source.whereDocument].filter((part) => part !== undefined),
  );
  const records: VectorRecord[] = [];
  for await (const page of readPages({ ...source, whereDocument }, includedIn(false), filter)) {
    records.push(...page);
    if (records.length > maxTexts)
      throw new QuiverError(
        'VECTOR_QUERY_UNSUPPORTED',
        `More than ${maxTexts} texts share a term with the query, too many to rank outside of Chroma. Use rarer terms, narrow the search by a filter, or use a store with a keyword index.`,
        { details: { maxTexts } },
      );
  }
  const index = new Bm25Index();
  records.forEach((record, row) => index.set(row, termsOf(keywordText(record), englishAnalysis())));
  const recordOf = (row: number): VectorRecord => records[row] as VectorRecord;
  const matches = createFilterTest(filter);
  const best = index.search(terms, {
    limit,
    accept: filter && ((row) => matches(recordOf(row).metadata)),
    idOf: (row) => recordOf(row).id,
  });
  const scores = new Map(best.map(({ doc, score }) => [recordOf(doc).id, score]));
  const ids = [...scores.keys()];
  const found = inOrder(ids, includeVector ? await readRecords(source, ids, true) : records);
  return found.map((record) => ({ record, similarity: scores.get(record.id) ?? 0 }));
}

/**
 * Matches all texts that contain one of the terms, and others. Beyond ASCII, Chroma's case folding and accents differ from ours, so
 * all such texts match.
 *
 * @returns `undefined` for more terms than Chroma can take
 */
function withAnyOf(terms: readonly string[]): ChromaWhere | undefined {
  const beginnings = new Set(terms.filter((term) => /^[!-~]+$/.test(term)).map(beginningOf));
  if (beginnings.size > maxConditions) return undefined;
  const patterns = [...beginnings].map((beginning) => ({
    $regex: `(?i)${beginning.replaceAll(/[^a-z0-9]/g, '\\$&')}`,
  }));
  return combine('$or', [...patterns, { $regex: '[^\\x00-\\x7F]' }]);
}

/**
 * Returns the prefix of all words with this term. The stemmer also changes letters at the end, as in `library`, `librari`, and
 * `sensibility`, `sensibl`.
 */
export function beginningOf(term: string): string {
  return term.replace(/^~/, '').replace(/(?<=...)(?:[eiy]|(?<=b)l)$/, '');
}

export function findNearest(
  { collection, metric, whereDocument }: ChromaIndex,
  { vector, limit, includeVector, filter }: NearestSearch,
): Promise<FoundRecord[]> {
  const where = filter && filterToWhere(filter);
  return nearestMatching({
    wanted: limit,
    filter,
    find: async (nResults) => {
      const found = await collection.query({
        queryEmbeddings: [[...vector]],
        nResults,
        include: ['distances', ...includedIn(includeVector)],
        ...(where && { where }),
        ...(whereDocument && { whereDocument }),
      });
      const [ids = [], metadatas, documents] = [found.ids[0], found.metadatas?.[0], found.documents?.[0]];
      const records = fromChromaRows({ ids, metadatas, documents, embeddings: found.embeddings?.[0] });
      return records.map((record, row) => ({
        similarity: toSimilarity(metric, found.distances[0]?.[row] ?? Number.NaN),
        record,
      }));
    },
  });
}

/** Chroma gives squared distances, and 1 minus the product. A vector of zeros is similar to nothing. */
function toSimilarity(metric: VectorMetric, distance: number): number {
  if (metric === 'euclidean') return -distance;
  return Number.isFinite(distance) ? 1 - distance : 0;
}
