/** An edge between two numbered nodes. It is walked in both directions; `from` and `to` keep the direction in which it was found. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  /** Positive. */
  readonly weight: number;
  readonly kind: string;
  /** `undefined` where the weight is a cosine similarity, which is the reason. */
  readonly reason: string | undefined;
}

/**
 * The arcs that leave each node, in compressed sparse rows: the arcs of node `n` are at `offsets[n]` up to `offsets[n + 1]`. An
 * edge has two arcs, one in each direction. The transition probabilities of a node and its probability to stay add up to 1.
 */
export interface Adjacency {
  readonly nodeCount: number;
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  readonly probabilities: Float64Array;
  /** By node: probability that a walker stays for a step. */
  readonly stays: Float64Array;
  readonly edges: Uint32Array;
}

/**
 * Creates the arcs of all edges. Equal input gives equal arrays.
 *
 * @param kindWeights - factors of the weights by kind; 1 for others
 * @param inertia - weight of staying, compared with the weights of the edges. With 0 a walker always leaves a node that has an arc
 */
export function createAdjacency(
  nodeCount: number,
  edges: readonly Edge[],
  kindWeights: Readonly<Record<string, number>>,
  inertia: number,
): Adjacency {
  const offsets = new Uint32Array(nodeCount + 1);
  for (const { from, to } of edges) {
    (offsets[from + 1] as number) += 1;
    (offsets[to + 1] as number) += 1;
  }
  for (let node = 0; node < nodeCount; node += 1) (offsets[node + 1] as number) += offsets[node] as number;
  const targets = new Uint32Array(edges.length * 2);
  const probabilities = new Float64Array(edges.length * 2);
  const edgeOfArc = new Uint32Array(edges.length * 2);
  const totals = new Float64Array(nodeCount).fill(inertia);
  const next = offsets.slice();
  const factors = new Map(Object.entries(kindWeights));
  const addArc = (from: number, to: number, weight: number, edge: number): void => {
    const arc = next[from] as number;
    next[from] = arc + 1;
    targets[arc] = to;
    edgeOfArc[arc] = edge;
    probabilities[arc] = weight;
    (totals[from] as number) += weight;
  };
  for (let edge = 0; edge < edges.length; edge += 1) {
    const { from, to, weight, kind } = edges[edge] as Edge;
    const weighted = weight * (factors.get(kind) ?? 1);
    addArc(from, to, weighted, edge);
    addArc(to, from, weighted, edge);
  }
  for (let node = 0; node < nodeCount; node += 1) {
    for (let arc = offsets[node] as number; arc < (offsets[node + 1] as number); arc += 1) {
      (probabilities[arc] as number) /= totals[node] as number;
    }
  }
  const stays = totals.map((total) => (inertia === 0 ? 0 : inertia / total));
  return { nodeCount, offsets, targets, probabilities, stays, edges: edgeOfArc };
}
