import type { Adjacency } from './adjacency.js';

export interface StrongestPathsOptions {
  readonly adjacency: Adjacency;
  /** Where paths start: node and chance. */
  readonly seeds: ReadonlyMap<number, number>;
  /** Nodes to which paths are wanted. */
  readonly targets: Iterable<number>;
  /** Nodes that a path may use; default all. */
  readonly allowed?: ((node: number) => boolean) | undefined;
}

/**
 * For each target the path that a walker takes most likely to get there from a seed: the largest product of the chances along
 * it. A seed has the empty path. Equal paths: the one whose nodes have the smaller numbers is taken.
 *
 * @returns by target, the ways (places in the arrays of the adjacency) from the seed on; targets that cannot be reached are absent
 * @see [Dijkstra: A note on two problems in connexion with graphs](https://doi.org/10.1007/BF01386390)
 */
export function strongestPaths(options: StrongestPathsOptions): Map<number, number[]> {
  const { adjacency, seeds, allowed } = options;
  const { offsets, targets, chances } = adjacency;
  const wanted = new Set(options.targets);
  const found = new Map<number, number[]>();
  const arrivals = new Map<number, { chance: number; way: number; from: number }>();
  const settled = new Set<number>();
  const queue = new LikeliestFirst();
  const visit = (node: number, chance: number, way: number, from: number): void => {
    const known = arrivals.get(node);
    if (known && (known.chance > chance || (known.chance === chance && known.from <= from))) return;
    arrivals.set(node, { chance, way, from });
    queue.add(node, chance);
  };

  for (const [seed, chance] of seeds) {
    arrivals.set(seed, { chance, way: -1, from: -1 });
    queue.add(seed, chance);
  }
  while (found.size < wanted.size) {
    const node = queue.take();
    if (node === undefined) break;
    if (settled.has(node)) continue;
    settled.add(node);
    if (wanted.has(node)) found.set(node, trace(node, arrivals));
    const { chance } = arrivals.get(node) as { chance: number };
    for (let way = offsets[node] as number; way < (offsets[node + 1] as number); way += 1) {
      const target = targets[way] as number;
      if (settled.has(target) || seeds.has(target) || (allowed && !allowed(target))) continue;
      visit(target, chance * (chances[way] as number), way, node);
    }
  }
  return found;
}

function trace(node: number, arrivals: ReadonlyMap<number, { way: number; from: number }>): number[] {
  const ways: number[] = [];
  for (let arrival = arrivals.get(node); arrival && arrival.way >= 0; arrival = arrivals.get(arrival.from)) {
    ways.push(arrival.way);
  }
  return ways.toReversed();
}

/** A heap of nodes: the largest chance first, then the smallest number. */
class LikeliestFirst {
  readonly #heap: { node: number; chance: number }[] = [];

  add(node: number, chance: number): void {
    const heap = this.#heap;
    let child = heap.push({ node, chance }) - 1;
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
      { node: number; chance: number },
      { node: number; chance: number },
    ];
    return left.chance === right.chance ? left.node < right.node : left.chance > right.chance;
  }

  #swapIfBefore(child: number, parent: number): boolean {
    if (!this.#isBefore(child, parent)) return false;
    const heap = this.#heap as [{ node: number; chance: number }];
    [heap[child], heap[parent]] = [heap[parent] as (typeof heap)[0], heap[child] as (typeof heap)[0]];
    return true;
  }
}
