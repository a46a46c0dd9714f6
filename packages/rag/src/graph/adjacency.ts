import type { EdgeList } from './edge-list.js';

/**
 * The ways that leave each node, in compressed sparse rows: those of node `n` stand at `offsets[n]` up to `offsets[n + 1]`.
 * The chances of a node's ways are those of a walker. They add up to 1, or to less: with the rest the walker goes back to where it
 * began.
 */
export interface Adjacency {
  readonly nodeCount: number;
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
  readonly chances: Float64Array;
  /** The number of the edge behind each way. */
  readonly edges: Uint32Array;
}

/**
 * Each edge becomes two ways, one in each direction. Equal input gives equal arrays.
 *
 * @param shares - how much of a walker each kind of edge gets, by the kind's number, whatever the scale of their weights: where a
 *   node's kinds have more than 1 in sum, they divide the walker by their shares. Each kind divides its part by the weights. Without:
 *   weights alone decide.
 */
export function createAdjacency(nodeCount: number, edges: EdgeList, shares?: readonly number[]): Adjacency {
  const offsets = new Uint32Array(nodeCount + 1);
  for (let edge = 0; edge < edges.count; edge += 1) {
    count(offsets, edges.from(edge));
    count(offsets, edges.to(edge));
  }
  for (let node = 0; node < nodeCount; node += 1) {
    offsets[node + 1] = (offsets[node + 1] as number) + (offsets[node] as number);
  }
  const targets = new Uint32Array(edges.count * 2);
  const edgeOfWay = new Uint32Array(edges.count * 2);
  const next = offsets.slice();
  const addWay = (from: number, to: number, edge: number): void => {
    const way = next[from] as number;
    next[from] = way + 1;
    targets[way] = to;
    edgeOfWay[way] = edge;
  };
  for (let edge = 0; edge < edges.count; edge += 1) {
    addWay(edges.from(edge), edges.to(edge), edge);
    addWay(edges.to(edge), edges.from(edge), edge);
  }
  const adjacency = { nodeCount, offsets, targets, edges: edgeOfWay, chances: new Float64Array(targets.length) };
  for (let node = 0; node < nodeCount; node += 1) setChances(adjacency, node, edges, shares);
  return adjacency;
}

function count(offsets: Uint32Array, node: number): void {
  offsets[node + 1] = (offsets[node + 1] as number) + 1;
}

function setChances(adjacency: Adjacency, node: number, edges: EdgeList, shares: readonly number[] | undefined): void {
  const { offsets, chances } = adjacency;
  const [start, end] = [offsets[node] as number, offsets[node + 1] as number];
  const totals = new Float64Array(shares?.length ?? 1);
  for (let way = start; way < end; way += 1) {
    const edge = adjacency.edges[way] as number;
    const group = shares ? edges.kindNumber(edge) : 0;
    totals[group] = (totals[group] as number) + edges.weight(edge);
  }
  let shared = 0;
  for (let group = 0; group < totals.length; group += 1) if (totals[group]) shared += shares?.[group] ?? 1;
  const divided = Math.max(1, shared);
  for (let way = start; way < end; way += 1) {
    const edge = adjacency.edges[way] as number;
    const group = shares ? edges.kindNumber(edge) : 0;
    chances[way] = ((edges.weight(edge) / (totals[group] as number)) * (shares?.[group] ?? 1)) / divided;
  }
}
