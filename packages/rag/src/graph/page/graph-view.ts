/** A passage in the neighborhood of a question. */
export interface GraphViewNode {
  id: string;
  /** A few words that name the passage. */
  title: string;
  text: string;
  /** Where the passage comes from, for example a path. */
  source?: string;
  /** How well the passage matches the question by itself, in [0, 1]; only of passages the walk starts at. */
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
  /** The steps from a passage that matches the question to this one; empty when it matches the question itself. */
  path: readonly GraphViewEdge[];
}

/** The neighborhood of a question in a graph, as plain JSON data. */
export interface GraphView {
  /** The question. */
  query: string;
  nodes: readonly GraphViewNode[];
  /** Each connection once, whatever its direction. */
  edges: readonly GraphViewEdge[];
  /** Best first. */
  ranking: readonly GraphViewRank[];
}
