import type { EdgeList } from './edge-list.js';
import type { ResolvedEdgeOptions } from './edges/edge-kinds.js';
import type { FoundNeighbours } from './similarity/neighbour-lists.js';

/** What a graph is made of. Nodes are numbered in the order of their ids. */
export interface ChunkGraphData {
  readonly ids: readonly string[];
  readonly titles: readonly (string | undefined)[];
  readonly options: ResolvedEdgeOptions;
  /** Of the vector of each node. */
  readonly fingerprints: BigUint64Array;
  /** What the edges of the kind `similarity` are made of. */
  readonly neighbours: FoundNeighbours | undefined;
  readonly otherEdges: EdgeList;
}
