import { checkOptions, type OptionChecks, invalidOptions, unchecked } from '@quiver/core/internal';
import { createFilterTest, parseFilter } from '../filter/index.js';
import type { VectorFilter, VectorMetadata } from '../store/index.js';
import { defaultTopK } from '../store/options.js';
import { nearestRows } from '../vectors/nearest-rows.js';
import { VectorTable } from '../vectors/vector-table.js';
import type { Edge } from './adjacency.js';
import { bestOf, ChunkGraph } from './chunk-graph.js';
import { findNeighbors, similarityEdges } from './find-neighbors.js';
import { defaultWalk } from './graph-options.js';

/** Chunk that `GraphRAG.createGraph()` accepts. */
export interface GraphChunk {
  text: string;
  metadata?: VectorMetadata;
}

/** Vector of a chunk. */
export interface GraphEmbedding {
  vector: readonly number[] | Float32Array;
}

/** Node of `GraphRAG`. */
export interface GraphNode {
  id: string;
  content: string;
  embedding?: readonly number[] | Float32Array;
  metadata?: VectorMetadata;
}

/** Edge of `GraphRAG`. */
export interface GraphEdge {
  source: string;
  target: string;
  /** Positive; for `semantic` edges the cosine similarity to four digits. */
  weight: number;
  /** `semantic`, or your own kind. */
  type: string;
}

/** A graph as JSON data, in the format of Mastra. */
export interface GraphSnapshot {
  version: 1;
  dimension: number;
  threshold: number;
  nodes: GraphNode[];
  /** Each edge in both directions. */
  edges: GraphEdge[];
}

/** Node with its score. */
export interface RankedNode {
  id: string;
  content: string;
  metadata: VectorMetadata;
  /** Rank as a share of the best rank, in [0, 1]. */
  score: number;
}

/** Query of `GraphRAG`. */
export interface GraphQuery {
  /** Embedding of the query. */
  query: readonly number[] | Float32Array;
  /** Default 10. */
  topK?: number;
  /** Most rounds of the computation; it ends earlier when the ranks no longer change. Default 100. */
  randomWalkSteps?: number;
  /** Probability of a walker to restart at the nodes most similar to the query. Default 0.15. */
  restartProb?: number;
  /** Nodes that do not match the filter are neither results nor steps between others. */
  filter?: VectorFilter;
}

const queryChecks: OptionChecks<GraphQuery> = unchecked<GraphQuery>()(
  'query',
  'topK',
  'randomWalkSteps',
  'restartProb',
  'filter',
);

const seedCount = 10;
/** Most similarity edges of a node: dense data would otherwise connect everything with everything. */
const maxNeighbors = 20;
const labelLength = 60;

/**
 * A graph of passages with the methods of Mastra's class, ranked by {@link ChunkGraph}: a query finds similar passages, and
 * passages that are connected with them. Deterministic: the same graph and query give the same ranking.
 *
 * @example
 * const graph = new GraphRAG(1536, 0.7);
 * graph.createGraph(chunks, embeddings);
 * const passages = graph.query({ query: queryEmbedding, topK: 5 });
 */
export class GraphRAG {
  readonly #dimension: number;
  readonly #threshold: number;
  readonly #nodes: GraphNode[] = [];
  readonly #numbers = new Map<string, number>();
  #edges: Edge[] = [];
  #vectors: VectorTable;
  #graph: ChunkGraph | undefined;

  /**
   * @param dimension - length of every embedding
   * @param threshold - passages are connected when their cosine similarity is above it
   * @throws `OPTIONS_INVALID`
   */
  constructor(dimension = 1536, threshold = 0.7) {
    if (!Number.isSafeInteger(dimension) || dimension < 1) {
      throw invalidOptions(`The dimension of a graph must be a positive integer, not ${dimension}.`);
    }
    if (!Number.isFinite(threshold)) throw invalidOptions(`The threshold must be a finite number, not ${threshold}.`);
    this.#dimension = dimension;
    this.#threshold = threshold;
    this.#vectors = new VectorTable(dimension, 'cosine');
  }

  /** Adds a node, or replaces the node with its id, whose edges stay. @throws `OPTIONS_INVALID` */
  addNode(node: GraphNode): void {
    const { id, embedding } = node;
    if (!embedding) throw invalidOptions('Node must have an embedding');
    const vector = this.#toVector(embedding, id);
    const position = this.#numbers.get(id) ?? this.#nodes.length;
    this.#numbers.set(id, position);
    this.#nodes[position] = { ...node };
    this.#vectors.set(position, vector);
    this.#graph = undefined;
  }

