import { Heap } from '../store/top-k.js';
import type { Adjacency } from './adjacency.js';

export interface StrongestPathsOptions {
  readonly adjacency: Adjacency;
  readonly seeds: ReadonlyMap<number, number>;
  readonly targets: Iterable<number>;
  /** Nodes that a path may use; default all. */
  readonly allowed?: ((node: number) => boolean) | undefined;
}

/** Step of a path: an edge and the node where it is entered. */
export interface PathStep {
  readonly from: number;
  readonly edge: number;
}

interface Arrival {
  readonly node: number;
  readonly probability: number;
  readonly step?: PathStep;
}

/**
 * Finds the most likely path from a seed to each target: the path with the largest product of transition probabilities. A seed
 * has the empty path. Of equal paths the one whose nodes have the smaller numbers is taken.
 *
 * @returns steps of the path from the seed on, by target; targets that cannot be reached are absent
 * @see [Dijkstra: A note on two problems in connexion with graphs](https://doi.org/10.1007/BF01386390)
 */
export function strongestPaths(options: StrongestPathsOptions): Map<number, PathStep[]> {
  const { adjacency, seeds, allowed } = options;
  const { offsets, targets, probabilities, edges } = adjacency;
  const wanted = new Set(options.targets);
  const found = new Map<number, PathStep[]>();
  const arrivals = new Map<number, Arrival>();
  const settled = new Set<number>();
  const queue = new Heap(isBefore);
  const visit = (arrival: Arrival): void => {
    arrivals.set(arrival.node, arrival);
    queue.push(arrival);
  };
  for (const [node, probability] of seeds) visit({ node, probability });
  while (found.size < wanted.size) {
    const next = queue.pop();
    if (!next) break;
    const { node, probability } = next;
    if (settled.has(node)) continue;
    settled.add(node);
    if (wanted.has(node)) found.set(node, trace(node, arrivals));
    for (let arc = offsets[node] as number; arc < (offsets[node + 1] as number); arc += 1) {
      const target = targets[arc] as number;
      if (settled.has(target) || seeds.has(target) || (allowed && !allowed(target))) continue;
      const known = arrivals.get(target);
      const reached = probability * (probabilities[arc] as number);
      const isBetter = !known || reached > known.probability;
      if (isBetter || (reached === known.probability && node < (known.step?.from as number))) {
        visit({ node: target, probability: reached, step: { from: node, edge: edges[arc] as number } });
      }
    }
  }
  return found;
}

function trace(node: number, arrivals: ReadonlyMap<number, Arrival>): PathStep[] {
  const steps: PathStep[] = [];
  for (let step = arrivals.get(node)?.step; step; step = arrivals.get(step.from)?.step) steps.push(step);
  return steps.toReversed();
}

/** The largest probability comes first, then the smallest number. */
function isBefore(a: Arrival, b: Arrival): boolean {
  return a.probability === b.probability ? a.node < b.node : a.probability > b.probability;
}
