import { evaluateFilter, parseFilter } from '../filter/index.js';
import type { VectorFilter, VectorMetadata } from '../store/index.js';
import { nearestRows } from '../stores/local/nearest-rows.js';
import { VectorTable } from '../stores/local/vector-table.js';
import { createAdjacency, type Adjacency } from './adjacency.js';
import { EdgeList } from './edge-list.js';
import { addSimilarityEdges } from './edges/similarity-edges.js';
import { graphInvalid } from './graph-error.js';
import { graphToDot } from './graph-to-dot.js';
import { rankNodes } from './rank-nodes.js';
import { runStepsNow } from './run-steps.js';
import { findNeighbours } from './similarity/find-neighbours.js';
import { UnitRows } from './similarity/unit-rows.js';
import {
  parseGraphSnapshot,
  type GraphEdge,
  type GraphNode,
  type GraphSnapshot,
} from './snapshot/graph-rag-snapshot.js';

export interface GraphChunk {
  text: string;
  metadata?: VectorMetadata;
}

export interface GraphEmbedding {
  vector: readonly number[] | Float32Array;
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

const seedCount = 10;
/** Edges that similarity gives a node at most: dense data would otherwise connect everything with everything. */
const maxNeighbours = 20;
/** Share of the true neighbours that is found at least among more than 20,000 nodes. */
const recall = 0.95;
/** Characters of a text that stand in a drawing. */
const labelLength = 60;

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
  #edges = new EdgeList();
  #vectors: VectorTable;
  /** Of the whole graph; made when it is first needed. */
  #adjacency: Adjacency | undefined;

  /**
   * @param dimension - length of every embedding
   * @param threshold - passages are connected when their cosine similarity is above it
   * @throws `GRAPH_INVALID`
   */
  constructor(dimension = 1536, threshold = 0.7) {
    if (!Number.isSafeInteger(dimension) || dimension < 1) {
      throw graphInvalid(`The dimension of a graph must be a positive integer, not ${dimension}.`);
    }
    if (!Number.isFinite(threshold)) throw graphInvalid(`The threshold must be a finite number, not ${threshold}.`);
    this.#dimension = dimension;
    this.#threshold = threshold;
    this.#vectors = new VectorTable(dimension, 'cosine');
  }

