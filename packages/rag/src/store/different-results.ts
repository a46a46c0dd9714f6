import { vectorOfKey } from '../document/metadata-keys.js';
import type { VectorRecord } from './vector-store.js';

/** Remote stores return at most so many records. */
export const maxCandidates = 10_000;
const growth = 4;

/**
 * Returns the best `topK` results of a search, and searches for more records where several of them are one result.
 *
 * @param first - number of records of the first search
 * @param find - returns the results among the best `limit` records, and whether there are no more records
 */
export async function findDifferent<Result>(
  topK: number,
  first: number,
  find: (limit: number) => Promise<{ results: Result[]; isLast: boolean }>,
): Promise<Result[]> {
  for (let limit = first; ; limit = Math.min(limit * growth, maxCandidates)) {
    const { results, isLast } = await find(limit);
    if (results.length >= topK || isLast || limit >= maxCandidates) return results.slice(0, topK);
  }
}

/** Returns the id of the chunk that a record is a further vector of, or its own. */
export function chunkIdOf({ id, metadata }: Pick<VectorRecord, 'id' | 'metadata'>): string {
  const of: unknown = metadata[vectorOfKey];
  return typeof of === 'string' ? of : id;
}
