import type { Adjacency } from './adjacency.js';

export interface PageRankOptions {
  readonly adjacency: Adjacency;
  /** Where the walk starts and restarts: node and chance; the chances add up to 1. */
  readonly seeds: ReadonlyMap<number, number>;
  /** Chance to restart at each step, in (0, 1]. */
  readonly restartProb: number;
  /** Rounds after which the computation ends at the latest. */
  readonly maxIterations: number;
  /** A node passes on what arrived once it is as much as this. Default 1e-7. */
  readonly tolerance?: number;
  /** Nodes that the walker may stand on; default all. The seeds must be among them. Asked once per node that is reached. */
  readonly allowed?: ((node: number) => boolean) | undefined;
}

export interface PageRanks {
  /** Every node that was reached, in the order in which it was reached first. */
  readonly reached: readonly number[];
  /** By node. They add up to 1. */
  readonly ranks: Float64Array;
  /** The sum of all differences from the exact ranks is not larger. */
  readonly error: number;
}

const roundingError = 1e-9;

/**
 * Where a walker is found that follows edges by their chances and now and then restarts at the seeds. What the chances of a node
 * lack to 1, all of it where a node has no edges, leads back to the seeds.
 *
 * Computed by forward push in rounds: each round takes all nodes where at least `tolerance` is waiting, settles the part
 * `restartProb` of it and passes the rest on along the edges. Only the neighbourhood of the seeds is visited. With a tolerance of
 * 0 the result after `n` rounds is that of `n` power iterations. What is still waiting at the end, `r` in sum, bounds the error:
 * `2·(1 − restartProb)·r`; with a tolerance of 0, `r` is at most `(1 − restartProb)ⁿ`.
 *
 * @see [Andersen, Chung, Lang: Local graph partitioning using PageRank vectors](https://doi.org/10.1109/FOCS.2006.44)
 */
export function personalisedPageRank(options: PageRankOptions): PageRanks {
  const { adjacency, seeds, restartProb, maxIterations, tolerance = 1e-7, allowed } = options;
  const { nodeCount, offsets, targets, chances } = adjacency;
  const ranks = new Float64Array(nodeCount);
  const waiting = new Float64Array(nodeCount);
  /** 0: not reached yet, 1: reached, 2: reached and in the next round, 3: not allowed. */
  const states = new Uint8Array(nodeCount);
  const reached: number[] = [];
  let round: number[] = [];
  let nextRound: number[] = [];

  const mayEnter = (node: number): boolean => {
    if (states[node] === 0) {
      const enters = !allowed || allowed(node);
      states[node] = enters ? 1 : 3;
      if (enters) reached.push(node);
    }
    return states[node] !== 3;
  };
  const receive = (node: number, amount: number): void => {
    const sum = (waiting[node] as number) + amount;
    waiting[node] = sum;
    if (sum >= tolerance && states[node] === 1 && sum > 0) {
      states[node] = 2;
      nextRound.push(node);
    }
  };

  for (const node of seeds.keys()) mayEnter(node);
  for (const [node, chance] of seeds) receive(node, chance);
  for (let iteration = 0; iteration < maxIterations && nextRound.length > 0; iteration += 1) {
    [round, nextRound] = [nextRound, []];
    const amounts = round.map((node) => {
      const amount = waiting[node] as number;
      waiting[node] = 0;
      states[node] = 1;
      return amount;
    });
    let lost = 0;
    for (let place = 0; place < round.length; place += 1) {
      const node = round[place] as number;
      const amount = amounts[place] as number;
      ranks[node] = (ranks[node] as number) + restartProb * amount;
      const passedOn = (1 - restartProb) * amount;
      const [start, end] = [offsets[node] as number, offsets[node + 1] as number];
      let open = 0;
      let all = 0;
      for (let way = start; way < end; way += 1) {
        const chance = chances[way] as number;
        all += chance;
        if (mayEnter(targets[way] as number)) open += chance;
      }
      if (open === 0) {
        lost += passedOn;
        continue;
      }
      // Closed ways leave their part to the open ones. A sum of 1 is one but for rounding.
      const leaving = all > 1 - roundingError ? 1 : all;
      lost += passedOn * (1 - leaving);
      const scale = (passedOn * leaving) / open;
      for (let way = start; way < end; way += 1) {
        const target = targets[way] as number;
        if (states[target] !== 3) receive(target, scale * (chances[way] as number));
      }
    }
    if (lost > 0) for (const [node, chance] of seeds) receive(node, lost * chance);
  }
  let left = 0;
  for (const node of reached) {
    left += waiting[node] as number;
    ranks[node] = (ranks[node] as number) + (waiting[node] as number);
  }
  return { reached, ranks, error: 2 * (1 - restartProb) * left };
}
