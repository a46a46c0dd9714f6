import { TopK } from '../retrieval/top-k.js';
import type { Adjacency } from './adjacency.js';
import { graphInvalid } from './graph-error.js';
import { personalizedPageRank } from './personalized-page-rank.js';
import { strongestPaths } from './strongest-paths.js';

export interface RankNodesOptions {
  readonly adjacency: Adjacency;
  /** Nodes with their share of the restarts; shares of 0 or less are left out. */
  readonly seeds: readonly (readonly [node: number, weight: number])[];
  readonly idOf: (node: number) => string;
  readonly restartProb: number;
  /** Default 10. */
  readonly topK?: number | undefined;
  /** Default 100. */
  readonly maxIterations?: number | undefined;
  readonly tolerance?: number | undefined;
  readonly allowed?: ((node: number) => boolean) | undefined;
}

export interface RankedNumber {
  readonly node: number;
  readonly score: number;
  /** Path from a seed. */
  readonly arcs: readonly number[];
}

/** Scores are rounded to this step; equal scores are ordered by id. */
const scoreSteps = 1e9;

/**
 * Ranks nodes from seeds by personalized PageRank. Seeds that are not allowed are left out.
 *
 * @throws `GRAPH_INVALID`
 */
export function rankNodes(options: RankNodesOptions): RankedNumber[] {
  const { adjacency, idOf, restartProb, topK = 10, maxIterations = 100, tolerance = 1e-7, allowed } = options;
  if (!(topK >= 1)) throw graphInvalid('TopK must be greater than 0');
  if (!(maxIterations >= 1)) throw graphInvalid('Random walk steps must be greater than 0');
  if (!(restartProb > 0 && restartProb < 1)) throw graphInvalid('Restart probability must be between 0 and 1');
  if (!(tolerance >= 0)) throw graphInvalid(`The tolerance must not be negative, but it is ${tolerance}.`);
  const seeds = restartProbabilities(options);
  if (seeds.size === 0) return [];
  const { reached, ranks } = personalizedPageRank({
    adjacency,
    seeds,
    restartProb,
    maxIterations: Math.floor(maxIterations),
    tolerance,
    allowed,
  });
  const best = reached.reduce((largest, node) => Math.max(largest, ranks[node] as number), 0);
  const top = new TopK(Math.floor(topK), idOf);
  for (const node of reached) {
    const score = Math.round(((ranks[node] as number) / best) * scoreSteps) / scoreSteps;
    if (score > 0) top.offer(node, score);
  }
  const found = top.toSorted();
  const paths = strongestPaths({
    adjacency,
    seeds,
    targets: found.map(({ row }) => row),
    allowed: allowed && ((node) => (ranks[node] as number) > 0),
  });
  return found.map(({ row, similarity }) => ({ node: row, score: similarity, arcs: paths.get(row) ?? [] }));
}

function restartProbabilities({ seeds, allowed }: RankNodesOptions): Map<number, number> {
  const weights = new Map<number, number>();
  for (const [node, weight] of seeds) {
    if (typeof weight !== 'number' || Number.isNaN(weight)) throw graphInvalid('The score of a seed must be a number.');
    if (weight > 0 && (!allowed || allowed(node))) weights.set(node, Math.max(weights.get(node) ?? 0, weight));
  }
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return new Map([...weights].sort(([a], [b]) => a - b).map(([node, weight]) => [node, weight / total]));
}