  /** Connects two nodes, in both directions. @throws `OPTIONS_INVALID` */
  addEdge({ source, target, weight, type }: GraphEdge): void {
    const [from, to] = [this.#numbers.get(source), this.#numbers.get(target)];
    if (from === undefined || to === undefined) throw invalidOptions('Both source and target nodes must exist');
    if (!(weight > 0) || !Number.isFinite(weight)) {
      throw invalidOptions(`The weight of an edge must be positive, not ${weight}`);
    }
    this.#edges.push({ from, to, weight, kind: type, reason: type });
    this.#graph = undefined;
  }

  getNodes(): GraphNode[] {
    return this.#nodes.map((node) => ({ ...node }));
  }

  /** Returns each edge in both directions. */
  getEdges(): GraphEdge[] {
    return this.#edges.flatMap(({ from, to, weight, kind: type }): GraphEdge[] => {
      const [source, target] = [this.#idOf(from), this.#idOf(to)];
      return [
        { source, target, weight, type },
        { source: target, target: source, weight, type },
      ];
    });
  }

  getEdgesByType(type: string): GraphEdge[] {
    return this.getEdges().filter((edge) => edge.type === type);
  }

  /** @throws `OPTIONS_INVALID` for an unknown node */
  updateNodeContent(id: string, content: string): void {
    this.#node(id).content = content;
    this.#graph = undefined;
  }

  clear(): void {
    this.#nodes.length = 0;
    this.#edges = [];
    this.#numbers.clear();
    this.#vectors = new VectorTable(this.#dimension, 'cosine');
    this.#graph = undefined;
  }

  /**
   * Builds the graph of passages and their embeddings, and removes its previous contents. Nodes get the ids `0`, `1`, …; each is
   * connected with the most similar passages, 20 at most, whose similarity is above the threshold. All pairs are compared.
   *
   * @throws `OPTIONS_INVALID`, and the graph stays unchanged
   */
  createGraph(chunks: readonly GraphChunk[], embeddings: readonly GraphEmbedding[]): void {
    if (chunks.length === 0 || embeddings.length === 0) {
      throw invalidOptions('Chunks and embeddings arrays must not be empty');
    }
    if (chunks.length !== embeddings.length) throw invalidOptions('Chunks and embeddings must have the same length');
    for (const [number, { vector }] of embeddings.entries()) this.#toVector(vector, String(number));
    this.clear();
    chunks.forEach(({ text, metadata = {} }, number) => {
      const { vector } = embeddings[number] as GraphEmbedding;
      this.addNode({ id: String(number), content: text, embedding: vector, metadata });
    });
    const vectors = chunks.map((_, number) => this.#vectors.row(number));
    const threshold = Math.max(0, this.#threshold);
    const search = { vectors, dimension: this.#dimension, limit: maxNeighbors, threshold };
    const steps = findNeighbors(search);
    let step = steps.next();
    while (!step.done) step = steps.next();
    this.#edges = similarityEdges(search, step.value, 'semantic');
  }

  /**
   * Returns the passages that matter most for a query, best first; equal ones by id.
   *
   * @throws `OPTIONS_INVALID`, `FILTER_INVALID`
   */
  query(options: GraphQuery): RankedNode[] {
    checkOptions('GraphRAG.query', options, queryChecks);
    const { query, topK = defaultTopK, randomWalkSteps = defaultWalk.randomWalkSteps, filter } = options;
    const { restartProb = defaultWalk.restartProb } = options;
    this.#requireDimension(query.length, 'Query embedding must have dimension');
    if (!(topK >= 1)) throw invalidOptions('TopK must be greater than 0');
    if (!(randomWalkSteps >= 1)) throw invalidOptions('Random walk steps must be greater than 0');
    if (!(restartProb > 0 && restartProb < 1)) throw invalidOptions('Restart probability must be between 0 and 1');
    const vector = toFiniteVector(query, 'The embedding of the query');
    const allowed = this.#allowed(filter);
    const { scores } = this.#toGraph().walk({
      seeds: this.#seeds(vector, allowed),
      maxIterations: Math.floor(randomWalkSteps),
      restartProb,
      allowed: allowed && ((id) => allowed[this.#numbers.get(id) as number] === 1),
    });
    return bestOf(scores, Math.floor(topK)).map(({ id, score }) => {
      const { content, metadata = {} } = this.#node(id);
      return { id, content, metadata, score };
    });
  }

  /** Returns the graph as JSON data for {@link GraphRAG.deserialize}. */
  serialize(): GraphSnapshot {
    return {
      version: 1,
      dimension: this.#dimension,
      threshold: this.#threshold,
      nodes: this.#nodes.map((node, number) => ({ ...node, embedding: Array.from(this.#vectors.row(number)) })),
      edges: this.getEdges(),
    };
  }

  /** @throws `OPTIONS_INVALID` */
  static deserialize(snapshot: GraphSnapshot): GraphRAG {
    const { version, dimension, threshold, nodes, edges } = (snapshot ?? {}) as {
      [Key in keyof GraphSnapshot]: unknown;
    };
    if (version !== 1) throw invalidOptions(`Unsupported GraphRAG snapshot version: ${String(version)}`);
    if (!Array.isArray(nodes) || !Array.isArray(edges)) {
      throw invalidOptions('This is not the snapshot of a GraphRAG: it has no lists of nodes and edges');
    }
    const graph = new GraphRAG(dimension as number, threshold as number);
    for (const [number, node] of (nodes as (Partial<GraphNode> | null)[]).entries()) {
      if (typeof node?.id !== 'string') throw invalidOptions(`Node ${number} of the snapshot has no id`);
      if (typeof node.content !== 'string') throw invalidOptions(`Node '${node.id}' of the snapshot has no content`);
      graph.addNode(node as GraphNode);
    }
    /** Edges that are listed in one direction so far. */
    const halves = new Map<string, number>();
    for (const edge of edges as (GraphEdge | null)[]) {
      for (const id of [edge?.source, edge?.target])
        if (!graph.#numbers.has(id as string)) throw invalidOptions(`Edge references unknown node: ${String(id)}`);
      const { source, target, weight, type } = edge as GraphEdge;
      const reverse = JSON.stringify([target, source, weight, type]);
      const waiting = halves.get(reverse) ?? 0;
      if (waiting > 0) {
        halves.set(reverse, waiting - 1);
        continue;
      }
      const own = JSON.stringify([source, target, weight, type]);
      halves.set(own, (halves.get(own) ?? 0) + 1);
      graph.addEdge(edge as GraphEdge);
    }
    return graph;
  }

  /** Returns the graph in the language of Graphviz: nodes with the beginning of their texts. */
  toDOT(): string {
    return this.#toGraph().toDOT();
  }

  /** Uses the weights of the user unchanged, and a walker that never stays. */
  #toGraph(): ChunkGraph {
    this.#graph ??= new ChunkGraph(
      {
        ids: this.#nodes.map(({ id }) => id),
        titles: this.#nodes.map(({ content }) => toLabel(content)),
        titled: [],
        weights: {},
        edges: this.#edges,
      },
      undefined,
      0,
    );
    return this.#graph;
  }

  #idOf(number: number): string {
    return (this.#nodes[number] as GraphNode).id;
  }

  #node(id: string): GraphNode {
    const node = this.#nodes[this.#numbers.get(id) ?? -1];
    if (!node) throw invalidOptions(`There is no node '${id}'`);
    return node;
  }

  #toVector(embedding: readonly number[] | Float32Array, id: string): Float32Array {
    this.#requireDimension(embedding.length, 'Embedding dimension must be');
    return toFiniteVector(embedding, `The embedding of node '${id}'`);
  }

