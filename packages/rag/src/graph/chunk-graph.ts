import { invalidOptions } from '@quiver/core/internal';
import { TopK } from '../store/top-k.js';
import { createAdjacency, type Adjacency, type Edge } from './adjacency.js';
import type { SearchedNeighbors } from './find-neighbors.js';
import { defaultWalk, type EdgeKind } from './graph-options.js';
import { personalizedPageRank } from './personalized-page-rank.js';
import { strongestPaths, type PathStep } from './strongest-paths.js';
import { indexTitles, titlesInQuery, type TitledPassage, type TitleIndex } from './titles-in-query.js';

/** An edge between two passages. It is walked in both directions; `from` and `to` keep the direction in which it was found. */
export interface ChunkEdge {
  /** Ids of passages. */
  from: string;
  to: string;
  kind: EdgeKind;
  /** Comparable with other edges of the same kind; for `similarity` the cosine to four digits. */
  weight: number;
  /** A phrase that names the reason. */
  reason: string;
}

/** A graph as JSON data for programs that draw or analyze it. */
export interface ChunkGraphJson {
  nodes: { id: string; title?: string }[];
  edges: ChunkEdge[];
}

/** Contents of a graph, as JSON data. Nodes are numbers, positions in `ids`. */
export interface GraphData {
  readonly ids: readonly string[];
  readonly titles: readonly (string | null)[];
  /** Nodes whose titles are rare names, which queries may use. */
  readonly titled: readonly number[];
  /** Factors of the weights of edges by kind; 1 for a kind that is absent. */
  readonly weights: Readonly<Partial<Record<EdgeKind, number>>>;
  readonly edges: readonly Edge[];
}

/** Options of a random walk from passages with weights. */
export interface WalkOptions {
  /** Shares of the restarts. */
  readonly seeds: readonly (readonly [id: string, weight: number])[];
  /** Probability of a walker to restart at the seeds. Default 0.15. */
  readonly restartProb?: number | undefined;
  /** Most rounds of the computation. Default 100. */
  readonly maxIterations?: number | undefined;
  /** Whether a passage may be used: others are neither found nor steps between others. Default all. */
  readonly allowed?: ((id: string) => boolean) | undefined;
}

/** Ranks of a random walk. */
export interface Walk {
  /** By reached passage: the share of the best rank, above 0. */
  readonly scores: ReadonlyMap<string, number>;
  /** Returns the strongest path from a seed to each passage that has one. */
  readonly pathsTo: (ids: Iterable<string>) => Map<string, ChunkEdge[]>;
}

/**
 * Weight of staying at a passage. A walker leaves the passage with the probability `w / (w + inertia)`, where `w` is the sum of the weights
 * of the passage's edges, and stays otherwise. So one weak edge does not carry half of a passage's rank away.
 */
const defaultInertia = 1;
/** Scores are rounded to this step; equal scores are ordered by id. */
const scoreSteps = 1e9;

/**
 * Passages and the reasons that connect them, created by {@link buildChunkGraph} and never changed, to draw and to analyze. It contains
 * neither texts nor vectors. `createGraphRAGTool` ranks the passages of an index by its graph.
 */
export class ChunkGraph {
  /** @internal */
  readonly data: GraphData;
  /** Absent in a graph that was stored, and without edges of similarity. @internal */
  readonly searched: SearchedNeighbors | undefined;
  readonly #adjacency: Adjacency;
  readonly #numbers: ReadonlyMap<string, number>;
  #titles: TitleIndex | undefined;

  /** @internal */
  constructor(data: GraphData, searched?: SearchedNeighbors, inertia: number = defaultInertia) {
    const { ids, edges, weights } = data;
    this.data = data;
    this.searched = searched;
    this.#adjacency = createAdjacency(ids.length, edges, weights, inertia);
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
    for (const [edge, { from }] of this.data.edges.entries()) yield this.#step({ from, edge });
  }

