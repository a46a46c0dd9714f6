import { QuiverError } from '@quiver/core';
import { TopK } from '../retrieval/top-k.js';
import { createAdjacency, type Adjacency, type Edge } from './adjacency.js';
import type { EdgeKind } from './graph-options.js';
import { graphInvalid } from './graph-error.js';
import { personalizedPageRank } from './personalized-page-rank.js';
import { readSnapshot, writeSnapshot, type GraphData } from './snapshot.js';
import { strongestPaths, type PathStep } from './strongest-paths.js';

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

/** Options of `ChunkGraph.rank()`. */
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

/** Options of a ranking from node numbers. */
export interface RankNodesOptions extends Omit<RankOptions, 'seeds' | 'allowed'> {
  /** Allowed nodes with their share of the restarts; shares of 0 or less are left out. */
  readonly seeds: readonly (readonly [node: number, weight: number])[];
  readonly allowed?: ((node: number) => boolean) | undefined;
}

/**
 * Weight of staying at a passage. A walker leaves the passage with the probability `w / (w + inertia)`, where `w` is the sum of the weights
 * of the passage's edges, and stays otherwise. So one weak edge does not carry half of a passage's rank away.
 */
const defaultInertia = 1;
/** Scores are rounded to this step; equal scores are ordered by id. */
const scoreSteps = 1e9;

/**
 * Passages and the reasons that connect them, created by {@link buildChunkGraph} and never changed. It contains neither texts
 * nor vectors. Ranking starts at the results of a search and finds passages that are connected with them.
 */
export class ChunkGraph {
  /** @internal */
  readonly data: GraphData;
  readonly #adjacency: Adjacency;
  readonly #numbers: ReadonlyMap<string, number>;

  /** @internal */
  constructor(data: GraphData, inertia: number = defaultInertia) {
    const { ids, edges, options } = data;
    this.data = data;
    this.#adjacency = createAdjacency(ids.length, edges, { kindWeights: options.weights, inertia });
    this.#numbers = new Map(ids.map((id, number) => [id, number]));
  }

  /** Ids of all passages, ordered. */
  get ids(): readonly string[] {
    return this.data.ids;
  }

  get edgeCount(): number {
    return this.data.edges.length;
  }

  has(id: string): boolean {
    return this.#numbers.has(id);
  }

  /** Returns each edge once. */
  *edges(): Generator<ChunkEdge, void> {
    for (const edge of this.data.edges) yield this.#toChunkEdge(edge, edge.from);
  }

  /** Returns the edges of a passage, in the direction away from it. @throws `GRAPH_INVALID` for an unknown passage */
  neighbors(id: string): ChunkEdge[] {
    const from = this.#require(id);
    const { offsets, edges } = this.#adjacency;
    return Array.from(edges.subarray(offsets[from], offsets[from + 1]), (edge) => this.#step({ from, edge }));
  }

  /**
   * Returns the passages that matter most for the results of a search, best first; equal ones by id. The same graph and seeds
   * give the same ranking, bit by bit.
   *
   * @throws `GRAPH_INVALID` for bad numbers; `GRAPH_SEED_UNKNOWN` when a seed is not in the graph
   */
  rank({ seeds, allowed, ...options }: RankOptions): RankedChunk[] {
    const isAllowed = allowed && ((number: number): boolean => allowed(this.ids[number] as string));
    const numbered = seeds
      .map(({ id, score }) => [this.#require(id, 'GRAPH_SEED_UNKNOWN'), score] as const)
      // Before ranks are assigned: a passage that is not allowed must have no influence.
      .filter(([number]) => !isAllowed || isAllowed(number));
    // Sorting is stable: seeds of equal score keep the order of the caller, whose search may have ranked them by more.
    numbered.sort(([, scoreOfA], [, scoreOfB]) => scoreOfB - scoreOfA);
    const weighted = numbered.map(
      ([number, score], place) => [number, score > 0 ? 1 / (place + 1) ** 2 : score] as const,
    );
    return this.rankFrom({ ...options, seeds: weighted, allowed: isAllowed });
  }

  /** Ranks from weighted node numbers by personalized PageRank. @internal */
  rankFrom(options: RankNodesOptions): RankedChunk[] {
    const { topK = 10, restartProb = 0.15, maxIterations = 100, tolerance = 1e-7, allowed } = options;
    if (!(topK >= 1)) throw graphInvalid('TopK must be greater than 0');
    if (!(maxIterations >= 1)) throw graphInvalid('Random walk steps must be greater than 0');
    if (!(restartProb > 0 && restartProb < 1)) throw graphInvalid('Restart probability must be between 0 and 1');
    if (!(tolerance >= 0)) throw graphInvalid(`The tolerance must not be negative, but it is ${tolerance}.`);
    const adjacency = this.#adjacency;
    const seeds = restartProbabilities(options.seeds);
    if (seeds.size === 0) return [];
    const { reached, ranks } = personalizedPageRank({
      adjacency,
      seeds,
      restartProb,
      maxIterations: Math.floor(maxIterations),
      tolerance,
      allowed,
    });
    const best = reached.reduce((largest, node) => Math.max(largest, ranks[node] as number), 0);
    const top = new TopK(Math.floor(topK), (node) => this.ids[node] as string);
    for (const node of reached) {
      const score = Math.round(((ranks[node] as number) / best) * scoreSteps) / scoreSteps;
      if (score > 0) top.offer(node, score);
    }
    const found = top.toSorted();
    const paths = strongestPaths({
      adjacency,
      seeds,
      targets: found.map(({ row }) => row),
      allowed: allowed && ((node) => (ranks[node] as number) > 0),
    });
    return found.map(({ row, similarity: score }) => ({
      id: this.ids[row] as string,
      score,
      path: (paths.get(row) ?? []).map((step) => this.#step(step)),
    }));
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

  /** Returns an edge in the direction away from a node. */
  #step({ from, edge }: PathStep): ChunkEdge {
    return this.#toChunkEdge(this.data.edges[edge] as Edge, from);
  }

  #toChunkEdge({ from, to, weight, kind, reason }: Edge, start: number): ChunkEdge {
    const end = start === from ? to : from;
    return {
      from: this.ids[start] as string,
      to: this.ids[end] as string,
      // Kinds of `GraphRAG` may be any text; they do not leave its methods.
      kind: kind as EdgeKind,
      weight,
      reason: reason ?? `cosine similarity ${weight.toFixed(2)}`,
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

function restartProbabilities(seeds: RankNodesOptions['seeds']): Map<number, number> {
  const weights = new Map<number, number>();
  for (const [node, weight] of seeds) {
    if (typeof weight !== 'number' || Number.isNaN(weight)) throw graphInvalid('The score of a seed must be a number.');
    if (weight > 0) weights.set(node, Math.max(weights.get(node) ?? 0, weight));
  }
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return new Map([...weights].sort(([a], [b]) => a - b).map(([node, weight]) => [node, weight / total]));
}

/** Escapes backslashes, too: they would begin an escape such as `\N`. */
function quote(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/\r\n?|\n/g, '\\n')}"`;
}
