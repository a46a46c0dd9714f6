import type { EdgeList } from './edge-list.js';

/**
 * The ways that leave each node, in compressed sparse rows: those of node `n` stand at `offsets[n]` up to `offsets[n + 1]`.
 * The chances of a node's ways and its chance to stay add up to 1: they are those of a walker.
 */
export interface Adjacency {
  readonly nodeCount: number;
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  readonly chances: Float64Array;
  /** By node: the chance that a walker stays for a step. */
  readonly stays: Float64Array;
  /** The number of the edge behind each way. */
  readonly edges: Uint32Array;
}

export interface AdjacencyOptions {
  /** By the number of an edge's kind: what multiplies its weight. Default 1. */
  readonly kindWeights?: readonly number[];
  /** What speaks for staying, compared with the weights of the edges. Default 0: a walker goes on wherever there is a way. */
  readonly inertia?: number;
}

/** Each edge becomes two ways, one in each direction. Equal input gives equal arrays. */
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
  const chances = new Float64Array(edges.count * 2);
  const edgeOfWay = new Uint32Array(edges.count * 2);
  const totals = new Float64Array(nodeCount).fill(inertia);
  const next = offsets.slice();
  const addWay = (from: number, to: number, edge: number): void => {
    const way = next[from] as number;
    const weight = edges.weight(edge) * (kindWeights?.[edges.kindNumber(edge)] ?? 1);
    next[from] = way + 1;
    targets[way] = to;
    edgeOfWay[way] = edge;
    chances[way] = weight;
    totals[from] = (totals[from] as number) + weight;
  };
  for (let edge = 0; edge < edges.count; edge += 1) {
    addWay(edges.from(edge), edges.to(edge), edge);
    addWay(edges.to(edge), edges.from(edge), edge);
  }
  for (let node = 0; node < nodeCount; node += 1) {
    for (let way = offsets[node] as number; way < (offsets[node + 1] as number); way += 1) {
      chances[way] = (chances[way] as number) / (totals[node] as number);
    }
  }
  const stays = totals.map((total) => (inertia === 0 ? 0 : inertia / total));
  return { nodeCount, offsets, targets, chances, stays, edges: edgeOfWay };
}

function count(offsets: Uint32Array, node: number): void {
  offsets[node + 1] = (offsets[node + 1] as number) + 1;
}
