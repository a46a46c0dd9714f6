import type { Adjacency } from './adjacency.js';

export interface StrongestPathsOptions {
  readonly adjacency: Adjacency;
  /** Starts of the paths, with their probabilities. */
  readonly seeds: ReadonlyMap<number, number>;
  /** Ends of the paths. */
  readonly targets: Iterable<number>;
  /** Nodes that a path may use; default all. */
  readonly allowed?: ((node: number) => boolean) | undefined;
}

/**
 * Finds the most likely path from a seed to each target: the path with the largest product of transition probabilities. A seed
 * has the empty path. Of equal paths the one whose nodes have the smaller numbers is taken.
 *
 * @returns arcs of the path from the seed on, by target; targets that cannot be reached are absent
 * @see [Dijkstra: A note on two problems in connexion with graphs](https://doi.org/10.1007/BF01386390)
 */
export function strongestPaths(options: StrongestPathsOptions): Map<number, number[]> {
  const { adjacency, seeds, allowed } = options;
  const { offsets, targets, probabilities } = adjacency;
  const wanted = new Set(options.targets);
  const found = new Map<number, number[]>();
  const arrivals = new Map<number, { probability: number; arc: number; from: number }>();
  const settled = new Set<number>();
  const queue = new LikeliestFirst();
  const visit = (node: number, probability: number, arc: number, from: number): void => {
    const known = arrivals.get(node);
    if (known && (known.probability > probability || (known.probability === probability && known.from <= from))) return;
    arrivals.set(node, { probability, arc, from });
    queue.add(node, probability);
  };

  for (const [seed, probability] of seeds) {
    arrivals.set(seed, { probability, arc: -1, from: -1 });
    queue.add(seed, probability);
  }
  while (found.size < wanted.size) {
    const node = queue.take();
    if (node === undefined) break;
    if (settled.has(node)) continue;
    settled.add(node);
    if (wanted.has(node)) found.set(node, trace(node, arrivals));
    const { probability } = arrivals.get(node) as { probability: number };
    for (let arc = offsets[node] as number; arc < (offsets[node + 1] as number); arc += 1) {
      const target = targets[arc] as number;
      if (settled.has(target) || seeds.has(target) || (allowed && !allowed(target))) continue;
      visit(target, probability * (probabilities[arc] as number), arc, node);
    }
  }
  return found;
}

function trace(node: number, arrivals: ReadonlyMap<number, { arc: number; from: number }>): number[] {
  const arcs: number[] = [];
  for (let arrival = arrivals.get(node); arrival && arrival.arc >= 0; arrival = arrivals.get(arrival.from)) {
    arcs.push(arrival.arc);
  }
  return arcs.toReversed();
}

/** A heap of nodes: the largest probability first, then the smallest number. */
class LikeliestFirst {
  readonly #heap: { node: number; probability: number }[] = [];

  add(node: number, probability: number): void {
    const heap = this.#heap;
    let child = heap.push({ node, probability }) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfBefore(child, parent)) return;
      child = parent;
    }
  }

  take(): number | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first?.node;
    heap[0] = last;
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      const right = left + 1;
      if (left >= heap.length) return first.node;
      const child = right < heap.length && this.#isBefore(right, left) ? right : left;
      if (!this.#swapIfBefore(child, parent)) return first.node;
      parent = child;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a], this.#heap[b]] as [
      { node: number; probability: number },
      { node: number; probability: number },
    ];
    return left.probability === right.probability ? left.node < right.node : left.probability > right.probability;
  }

  #swapIfBefore(child: number, parent: number): boolean {
    if (!this.#isBefore(child, parent)) return false;
    const heap = this.#heap as [{ node: number; probability: number }];
    [heap[child], heap[parent]] = [heap[parent] as (typeof heap)[0], heap[child] as (typeof heap)[0]];
    return true;
  }
}
