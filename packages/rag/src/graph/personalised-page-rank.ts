import type { Adjacency } from './adjacency.js';

export interface PageRankOptions {
  readonly adjacency: Adjacency;
  /** Where the walk starts and restarts: node and chance; the chances add up to 1. */
  readonly seeds: ReadonlyMap<number, number>;
  /** Chance to restart at each step, in (0, 1]. */
  readonly restartProb: number;
  /** Rounds after which the iteration ends, converged or not. */
  readonly maxIterations: number;
  /** The iteration ends when the ranks change by less in sum. Default 1e-9. */
  readonly tolerance?: number;
}

/**
 * Where a walker is found that follows edges by their chances and now and then restarts at the seeds, computed instead of
 * sampled: `p ← (1 − α)·(Wᵀp + lost·s) + α·s`, where `lost` is the chance to stand on a node without edges.
 *
 * After `n` rounds the sum of all errors is at most `2·(1 − α)ⁿ`. The ranks add up to 1.
 *
 * @see [Page et al., The PageRank Citation Ranking, section 6](http://ilpubs.stanford.edu:8090/422/)
 */
export function personalisedPageRank(options: PageRankOptions): Float64Array {
  const { adjacency, seeds, restartProb, maxIterations, tolerance = 1e-9 } = options;
  const { nodeCount, offsets, targets, chances } = adjacency;
  let ranks = new Float64Array(nodeCount);
  for (const [node, chance] of seeds) ranks[node] = chance;
  for (let iteration = 0; iteration < maxIterations; iteration += 1) {
    const next = new Float64Array(nodeCount);
    let lost = 0;
    for (let node = 0; node < nodeCount; node += 1) {
      const rank = ranks[node] as number;
      if (rank === 0) continue;
      const end = offsets[node + 1] as number;
      let place = offsets[node] as number;
      if (place === end) lost += rank;
      for (; place < end; place += 1) {
        const target = targets[place] as number;
        next[target] = (next[target] as number) + rank * (chances[place] as number);
      }
    }
    for (let node = 0; node < nodeCount; node += 1) next[node] = (next[node] as number) * (1 - restartProb);
    const atSeeds = (1 - restartProb) * lost + restartProb;
    for (const [node, chance] of seeds) next[node] = (next[node] as number) + atSeeds * chance;
    let change = 0;
    for (let node = 0; node < nodeCount; node += 1)
      change += Math.abs((next[node] as number) - (ranks[node] as number));
    ranks = next;
    if (change < tolerance) break;
  }
  return ranks;
}
