import { QuiverError } from '@quiver/core';
import { anyValue, checkOptions, functionValue, type OptionChecks, invalidOptions } from '@quiver/core/internal';
import { TopK } from '../store/top-k.js';
import { defaultTopK } from '../store/options.js';
import { createAdjacency, type Adjacency, type Edge } from './adjacency.js';
import { defaultWalk, type EdgeKind } from './graph-options.js';
import { personalizedPageRank } from './personalized-page-rank.js';
import { readSnapshot, writeSnapshot, type GraphData } from './snapshot.js';
import { strongestPaths, type PathStep } from './strongest-paths.js';
import { indexTitles, titlesInQuery, type TitledPassage, type TitleIndex } from './titles-in-query.js';

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

const rankChecks: OptionChecks<RankOptions> = {
  seeds: anyValue,
  topK: anyValue,
  restartProb: anyValue,
  maxIterations: anyValue,
  tolerance: anyValue,
  allowed: functionValue,
};

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

/** Options of a random walk from passages with weights. */
export interface WalkOptions extends Omit<RankOptions, 'seeds' | 'topK'> {
  readonly seeds: readonly (readonly [id: string, weight: number])[];
}

/** Ranks of a random walk. */
export interface Walk<Node> {
  /** By reached passage: the share of the best rank, above 0. */
  readonly scores: ReadonlyMap<Node, number>;
  /** Returns the strongest path from a seed to each passage that has one. */
  readonly pathsTo: (nodes: Iterable<Node>) => Map<Node, ChunkEdge[]>;
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
  /** Created at the first query that needs it. */
  #titles: TitleIndex | undefined;

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

  /** Returns the edges of a passage, in the direction away from it. @throws `OPTIONS_INVALID` for an unknown passage */
  neighbors(id: string): ChunkEdge[] {
    const from = this.#require(id);
    const { offsets, edges } = this.#adjacency;
    return Array.from(edges.subarray(offsets[from], offsets[from + 1]), (edge) => this.#step({ from, edge }));
  }

  /**
   * Returns the passages that matter most for the results of a search, best first; equal ones by id. The same graph and seeds
   * give the same ranking, bit by bit.
   *
   * @throws `OPTIONS_INVALID` for an unknown option and bad numbers; `GRAPH_SEED_UNKNOWN` when a seed is not in the graph
   */
  rank(given: RankOptions): RankedChunk[] {
    checkOptions('ChunkGraph.rank', given, rankChecks);
    const { seeds, allowed, ...options } = given;
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
  rankFrom({ topK = defaultTopK, ...options }: RankNodesOptions): RankedChunk[] {
    if (!(topK >= 1)) throw invalidOptions('TopK must be greater than 0');
    const { scores, pathsTo } = this.#walk(options);
    const top = new TopK(Math.floor(topK), (node) => this.ids[node] as string);
    for (const [node, score] of scores) top.offer(node, score);
    const found = top.toSorted();
    const paths = pathsTo(found.map(({ row }) => row));
    return found.map(({ row, similarity: score }) => ({
      id: this.ids[row] as string,
      score,
      path: paths.get(row) ?? [],
    }));
  }

  /** Ranks all passages that are reached from weighted ones, for rankings that combine the walk with something else. @internal */
  walk({ seeds, allowed, ...options }: WalkOptions): Walk<string> {
    const idOf = (node: number): string => this.ids[node] as string;
    const { scores, pathsTo } = this.#walk({
      ...options,
      seeds: seeds.map(([id, weight]) => [this.#require(id, 'GRAPH_SEED_UNKNOWN'), weight]),
      allowed: allowed && ((node) => allowed(idOf(node))),
    });
    return {
      scores: new Map(Array.from(scores, ([node, score]) => [idOf(node), score])),
      pathsTo: (ids) => {
        const paths = pathsTo(Array.from(ids, (id) => this.#require(id)));
        return new Map(Array.from(paths, ([node, path]) => [idOf(node), path]));
      },
    };
  }

  /** Returns the passages whose titles a query names, see {@link titlesInQuery}. @internal */
  titlesIn(query: string, allowed?: (id: string) => boolean): TitledPassage[] {
    const { titles, titled } = this.data;
    this.#titles ??= indexTitles(Array.from(titled, (node) => [this.ids[node] as string, titles[node] ?? '']));
    return titlesInQuery(query, this.#titles, allowed);
  }

  #walk(options: Omit<RankNodesOptions, 'topK'>): Walk<number> {
    const {
      restartProb = defaultWalk.restartProb,
      maxIterations = defaultWalk.randomWalkSteps,
      tolerance,
      allowed,
    } = options;
    if (!(maxIterations >= 1)) throw invalidOptions('Random walk steps must be greater than 0');
    if (!(restartProb > 0 && restartProb < 1)) throw invalidOptions('Restart probability must be between 0 and 1');
    if (tolerance !== undefined && !(tolerance >= 0))
      throw invalidOptions(`The tolerance must not be negative, but it is ${tolerance}.`);
    const adjacency = this.#adjacency;
    const seeds = restartProbabilities(options.seeds);
    if (seeds.size === 0) return { scores: new Map(), pathsTo: () => new Map() };
    const { reached, ranks } = personalizedPageRank({
      adjacency,
      seeds,
      restartProb,
      maxIterations: Math.floor(maxIterations),
      tolerance,
      allowed,
    });
    const best = reached.reduce((largest, node) => Math.max(largest, ranks[node] as number), 0);
    const scores = new Map<number, number>();
    for (const node of reached) {
      const score = roundScore((ranks[node] as number) / best);
      if (score > 0) scores.set(node, score);
    }
    return {
      scores,
      pathsTo: (nodes) => {
        const paths = strongestPaths({
          adjacency,
          seeds,
          targets: nodes,
          allowed: allowed && ((node) => (ranks[node] as number) > 0),
        });
        return new Map(Array.from(paths, ([node, path]) => [node, path.map((step) => this.#step(step))]));
      },
    };
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

  #require(id: string, code = 'OPTIONS_INVALID'): number {
    const number = this.#numbers.get(id);
    if (number === undefined) {
      throw new QuiverError(code, `There is no passage '${id}' in the graph. Was the graph built before it was added?`);
    }
    return number;
  }
}

/** Rounds a score, so that scores that differ only by the order of additions are equal. */
export function roundScore(score: number): number {
  return Math.round(score * scoreSteps) / scoreSteps;
}

function restartProbabilities(seeds: RankNodesOptions['seeds']): Map<number, number> {
  const weights = new Map<number, number>();
  for (const [node, weight] of seeds) {
    if (typeof weight !== 'number' || Number.isNaN(weight))
      throw invalidOptions('The score of a seed must be a number.');
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
