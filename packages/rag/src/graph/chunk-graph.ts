import { QuiverError } from '@quiver/core';
import { createAdjacency, type Adjacency } from './adjacency.js';
import type { EdgeList } from './edge-list.js';
import type { EdgeKind } from './edge-options.js';
import { addSimilarityEdges } from './neighbor-lists.js';
import { rankNodes, type RankedNumber, type RankNodesOptions } from './rank-nodes.js';
import { readSnapshot, writeSnapshot, type GraphData } from './snapshot.js';

/** An edge between two passages. It is walked in both directions; `from` and `to` keep the direction in which it was found. */
export interface ChunkEdge {
  /** Ids of passages. */
  from: string;
  to: string;
  kind: EdgeKind;
  /** Comparable with other edges of the same kind; for `similarity` the cosine. */
  weight: number;
  /** A phrase that names the reason. */
  reason: string;
}

/** A result of a search, where ranking starts. */
export interface GraphSeed {
  id: string;
  /** Score of the search. Seeds of 0 or less are left out. */
  score: number;
}

export interface RankOptions {
  /**
   * Results of a search for the query; ten to twenty are good. They count by their rank, 1, 1/4, 1/9, …, because scores of
   * different searches are not comparable, and fused scores carry little more than the order. Equal scores keep this order.
   */
  seeds: readonly GraphSeed[];
  /** Default 10. */
  topK?: number | undefined;
  /** Probability of a walker to restart at the seeds. Default 0.15. */
  restartProb?: number | undefined;
  /** Most rounds of the computation. Default 100. */
  maxIterations?: number | undefined;
  /** Smallest amount that is passed on along edges, see `personalizedPageRank`. Default 1e-7. */
  tolerance?: number | undefined;
  /** Whether a passage may be used: others are neither found nor steps between others. Default all. */
  allowed?: ((id: string) => boolean) | undefined;
}

/** A passage with its rank for a query. */
export interface RankedChunk {
  id: string;
  /** Rank as a share of the best rank, in [0, 1]. */
  score: number;
  /** Most likely path from a seed to the passage; empty for a seed. */
  path: ChunkEdge[];
}

/** A graph as JSON data for programs that draw or analyze it. */
export interface ChunkGraphJson {
  nodes: { id: string; title?: string }[];
  edges: ChunkEdge[];
}

/**
 * Weight of staying at a passage. A walker leaves the passage with the probability `w / (w + inertia)`, where `w` is the sum of the weights
 * of the passage's edges, and stays otherwise. So one weak edge does not carry half of a passage's rank away.
 */
const defaultInertia = 1;

/**
 * Passages and the reasons that connect them, created by {@link buildChunkGraph} and never changed. It contains neither texts
 * nor vectors. Ranking starts at the results of a search and finds passages that are connected with them.
 */
export class ChunkGraph {
  /** @internal */
  readonly data: GraphData;
  readonly #edges: EdgeList;
  readonly #adjacency: Adjacency;
  readonly #numbers: ReadonlyMap<string, number>;

