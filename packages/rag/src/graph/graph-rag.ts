import { QuiverError } from '@quiver/core';
import { evaluateFilter, parseFilter } from '../filter/index.js';
import type { VectorFilter, VectorMetadata } from '../store/index.js';
import { nearestRows } from '../stores/local/nearest-rows.js';
import { VectorTable } from '../stores/local/vector-table.js';
import { createAdjacency, type Adjacency, type WeightedEdge } from './adjacency.js';
import { personalisedPageRank } from './personalised-page-rank.js';

export interface GraphChunk {
  text: string;
  metadata?: VectorMetadata;
}

export interface GraphEmbedding {
  vector: readonly number[] | Float32Array;
}

export interface GraphNode {
  id: string;
  content: string;
  embedding?: readonly number[] | Float32Array;
  metadata?: VectorMetadata;
}

export interface GraphEdge {
  source: string;
  target: string;
  /** Positive; for `semantic` edges the cosine similarity. */
  weight: number;
  /** `semantic`, or a kind of your own. */
  type: string;
}

export interface RankedNode {
  id: string;
  content: string;
  metadata: VectorMetadata;
  /** In [0, 1]: the rank as a share of the best one's. */
  score: number;
}

export interface GraphQuery {
  /** The embedding of the question. */
  query: readonly number[] | Float32Array;
  /** Default 10. */
  topK?: number;
  /** Rounds of the computation at most; it ends earlier when nothing changes any more. Default 100. */
  randomWalkSteps?: number;
  /** Chance of a walker to start again at the nodes most similar to the question. Default 0.15. */
  restartProb?: number;
  /** Nodes that do not pass take no part, neither as results nor as steps between them. */
  filter?: VectorFilter;
}

/** A graph as plain JSON data. */
export interface GraphSnapshot {
  version: 1;
  dimension: number;
  threshold: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

const seedCount = 10;
/** Edges that similarity gives a node at most: dense data would otherwise connect everything with everything. */
const maxNeighbours = 20;

/**
 * A graph of passages that ranks them by personalised PageRank from a question: found are passages like the question, and
 * those that are connected with them. Exact and deterministic: the same graph and question give the same ranking.
 *
 * @example
 * const graph = new GraphRAG(1536, 0.7);
 * graph.createGraph(chunks, embeddings);
 * const passages = graph.query({ query: questionEmbedding, topK: 5 });
 */
export class GraphRAG {
  readonly #dimension: number;
  readonly #threshold: number;
  readonly #nodes: GraphNode[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #edges: GraphEdge[] = [];
  #vectors: VectorTable;
  /** Of the whole graph; made when it is first needed. */
  #adjacency: Adjacency | undefined;

  /**
   * @param dimension - length of every embedding
   * @param threshold - passages are connected when their cosine similarity is above it
   */
  constructor(dimension = 1536, threshold = 0.7) {
    this.#dimension = dimension;
    this.#threshold = threshold;
    this.#vectors = new VectorTable(dimension, 'cosine');
  }

  /** Adds a node, or replaces the one with its id. @throws `GRAPH_INVALID` */
  addNode(node: GraphNode): void {
    const { embedding } = node;
    if (!embedding) throw invalid('Node must have an embedding');
    this.#requireDimension(embedding.length, 'Embedding dimension must be');
    const vector = Float32Array.from(embedding);
    const existing = this.#numbers.get(node.id);
    if (existing === undefined) {
      this.#numbers.set(node.id, this.#vectors.append(vector));
      this.#nodes.push({ ...node });
    } else {
      this.#vectors.set(existing, vector);
      this.#nodes[existing] = { ...node };
    }
    this.#adjacency = undefined;
  }

  /** Connects two nodes, in both directions. @throws `GRAPH_INVALID` */
  addEdge({ source, target, weight, type }: GraphEdge): void {
    if (!this.#numbers.has(source) || !this.#numbers.has(target)) {
      throw invalid('Both source and target nodes must exist');
    }
    if (!(weight > 0) || !Number.isFinite(weight))
      throw invalid(`The weight of an edge must be positive, not ${weight}`);
    this.#edges.push({ source, target, weight, type }, { source: target, target: source, weight, type });
    this.#adjacency = undefined;
  }

  getNodes(): GraphNode[] {
    return this.#nodes.map((node) => ({ ...node }));
  }

  getEdges(): GraphEdge[] {
    return this.#edges.map((edge) => ({ ...edge }));
  }

  getEdgesByType(type: string): GraphEdge[] {
    return this.getEdges().filter((edge) => edge.type === type);
  }

  /** @throws `GRAPH_INVALID` when there is no such node */
  updateNodeContent(id: string, content: string): void {
    const node = this.#nodes[this.#numbers.get(id) ?? -1];
    if (!node) throw invalid(`There is no node '${id}'`);
    node.content = content;
  }

  clear(): void {
    this.#nodes.length = 0;
    this.#edges.length = 0;
    this.#numbers.clear();
    this.#vectors = new VectorTable(this.#dimension, 'cosine');
    this.#adjacency = undefined;
  }

  /**
   * Builds the graph of passages and their embeddings; what it held before is gone. Nodes get the ids `0`, `1`, …; each is
   * connected with the passages most similar to it, 20 at most, whose similarity is above the threshold.
   *
   * @throws `GRAPH_INVALID`
   */
  createGraph(chunks: readonly GraphChunk[], embeddings: readonly GraphEmbedding[]): void {
    if (chunks.length === 0 || embeddings.length === 0) {
      throw invalid('Chunks and embeddings arrays must not be empty');
    }
    if (chunks.length !== embeddings.length) throw invalid('Chunks and embeddings must have the same length');
    for (const { vector } of embeddings) this.#requireDimension(vector.length, 'Embedding dimension must be');
    this.clear();
    chunks.forEach(({ text, metadata = {} }, number) => {
      const { vector } = embeddings[number] as GraphEmbedding;
      this.addNode({ id: String(number), content: text, embedding: vector, metadata });
    });
    for (const [from, to, weight] of this.#similarPairs()) {
      this.addEdge({ source: String(from), target: String(to), weight, type: 'semantic' });
    }
  }

