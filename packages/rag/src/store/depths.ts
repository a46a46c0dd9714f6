import { largestTopK } from './options.js';

// How many records a search reads: each number is decided here, and a stage below reads no more than is requested.
//
// | search                            | ids                  | records with texts            |
// | --------------------------------- | -------------------- | ----------------------------- |
// | hybrid, each of its two lists     | records, at least 40 |                               |
// | keywords or hybrid, ranked again  |                      | topK + 10, at least 20        |
// | vectors, compared for confidence  |                      | topK + 10, at least 40        |
// | vectors of the lexical embedder   |                      | topK + 10                     |
// | diversity                         |                      | candidates: 4 topK, at least 20 |
// | reranker                          |                      | as for 4 topK                 |
//
// Where too many of them are one result, four times as many are read.

/** Results of each list that a fusion compares, and nearest vectors that a confidence compares. It does not depend on `topK`, so the first results do not. */
export const fusedDepth = 40;
/** Records that are ranked again by their texts. It does not depend on `topK` either. */
export const rankedDepth = 20;
/** Records behind the wanted ones: copies of a text rank near it, and rarely next to it. */
const spareRecords = 10;
/** Candidates of diversity, and of a reranker, for each result. */
const candidatesPerResult = 4;
const fewestDiverse = 20;
/** Remote stores return at most so many records. */
const mostRecords = 10_000;
const growth = 4;

/** Returns the number of records to read for `topK` passages. @param compared - records that have to be compared with each other */
export function recordDepth(topK: number, compared = 0): number {
  return Math.max(topK, Math.min(Math.max(topK + spareRecords, compared), mostRecords));
}

/** Returns the number of passages to search for where a reranker selects `topK` of them. */
export function rerankDepth(topK: number): number {
  return Math.min(largestTopK, candidatesPerResult * topK);
}

/** Returns the number of the best results that `topK` diverse ones are chosen from by default. */
export function diverseDepth(topK: number): number {
  return Math.min(largestTopK, Math.max(fewestDiverse, candidatesPerResult * topK));
}

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
  for (let limit = first; ; limit = Math.min(limit * growth, mostRecords)) {
    const { results, isLast } = await find(limit);
    if (results.length >= topK || isLast || limit >= mostRecords) return results.slice(0, topK);
  }
}