  /** @internal */
  constructor(data: GraphData, inertia: number = defaultInertia) {
    this.data = data;
    this.#edges = data.otherEdges;
    if (data.neighbors) {
      this.#edges = data.otherEdges.copy();
      addSimilarityEdges(this.#edges, data.neighbors);
    }
    const { weights } = data.options;
    const kindWeights = this.#edges.kindNames.map((kind) => weights[kind as EdgeKind] ?? 1);
    this.#adjacency = createAdjacency(data.ids.length, this.#edges, { kindWeights, inertia });
    this.#numbers = new Map(data.ids.map((id, number) => [id, number]));
  }

  /** Ids of all passages, ordered. */
  get ids(): readonly string[] {
    return this.data.ids;
  }

  get edgeCount(): number {
    return this.#edges.count;
  }

  has(id: string): boolean {
    return this.#numbers.has(id);
  }

  /** Returns each edge once. */
  *edges(): Generator<ChunkEdge, void> {
    for (let edge = 0; edge < this.#edges.count; edge += 1) yield this.#edge(edge);
  }

  /** Returns the edges of a passage, in the direction away from it. @throws `GRAPH_INVALID` for an unknown passage */
  neighbors(id: string): ChunkEdge[] {
    const number = this.#require(id);
    const { offsets } = this.#adjacency;
    const edges: ChunkEdge[] = [];
    for (let arc = offsets[number] as number; arc < (offsets[number + 1] as number); arc += 1) {
      edges.push(this.#step(number, arc));
    }
    return edges;
  }

  /**
   * Returns the passages that matter most for the results of a search, best first; equal ones by id. The same graph and seeds
   * give the same ranking, bit by bit.
   *
   * @throws `GRAPH_INVALID` for bad numbers; `GRAPH_SEED_UNKNOWN` when a seed is not in the graph
   */
  rank({ seeds, allowed, restartProb = 0.15, ...options }: RankOptions): RankedChunk[] {
    const isAllowed = allowed && askOnce((number) => allowed(this.ids[number] as string));
    const numbered = seeds
      .map(({ id, score }) => [this.#require(id, 'GRAPH_SEED_UNKNOWN'), score] as const)
      // Before ranks are assigned: a passage that is not allowed must have no influence.
      .filter(([number]) => !isAllowed || isAllowed(number));
    // Sorting is stable: seeds of equal score keep the order of the caller, whose search may have ranked them by more.
    numbered.sort(([, scoreOfA], [, scoreOfB]) => scoreOfB - scoreOfA);
    const weighted = numbered.map(
      ([number, score], place) => [number, score > 0 ? 1 / (place + 1) ** 2 : score] as const,
    );
    return this.rankFrom({ ...options, restartProb, seeds: weighted, allowed: isAllowed });
  }

  /** Ranks from weighted node numbers. @internal */
  rankFrom(options: Omit<RankNodesOptions, 'adjacency' | 'idOf'>): RankedChunk[] {
    const idOf = (number: number): string => this.ids[number] as string;
    return rankNodes({ ...options, idOf, adjacency: this.#adjacency }).map((found) => this.#ranked(found));
  }

  /**
   * Returns the graph as bytes for {@link ChunkGraph.deserialize}: about a hundred bytes per passage, without texts and
   * vectors.
   */
  serialize(): Uint8Array {
    return writeSnapshot(this.data);
  }

  /** @throws `GRAPH_INVALID` when the bytes are not a graph, damaged, or of another version */
  static deserialize(bytes: Uint8Array): ChunkGraph {
    return new ChunkGraph(readSnapshot(bytes));
  }

  toJSON(): ChunkGraphJson {
    const { ids, titles } = this.data;
    return {
      nodes: ids.map((id, number) => {
        const title = titles[number];
        return title === undefined ? { id } : { id, title };
      }),
      edges: [...this.edges()],
    };
  }

  /**
   * Returns the graph in the language of Graphviz: nodes with their titles or ids, edges with their reasons.
   *
   * @see [The DOT language](https://graphviz.org/doc/info/lang.html)
   */
  toDOT(): string {
    const { nodes, edges } = this.toJSON();
    const lines = [
      ...nodes.map(({ id, title }) => `  ${quote(id)} [label=${quote(title ?? id)}];`),
      ...edges.map(
        ({ from, to, kind, weight, reason }) =>
          `  ${quote(from)} -- ${quote(to)} [class=${quote(kind)}, weight=${Math.max(1, Math.round(weight * 100))}, tooltip=${quote(reason)}];`,
      ),
    ];
    return `graph {\n${lines.join('\n')}\n}\n`;
  }

  #ranked({ node, score, arcs }: RankedNumber): RankedChunk {
    const path: ChunkEdge[] = [];
    let at = node;
    for (const arc of arcs.toReversed()) {
      const edge = this.#adjacency.edges[arc] as number;
      const from = this.#edges.from(edge) === at ? this.#edges.to(edge) : this.#edges.from(edge);
      path.unshift(this.#step(from, arc));
      at = from;
    }
    return { id: this.ids[node] as string, score, path };
  }

  #step(from: number, arc: number): ChunkEdge {
    const edge = this.#edge(this.#adjacency.edges[arc] as number);
    return { ...edge, from: this.ids[from] as string, to: this.ids[this.#adjacency.targets[arc] as number] as string };
  }

  #edge(edge: number): ChunkEdge {
    return {
      from: this.ids[this.#edges.from(edge)] as string,
      to: this.ids[this.#edges.to(edge)] as string,
      kind: this.#edges.kind(edge) as EdgeKind,
      weight: this.#edges.weight(edge),
      reason: this.#edges.reason(edge),
    };
  }

  #require(id: string, code = 'GRAPH_INVALID'): number {
    const number = this.#numbers.get(id);
    if (number === undefined) {
      throw new QuiverError(code, `There is no passage '${id}' in the graph. Was the graph built before it was added?`);
    }
    return number;
  }
}

function askOnce(ask: (number: number) => boolean): (number: number) => boolean {
  const answers = new Map<number, boolean>();
  return (number) => {
    const answer = answers.get(number) ?? ask(number);
    answers.set(number, answer);
    return answer;
  };
}

/** Escapes backslashes, too: they would begin an escape such as `\N`. */
function quote(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/\r\n?|\n/g, '\\n')}"`;
}