  /**
   * The passages that matter most to a question, best first; equal ones by id.
   *
   * @throws `GRAPH_INVALID`, `FILTER_INVALID`
   */
  query({ query, topK = 10, randomWalkSteps = 100, restartProb = 0.15, filter }: GraphQuery): RankedNode[] {
    this.#requireDimension(query.length, 'Query embedding must have dimension');
    if (!(topK >= 1)) throw invalid('TopK must be greater than 0');
    if (!(randomWalkSteps >= 1)) throw invalid('Random walk steps must be greater than 0');
    if (!(restartProb > 0 && restartProb < 1)) throw invalid('Restart probability must be between 0 and 1');
    const accept = this.#accept(filter);
    const seeds = this.#seeds(Float32Array.from(query), accept);
    if (seeds.size === 0) return [];
    const ranks = personalisedPageRank({
      adjacency: accept ? this.#adjacencyOf(accept) : (this.#adjacency ??= this.#adjacencyOf()),
      seeds,
      restartProb,
      maxIterations: Math.floor(randomWalkSteps),
    });
    const found = [...ranks.keys()].filter((node) => (ranks[node] as number) > 0);
    found.sort(
      (a, b) => (ranks[b] as number) - (ranks[a] as number) || byCodeUnits(this.#node(a).id, this.#node(b).id),
    );
    const best = ranks[found[0] as number] as number;
    return found.slice(0, Math.floor(topK)).map((number) => {
      const { id, content, metadata = {} } = this.#node(number);
      return { id, content, metadata, score: (ranks[number] as number) / best };
    });
  }

  /** The graph as JSON data, to be stored and given to {@link GraphRAG.deserialize}. */
  serialize(): GraphSnapshot {
    return {
      version: 1,
      dimension: this.#dimension,
      threshold: this.#threshold,
      nodes: this.#nodes.map((node, number) => ({ ...node, embedding: Array.from(this.#vectors.row(number)) })),
      edges: this.getEdges(),
    };
  }

  /** @throws `GRAPH_INVALID` */
  static deserialize(snapshot: GraphSnapshot): GraphRAG {
    if (snapshot.version !== 1) throw invalid(`Unsupported GraphRAG snapshot version: ${String(snapshot.version)}`);
    const graph = new GraphRAG(snapshot.dimension, snapshot.threshold);
    for (const node of snapshot.nodes) graph.addNode(node);
    for (const edge of snapshot.edges) {
      const unknown = [edge.source, edge.target].find((id) => !graph.#numbers.has(id));
      if (unknown !== undefined) throw invalid(`Edge references unknown node: ${unknown}`);
      // Both directions stand in a snapshot.
      graph.#edges.push({ ...edge });
    }
    return graph;
  }

  #node(number: number): GraphNode {
    return this.#nodes[number] as GraphNode;
  }

  #requireDimension(length: number, message: string): void {
    if (length !== this.#dimension) throw invalid(`${message} ${this.#dimension}`);
  }

  #accept(filter: VectorFilter): ((node: number) => boolean) | undefined {
    if (filter === undefined || filter === null) return undefined;
    const parsed = parseFilter(filter);
    return (node) => evaluateFilter(parsed, this.#node(node).metadata ?? {});
  }

  /** The nodes most like the question, each with the square of its similarity, so that the closest decide. */
  #seeds(query: Float32Array, accept: ((node: number) => boolean) | undefined): Map<number, number> {
    if (this.#vectors.count === 0) return new Map();
    const k = Math.min(seedCount, this.#vectors.count);
    const nearest = nearestRows({ table: this.#vectors, query, k, accept, idOf: (node) => this.#node(node).id });
    const weights = nearest
      .filter(({ similarity }) => similarity > 0)
      .map(({ row, similarity }) => [row, similarity ** 2] as const);
    const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
    return new Map(weights.map(([row, weight]) => [row, weight / total]));
  }

  #adjacencyOf(accept?: (node: number) => boolean): Adjacency {
    const edges: WeightedEdge[] = [];
    const isAccepted = accept && this.#nodes.map((_node, number) => accept(number));
    for (const { source, target, weight } of this.#edges) {
      const from = this.#numbers.get(source) as number;
      const to = this.#numbers.get(target) as number;
      if (!isAccepted || (isAccepted[from] && isAccepted[to])) edges.push({ from, to, weight });
    }
    return createAdjacency(this.#nodes.length, edges);
  }

  /** Each pair once, in a fixed order. */
  *#similarPairs(): Generator<[from: number, to: number, similarity: number]> {
    const neighbours = this.#nodes.map((_node, number) => this.#neighbours(number));
    for (const [from, similar] of neighbours.entries()) {
      for (const [to, similarity] of similar) {
        if (from < to || !neighbours[to]?.has(from)) yield [from, to, similarity];
      }
    }
  }

  #neighbours(node: number): Map<number, number> {
    const nearest = nearestRows({
      table: this.#vectors,
      query: this.#vectors.row(node),
      k: maxNeighbours,
      accept: (other) => other !== node,
      idOf: (other) => this.#node(other).id,
    });
    return new Map(
      nearest.filter(({ similarity }) => similarity > this.#threshold).map(({ row, similarity }) => [row, similarity]),
    );
  }
}

function invalid(message: string): QuiverError {
  return new QuiverError('GRAPH_INVALID', message);
}

/** Independent of locale and language. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