  /** Returns the edges of a passage, in the direction away from it. @throws `OPTIONS_INVALID` for an unknown passage */
  neighbors(id: string): ChunkEdge[] {
    const from = this.#require(id);
    const { offsets, edges } = this.#adjacency;
    return Array.from(edges.subarray(offsets[from], offsets[from + 1]), (edge) => this.#step({ from, edge }));
  }

  /**
   * Ranks all passages that are reached from weighted ones, by personalized PageRank. The same graph and seeds give the same ranks, bit by bit.
   *
   * @internal
   */
  walk({ seeds, restartProb, maxIterations, allowed }: WalkOptions): Walk {
    const adjacency = this.#adjacency;
    const starts = this.#restartProbabilities(seeds);
    if (starts.size === 0) return { scores: new Map(), pathsTo: () => new Map() };
    const { reached, ranks } = personalizedPageRank({
      adjacency,
      seeds: starts,
      restartProb: restartProb ?? defaultWalk.restartProb,
      maxIterations: maxIterations ?? defaultWalk.randomWalkSteps,
      allowed: allowed && ((node) => allowed(this.#idOf(node))),
    });
    const best = reached.reduce((largest, node) => Math.max(largest, ranks[node] as number), 0);
    const shares = reached.map((node) => [this.#idOf(node), roundScore((ranks[node] as number) / best)] as const);
    return {
      scores: new Map(shares.filter(([, share]) => share > 0)),
      pathsTo: (ids) => {
        const paths = strongestPaths({
          adjacency,
          seeds: starts,
          targets: Array.from(ids, (id) => this.#require(id)),
          allowed: allowed && ((node) => (ranks[node] as number) > 0),
        });
        return new Map(Array.from(paths, ([node, path]) => [this.#idOf(node), path.map((step) => this.#step(step))]));
      },
    };
  }

  #restartProbabilities(seeds: WalkOptions['seeds']): Map<number, number> {
    const total = seeds.reduce((sum, [, weight]) => sum + weight, 0);
    const numbered = seeds.map(([id, weight]) => [this.#require(id), weight / total] as const);
    return new Map(numbered.filter(([, share]) => share > 0).toSorted(([a], [b]) => a - b));
  }

  /** Returns the passages whose titles a query names, see {@link titlesInQuery}. @internal */
  titlesIn(query: string, allowed?: (id: string) => boolean): TitledPassage[] {
    const { titles, titled } = this.data;
    this.#titles ??= indexTitles(Array.from(titled, (node) => [this.ids[node] as string, titles[node] ?? '']));
    return titlesInQuery(query, this.#titles, allowed);
  }

  toJSON(): ChunkGraphJson {
    const { ids, titles } = this.data;
    return {
      nodes: ids.map((id, number) => {
        const title = titles[number];
        return typeof title === 'string' ? { id, title } : { id };
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

  #step({ from: start, edge }: PathStep): ChunkEdge {
    const { from, to, weight, kind, reason } = this.data.edges[edge] as Edge;
    return {
      from: this.#idOf(start),
      to: this.#idOf(start === from ? to : from),
      // Kinds of `GraphRAG` may be any text; they do not leave its methods.
      kind: kind as EdgeKind,
      weight,
      reason: reason ?? `cosine similarity ${weight.toFixed(2)}`,
    };
  }

  #idOf(node: number): string {
    return this.ids[node] as string;
  }

  #require(id: string): number {
    const number = this.#numbers.get(id);
    if (number === undefined)
      throw invalidOptions(`There is no passage '${id}' in the graph. Was the graph built before it was added?`);
    return number;
  }
}

/** Returns the best passages with their scores as shares of the best one, best first; equal ones by id. */
export function bestOf(scores: ReadonlyMap<string, number>, topK: number): { id: string; score: number }[] {
  const all = [...scores];
  const largest = all.reduce((most, [, score]) => Math.max(most, score), 0);
  const top = new TopK(topK, (row) => (all[row] as [string, number])[0]);
  for (const [row, [, score]] of all.entries()) top.offer(row, roundScore(score / largest));
  return top.toSorted().map(({ row, similarity: score }) => ({ id: (all[row] as [string, number])[0], score }));
}

/** Rounds a score, so that scores that differ only by the order of additions are equal. */
function roundScore(score: number): number {
  return Math.round(score * scoreSteps) / scoreSteps;
}

/** Escapes backslashes, too: they would begin an escape such as `\N`. */
function quote(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/\r\n?|\n/g, '\\n')}"`;
}
