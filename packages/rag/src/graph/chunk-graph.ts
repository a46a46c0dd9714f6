import { QuiverError } from '@quiver/core';
import { createAdjacency, type Adjacency } from './adjacency.js';
import type { ChunkGraphData } from './chunk-graph-data.js';
import type { EdgeList } from './edge-list.js';
import type { EdgeKind } from './edges/edge-kinds.js';
import { addSimilarityEdges } from './edges/similarity-edges.js';
import { graphToDot } from './graph-to-dot.js';
import { rankNodes, type RankedNumber } from './rank-nodes.js';
import { readSnapshot, writeSnapshot } from './snapshot/chunk-graph-snapshot.js';

/** A connection between two passages. It is walked in both directions; from and to tell in which one it was found. */
export interface ChunkEdge {
  /** Ids of passages. */
  from: string;
  to: string;
  kind: EdgeKind;
  /** Comparable with other edges of the same kind; for `similarity` the cosine. */
  weight: number;
  /** A phrase that says why. */
  reason: string;
}

/** A passage that a search found. */
export interface GraphSeed {
  id: string;
  /** How well it was found. Seeds of 0 or less are left out. */
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
  /** Chance of a walker to start again at the seeds. Default 0.15. */
  restartProb?: number | undefined;
  /** Rounds of the computation at most. Default 100. */
  maxIterations?: number | undefined;
  /** Less than this is not passed on along edges, see `personalisedPageRank`. Default 1e-7. */
  tolerance?: number | undefined;
  /** Passages on which the walker may stand: others are neither found nor steps between others. Default all. */
  allowed?: ((id: string) => boolean) | undefined;
}

/** A passage with its rank for a question. */
export interface RankedChunk {
  id: string;
  /** In [0, 1]: the rank as a share of the best one's. */
  score: number;
  /** The likeliest way from a seed to the passage; empty for a seed. */
  path: ChunkEdge[];
}

/** A graph as JSON data for programs that draw or analyse it. */
export interface ChunkGraphJson {
  nodes: { id: string; title?: string }[];
  edges: ChunkEdge[];
}

/**
 * How hard it is for a walker to leave a passage: it goes on with the chance `w / (w + inertia)`, where `w` are the weights of its
 * edges, and stays otherwise. So one weak connection does not carry half of a passage's rank away.
 */
const inertia = 1;

/**
 * Passages and why they are connected: made by {@link buildChunkGraph}, never changed afterwards. It holds neither texts nor
 * vectors. Ranking finds, from what a search found, what is connected with it.
 */
export class ChunkGraph {
  /** @internal */
  readonly data: ChunkGraphData;
  readonly #edges: EdgeList;
  readonly #adjacency: Adjacency;
  readonly #numbers: ReadonlyMap<string, number>;

  /** @internal */
  constructor(data: ChunkGraphData) {
    this.data = data;
    this.#edges = data.otherEdges.copy();
    if (data.neighbours) addSimilarityEdges(this.#edges, data.neighbours.lists);
    const kindWeights = this.#edges.kindNames.map((kind) => data.options.weights[kind as EdgeKind]);
    this.#adjacency = createAdjacency(data.ids.length, this.#edges, { kindWeights, inertia });
    this.#numbers = new Map(data.ids.map((id, number) => [id, number]));
  }

  /** Of all passages, ordered. */
  get ids(): readonly string[] {
    return this.data.ids;
  }

  get edgeCount(): number {
    return this.#edges.count;
  }

  /** Share of the truly nearest passages that the edges of similarity hold: 1 when exact, otherwise measured on a sample. */
  get recall(): number {
    return this.data.neighbours?.recall ?? 1;
  }

  has(id: string): boolean {
    return this.#numbers.has(id);
  }

  /** All edges, each once. */
  *edges(): Generator<ChunkEdge, void> {
    for (let edge = 0; edge < this.#edges.count; edge += 1) yield this.#edge(edge);
  }

  /** The edges of a passage, in the direction away from it. @throws `GRAPH_INVALID` when there is no such passage */
  neighbours(id: string): ChunkEdge[] {
    const number = this.#require(id);
    const { offsets } = this.#adjacency;
    const edges: ChunkEdge[] = [];
    for (let way = offsets[number] as number; way < (offsets[number + 1] as number); way += 1) {
      edges.push(this.#step(number, way));
    }
    return edges;
  }

  /**
   * The passages that matter most for what a search found, best first; equal ones by id. The same graph and seeds give the same
   * ranking, bit by bit.
   *
   * @throws `GRAPH_INVALID` for bad numbers; `GRAPH_SEED_UNKNOWN` when a seed is not in the graph
   */
  rank({ seeds, allowed, restartProb = 0.15, ...options }: RankOptions): RankedChunk[] {
    const mayUse = allowed && askOnce((number) => allowed(this.ids[number] as string));
    const numbered = seeds
      .map(({ id, score }) => [this.#require(id, 'GRAPH_SEED_UNKNOWN'), score] as const)
      // Before places are given: a passage that is not allowed must have no influence.
      .filter(([number]) => !mayUse || mayUse(number));
    // Sorting is stable: seeds of equal score keep the order of the caller, whose search may have ranked them by more.
    numbered.sort(([, scoreOfA], [, scoreOfB]) => scoreOfB - scoreOfA);
    const ranked = rankNodes({
      ...options,
      restartProb,
      adjacency: this.#adjacency,
      seeds: numbered.map(([number, score], place) => [number, score > 0 ? 1 / (place + 1) ** 2 : score]),
      idOf: (number) => this.ids[number] as string,
      allowed: mayUse,
    });
    return ranked.map((found) => this.#ranked(found));
  }

  /**
   * The graph as bytes, to be kept and given to {@link ChunkGraph.deserialize}. A hundred bytes per passage or so: no texts, no
   * vectors.
   */
  serialize(): Uint8Array {
    return writeSnapshot(this.data);
  }

  /** @throws `GRAPH_INVALID` when the bytes are no graph, damaged, or of another version */
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

  /** The graph in the language of Graphviz. */
  toDOT(): string {
    return graphToDot(this.toJSON());
  }

  #ranked({ node, score, ways }: RankedNumber): RankedChunk {
    const path: ChunkEdge[] = [];
    let at = node;
    for (const way of ways.toReversed()) {
      const edge = this.#adjacency.edges[way] as number;
      const from = this.#edges.from(edge) === at ? this.#edges.to(edge) : this.#edges.from(edge);
      path.unshift(this.#step(from, way));
      at = from;
    }
    return { id: this.ids[node] as string, score, path };
  }

  #step(from: number, way: number): ChunkEdge {
    const edge = this.#edge(this.#adjacency.edges[way] as number);
    return { ...edge, from: this.ids[from] as string, to: this.ids[this.#adjacency.targets[way] as number] as string };
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
