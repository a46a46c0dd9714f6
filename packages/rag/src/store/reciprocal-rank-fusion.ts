/** Softens how much more the first places count than later ones. */
const fusionConstant = 60;

/** One ranking, best first, and how much it counts. */
export interface Ranking {
  readonly ids: readonly string[];
  readonly weight: number;
}

export interface FusedRank {
  readonly id: string;
  /** Score in (0, 1]. A result that is first in every ranking has 1. */
  readonly score: number;
}

/**
 * Merges rankings by the places of their items, so that scores of different kinds need not be compared: an item gets
 * `Σ weight / (60 + place)`, divided by the largest possible sum. Equal scores are ordered by id.
 *
 * @see Cormack, Clarke and Buettcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods. SIGIR
 *   2009. https://doi.org/10.1145/1571941.1572114
 */
export function reciprocalRankFusion(rankings: readonly Ranking[]): FusedRank[] {
  const scores = new Map<string, number>();
  let largest = 0;
  for (const { ids, weight } of rankings) {
    if (weight === 0) continue;
    largest += weight / (fusionConstant + 1);
    for (const [place, id] of ids.entries())
      scores.set(id, (scores.get(id) ?? 0) + weight / (fusionConstant + place + 1));
  }
  return [...scores]
    .map(([id, score]) => ({ id, score: score / largest }))
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

/**
 * Number of results to fetch from each ranking for `topK` merged results. A low rank in one list can be compensated by the other.
 */
export function fusionDepth(topK: number): number {
  return Math.max(100, 4 * topK);
}
