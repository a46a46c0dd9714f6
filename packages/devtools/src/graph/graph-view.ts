/** A passage in the neighborhood of a query. */
export interface GraphViewNode {
  id: string;
  /** A few words that name the passage. */
  title: string;
  text: string;
  /** Where the passage comes from, for example a path. */
  source?: string;
  /** Other places with the same text. */
  alsoIn?: readonly string[];
  /** Score of the search, in [0, 1]. Present for seeds only. */
  seedScore?: number;
}

/** A connection of two passages. */
export interface GraphViewEdge {
  from: string;
  to: string;
  /** For example `phrase`, `similarity` or `link`. */
  kind: string;
  /** Why the two are connected, for people. */
  reason: string;
  weight: number;
}

/** A passage that was found. */
export interface GraphViewRank {
  id: string;
  /** In [0, 1]. */
  score: number;
  /** Steps from a passage that matches the query to this one; empty for such a passage itself. */
  path: readonly GraphViewEdge[];
}

/** The neighborhood of a query in a graph, as plain JSON data. */
export interface GraphView {
  /** Text of the query. */
  query: string;
  nodes: readonly GraphViewNode[];
  /** Connections, each in one direction. */
  edges: readonly GraphViewEdge[];
  /** Best first. */
  ranking: readonly GraphViewRank[];
}
