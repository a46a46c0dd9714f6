/** A weighted connection between two nodes, given by their numbers. */
export interface WeightedEdge {
  readonly from: number;
  readonly to: number;
  /** Positive. */
  readonly weight: number;
}

/**
 * The edges that leave each node, in compressed sparse rows: those of node `n` stand at `offsets[n]` up to `offsets[n + 1]`.
 * The weights of a node add up to 1, so they are the chances of a walker.
 */
export interface Adjacency {
  readonly nodeCount: number;
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  readonly chances: Float64Array;
}

/** Edges keep their order within a node, so equal input gives equal arrays. */
export function createAdjacency(nodeCount: number, edges: readonly WeightedEdge[]): Adjacency {
  const offsets = new Uint32Array(nodeCount + 1);
  for (const { from } of edges) offsets[from + 1] = (offsets[from + 1] as number) + 1;
  for (let node = 0; node < nodeCount; node += 1) {
    offsets[node + 1] = (offsets[node + 1] as number) + (offsets[node] as number);
  }
  const targets = new Uint32Array(edges.length);
  const chances = new Float64Array(edges.length);
  const totals = new Float64Array(nodeCount);
  const next = offsets.slice();
  for (const { from, to, weight } of edges) {
    const place = next[from] as number;
    next[from] = place + 1;
    targets[place] = to;
    chances[place] = weight;
    totals[from] = (totals[from] as number) + weight;
  }
  for (let node = 0; node < nodeCount; node += 1) {
    for (let place = offsets[node] as number; place < (offsets[node + 1] as number); place += 1) {
      chances[place] = (chances[place] as number) / (totals[node] as number);
    }
  }
  return { nodeCount, offsets, targets, chances };
}