  /** Adds a node, or replaces the one with its id, whose edges stay. @throws `GRAPH_INVALID` */
  addNode(node: GraphNode): void {
    const { embedding } = node;
    if (!embedding) throw graphInvalid('Node must have an embedding');
    const vector = this.#toVector(embedding, node.id);
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
    const [from, to] = [this.#numbers.get(source), this.#numbers.get(target)];
    if (from === undefined || to === undefined) throw graphInvalid('Both source and target nodes must exist');
    if (!(weight > 0) || !Number.isFinite(weight)) {
      throw graphInvalid(`The weight of an edge must be positive, not ${weight}`);
    }
    this.#edges.add(from, to, weight, type, '');
    this.#adjacency = undefined;
  }

  getNodes(): GraphNode[] {
    return this.#nodes.map((node) => ({ ...node }));
  }

  /** Each edge in both directions. */
  getEdges(): GraphEdge[] {
    return Array.from({ length: this.#edges.count }, (_, edge) => this.#bothDirections(edge)).flat();
  }

  getEdgesByType(type: string): GraphEdge[] {
    return this.getEdges().filter((edge) => edge.type === type);
  }

  /** @throws `GRAPH_INVALID` when there is no such node */
  updateNodeContent(id: string, content: string): void {
    const node = this.#nodes[this.#numbers.get(id) ?? -1];
    if (!node) throw graphInvalid(`There is no node '${id}'`);
    node.content = content;
  }

  clear(): void {
    this.#nodes.length = 0;
    this.#edges = new EdgeList();
    this.#numbers.clear();
    this.#vectors = new VectorTable(this.#dimension, 'cosine');
    this.#adjacency = undefined;
  }

  /**
   * Builds the graph of passages and their embeddings; what it held before is gone. Nodes get the ids `0`, `1`, …; each is
   * connected with the passages most similar to it, 20 at most, whose similarity is above the threshold. All pairs are compared
   * up to 20,000 passages; beyond, at least about 95 % of these are found.
   *
   * @throws `GRAPH_INVALID`, and the graph is as before
   */
  createGraph(chunks: readonly GraphChunk[], embeddings: readonly GraphEmbedding[]): void {
    if (chunks.length === 0 || embeddings.length === 0) {
      throw graphInvalid('Chunks and embeddings arrays must not be empty');
    }
    if (chunks.length !== embeddings.length) throw graphInvalid('Chunks and embeddings must have the same length');
    for (const [number, { vector }] of embeddings.entries()) this.#toVector(vector, String(number));
    this.clear();
    chunks.forEach(({ text, metadata = {} }, number) => {
      const { vector } = embeddings[number] as GraphEmbedding;
      this.addNode({ id: String(number), content: text, embedding: vector, metadata });
    });
    const vectors = this.#vectors;
    const { lists } = runStepsNow(
      findNeighbours({
        units: new UnitRows(chunks.length, this.#dimension, (row) => vectors.row(row)),
        limit: maxNeighbours,
        threshold: Math.max(0, this.#threshold),
        recall,
      }),
    );
    addSimilarityEdges(this.#edges, lists, 'semantic');
  }

  /**
   * The passages that matter most to a question, best first; equal ones by id.
   *
   * @throws `GRAPH_INVALID`, `FILTER_INVALID`
   */
  query({ query, topK = 10, randomWalkSteps = 100, restartProb = 0.15, filter }: GraphQuery): RankedNode[] {
    this.#requireDimension(query.length, 'Query embedding must have dimension');
    const vector = toFiniteVector(query, 'The embedding of the question');
    const allowed = this.#allowed(filter);
    const found = rankNodes({
      adjacency: (this.#adjacency ??= createAdjacency(this.#nodes.length, this.#edges)),
      seeds: this.#seeds(vector, allowed),
      idOf: (number) => this.#node(number).id,
      topK,
      maxIterations: randomWalkSteps,
      restartProb,
      allowed: allowed && ((number) => allowed[number] === 1),
    });
    return found.map(({ node, score }) => {
      const { id, content, metadata = {} } = this.#node(node);
      return { id, content, metadata, score };
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
    const { dimension, threshold, nodes, edges } = parseGraphSnapshot(snapshot);
    const graph = new GraphRAG(dimension, threshold);
    for (const node of nodes) graph.addNode(node);
    for (const edge of edges) graph.addEdge(edge);
    return graph;
  }

  /** The graph in the language of Graphviz: nodes with the beginning of their texts, edges with their types. */
  toDOT(): string {
    return graphToDot({
      nodes: this.#nodes.map(({ id, content }) => ({ id, title: toLabel(content) })),
      edges: Array.from({ length: this.#edges.count }, (_, edge) => ({
        from: this.#node(this.#edges.from(edge)).id,
        to: this.#node(this.#edges.to(edge)).id,
        kind: this.#edges.kind(edge),
        weight: this.#edges.weight(edge),
        reason: this.#edges.kind(edge),
      })),
    });
  }

  #node(number: number): GraphNode {
    return this.#nodes[number] as GraphNode;
  }

  #bothDirections(edge: number): [GraphEdge, GraphEdge] {
    const source = this.#node(this.#edges.from(edge)).id;
    const target = this.#node(this.#edges.to(edge)).id;
    const [weight, type] = [this.#edges.weight(edge), this.#edges.kind(edge)];
    return [
      { source, target, weight, type },
      { source: target, target: source, weight, type },
    ];
  }

  #toVector(embedding: readonly number[] | Float32Array, id: string): Float32Array {
    this.#requireDimension(embedding.length, 'Embedding dimension must be');
    return toFiniteVector(embedding, `The embedding of node '${id}'`);
  }

  #requireDimension(length: number, message: string): void {
    if (length !== this.#dimension) throw graphInvalid(`${message} ${this.#dimension}`);
  }

  /** By node: 1 where the filter is met. */
  #allowed(filter: VectorFilter): Uint8Array | undefined {
    if (filter === undefined || filter === null) return undefined;
    const parsed = parseFilter(filter);
    return Uint8Array.from(this.#nodes, ({ metadata = {} }) => (evaluateFilter(parsed, metadata) ? 1 : 0));
  }

  /** The nodes most like the question, each with the square of its similarity, so that the closest decide. */
  #seeds(query: Float32Array, allowed: Uint8Array | undefined): [node: number, weight: number][] {
    const table = this.#vectors;
    if (table.count === 0) return [];
    const k = Math.min(seedCount, table.count);
    const nearest = nearestRows({ table, query, k, allowed, idOf: (node) => this.#node(node).id });
    return nearest.map(({ row, similarity }) => [row, Math.max(0, similarity) ** 2]);
  }
}

/** What is cut off must not be half a character. */
function toLabel(text: string): string {
  return text.slice(0, labelLength).replace(/[\uD800-\uDBFF]$/, '');
}

function toFiniteVector(values: readonly number[] | Float32Array, what: string): Float32Array {
  const vector = Float32Array.from(values);
  // `null` has become 0 there.
  const isFinite = vector.every((value, place) => Number.isFinite(value) && typeof values[place] === 'number');
  if (!isFinite) throw graphInvalid(`${what} must hold finite numbers`);
  return vector;
}
