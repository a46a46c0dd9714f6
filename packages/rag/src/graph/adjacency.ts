import type { EdgeList } from './edge-list.js';

/**
 * The arcs that leave each node, in compressed sparse rows: the arcs of node `n` are at `offsets[n]` up to `offsets[n + 1]`. An
 * edge has two arcs, one in each direction. The transition probabilities of a node and its probability to stay add up to 1.
 */
export interface Adjacency {
  readonly nodeCount: number;
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  /** Transition probability of each arc. */
  readonly probabilities: Float64Array;
  /** By node: probability that a walker stays for a step. */
  readonly stays: Float64Array;
  /** Edge of each arc. */
  readonly edges: Uint32Array;
}

export interface AdjacencyOptions {
  /** Factors of the weights, by the number of the edge's kind. Default 1. */
  readonly kindWeights?: readonly number[];
  /** Weight of staying, compared with the weights of the edges. Default 0: a walker always leaves a node that has an arc. */
  readonly inertia?: number;
}

/** Creates the arcs of all edges. Equal input gives equal arrays. */
export function createAdjacency(nodeCount: number, edges: EdgeList, options: AdjacencyOptions = {}): Adjacency {
  const { kindWeights, inertia = 0 } = options;
  const offsets = new Uint32Array(nodeCount + 1);
  for (let edge = 0; edge < edges.count; edge += 1) {
    count(offsets, edges.from(edge));
    count(offsets, edges.to(edge));
  }
  for (let node = 0; node < nodeCount; node += 1) {
    offsets[node + 1] = (offsets[node + 1] as number) + (offsets[node] as number);
  }
  const targets = new Uint32Array(edges.count * 2);
  const probabilities = new Float64Array(edges.count * 2);
  const edgeOfArc = new Uint32Array(edges.count * 2);
  const totals = new Float64Array(nodeCount).fill(inertia);
  const next = offsets.slice();
  const addArc = (from: number, to: number, edge: number): void => {
    const arc = next[from] as number;
    const weight = edges.weight(edge) * (kindWeights?.[edges.kindNumber(edge)] ?? 1);
    next[from] = arc + 1;
    targets[arc] = to;
    edgeOfArc[arc] = edge;
    probabilities[arc] = weight;
    totals[from] = (totals[from] as number) + weight;
  };
  for (let edge = 0; edge < edges.count; edge += 1) {
    addArc(edges.from(edge), edges.to(edge), edge);
    addArc(edges.to(edge), edges.from(edge), edge);
  }
  for (let node = 0; node < nodeCount; node += 1) {
    for (let arc = offsets[node] as number; arc < (offsets[node + 1] as number); arc += 1) {
      probabilities[arc] = (probabilities[arc] as number) / (totals[node] as number);
    }
  }
  const stays = totals.map((total) => (inertia === 0 ? 0 : inertia / total));
  return { nodeCount, offsets, targets, probabilities, stays, edges: edgeOfArc };
}

function count(offsets: Uint32Array, node: number): void {
  offsets[node + 1] = (offsets[node + 1] as number) + 1;
}
