import { plainQueryTerms } from '../../words/record-terms.js';
import type { NearestSearch, TermSearch } from '../../store/record-store.js';
import { nearestMatching } from '../../store/paging.js';
import type { FoundRecord } from '../../store/search.js';
import type { VectorMetric } from '../../store/vector-store.js';
import { filterToLance } from './filter-to-lance.js';
import type { Lance } from './lance-client.js';
import { countUnindexed, lacksCosine, type LanceIndex, type LanceRow, recordColumns, toRecord } from './lance-index.js';

const distances = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'dot' } as const;

/** Compares all vectors that match the condition. */
export async function findNearest(
  { table, metric }: LanceIndex,
  { vector, limit: wanted, includeVector, filter }: NearestSearch,
): Promise<FoundRecord[]> {
  const { condition: where, rest } = filterToLance(filter);
  const columns = recordColumns(includeVector);
  const findAlike = async (limit: number): Promise<FoundRecord[]> => {
    const query = table.query().nearestTo(vector).distanceType(distances[metric]).bypassVectorIndex();
    if (where !== undefined) query.where(where);
    const rows = await query
      .select([...columns, '_distance'])
      .limit(limit)
      .toArray();
    return (rows as LanceRow[]).map((row) => ({ similarity: toSimilarity(metric, row), record: toRecord(row) }));
  };
  /** Records that may have no cosine similarity, which counts as 0. */
  const findOthers = async (limit: number): Promise<FoundRecord[]> => {
    const query = table.query().select(columns).limit(limit);
    const conditions = [where, lacksCosine(vector) ? undefined : 'lacks_cosine'].filter((part) => part !== undefined);
    if (conditions.length > 0) query.where(conditions.join(' AND '));
    return ((await query.toArray()) as LanceRow[]).map((row) => ({ similarity: 0, record: toRecord(row) }));
  };
  const find = async (limit: number): Promise<FoundRecord[]> => {
    if (metric !== 'cosine') return findAlike(limit);
    const found = await findAlike(limit);
    if (found.length === limit && found.every(({ similarity }) => similarity > 0)) return found;
    const known = new Set(found.map(({ record }) => record.id));
    const others = await findOthers(limit + found.length);
    return [...found, ...others.filter(({ record }) => !known.has(record.id))]
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, limit);
  };
  return nearestMatching({ wanted, filter: rest, find });
}

function toSimilarity(metric: VectorMetric, { _distance }: LanceRow): number {
  // Numbers that are too large have no distance.
  const distance = _distance ?? Infinity;
  return metric === 'euclidean' ? -distance : 1 - distance;
}

/** Records that share a term with the query, ordered by the BM25 of LanceDB. */
export async function findByTerms(
  { table, analyzer }: LanceIndex,
  { lancedb }: Lance,
  { queryText, limit: wanted, includeVector, filter }: TermSearch,
): Promise<FoundRecord[]> {
  const terms = await plainQueryTerms(analyzer, queryText);
  if (terms.length === 0) return [];
  const { condition: where, rest } = filterToLance(filter);
  // The tokenizer of the index splits it at the spaces; it is not a query language.
  const text = new lancedb.MatchQuery(terms.join(' '), 'terms');
  // LanceDB returns rows that are not in its index yet in any order, and stops at the limit.
  const unordered = await countUnindexed(table);
  return nearestMatching({
    wanted,
    filter: rest,
    find: async (limit) => {
      const query = table.query().fullTextSearch(text);
      if (where !== undefined) query.where(where);
      const columns = [...recordColumns(includeVector), '_score'];
      const rows = (await query
        .select(columns)
        .limit(limit + unordered)
        .toArray()) as LanceRow[];
      const found = rows.map((row) => ({ similarity: row._score ?? 0, row }));
      return found
        .toSorted((a, b) => b.similarity - a.similarity)
        .slice(0, limit)
        .map(({ similarity, row }) => ({ similarity, record: toRecord(row) }));
    },
  });
}