  #requireDimension(length: number, message: string): void {
    if (length !== this.#dimension) throw invalidOptions(`${message} ${this.#dimension}`);
  }

  #allowed(filter: VectorFilter): Uint8Array | undefined {
    if (filter === undefined || filter === null) return undefined;
    const matches = createFilterTest(parseFilter(filter));
    return Uint8Array.from(this.#nodes, ({ metadata = {} }) => (matches(metadata) ? 1 : 0));
  }

  /** Returns the nodes most similar to the query, with the squares of their similarities, so that the closest decide. */
  #seeds(query: Float32Array, allowed: Uint8Array | undefined): [id: string, weight: number][] {
    const table = this.#vectors;
    if (table.count === 0) return [];
    const k = Math.min(seedCount, table.count);
    const rows = allowed && Int32Array.from(allowed.keys()).filter((node) => allowed[node] === 1);
    const nearest = nearestRows({ table, query, k, rows, idOf: (row) => this.#idOf(row) });
    return nearest.map(({ row, similarity }) => [this.#idOf(row), Math.max(0, similarity) ** 2]);
  }
}

/** Cuts between characters. */
function toLabel(text: string): string {
  return text.slice(0, labelLength).replace(/[\uD800-\uDBFF]$/, '');
}

function toFiniteVector(values: readonly number[] | Float32Array, what: string): Float32Array {
  const vector = Float32Array.from(values);
  // `null` has become 0 there.
  const isFinite = vector.every((value, place) => Number.isFinite(value) && typeof values[place] === 'number');
  if (!isFinite) throw invalidOptions(`${what} must hold finite numbers`);
  return vector;
}
