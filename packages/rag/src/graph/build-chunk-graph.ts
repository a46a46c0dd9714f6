import { ChunkGraph } from './chunk-graph.js';
import { addLinkEdges, addRelationEdges, addSequenceEdges } from './document-edges.js';
import { EdgeList } from './edge-list.js';
import { resolveEdgeOptions, type EdgeKind, type EdgeOptions, type ResolvedEdgeOptions } from './edge-options.js';
import { findNeighbors, type KnownNeighbors } from './find-neighbors.js';
import { graphInvalid } from './graph-error.js';
import { createNeighborLists } from './neighbor-lists.js';
import type { GraphPassage } from './passage.js';
import { runSteps } from './run-steps.js';
import type { GraphData } from './snapshot.js';
import { addPhraseEdges, addTripleEdges } from './term-edges.js';
import { fingerprint, UnitRows } from './unit-rows.js';

export interface BuildProgress {
  /** Finished share of the work, in [0, 1]. */
  done: number;
}

export interface BuildChunkGraphOptions {
  /** All passages. The graph does not depend on their order. */
  passages: readonly GraphPassage[];
  /** Embeddings of the passages, one after another. A passage with a vector of zeros is similar to none. */
  vectors: Float32Array;
  /** Length of an embedding. */
  dimension: number;
  edges?: EdgeOptions | undefined;
  /**
   * A graph of an earlier state of the same passages. The search for similar passages, which takes longest, is not repeated
   * for embeddings that did not change. The result is the same graph.
   */
  previous?: ChunkGraph | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: BuildProgress) => void) | undefined;
}

/**
 * Connects passages with each other by the kinds of {@link EdgeOptions}. Equal passages and vectors give equal graphs, on every
 * machine and in every order. All pairs of vectors are compared, so the time grows with the square of their number.
 *
 * @throws `GRAPH_INVALID` for two passages of one id, and for vectors that do not fit; `signal.reason`
 */
export async function buildChunkGraph(options: BuildChunkGraphOptions): Promise<ChunkGraph> {
  return runSteps(buildSteps(options), options);
}

/** Share of the work; the other edges are quick. */
const similarityShare = 0.95;

function* buildSteps(options: BuildChunkGraphOptions): Generator<number, ChunkGraph> {
  requireVectors(options);
  const { vectors, dimension, previous } = options;
  const resolved = resolveEdgeOptions(options.edges);
  const order = orderById(options.passages);
  const passages = Array.from(order, (place) => options.passages[place] as GraphPassage);
  const units = new UnitRows(order.length, dimension, (node) => {
    const start = (order[node] as number) * dimension;
    return vectors.subarray(start, start + dimension);
  });
  const fingerprints = BigUint64Array.from(passages, (_, node) => fingerprint(units.vector(node)));
  const ids = passages.map(({ id }) => id);
  const { similarity } = resolved;
  yield 0;
  const neighbors =
    similarity &&
    (yield* findNeighbors({
      units,
      limit: similarity.neighbors,
      threshold: similarity.threshold,
      known: previous && knownNeighbors(previous.data, { ids, fingerprints, similarity }),
    }));
  yield similarityShare;
  return new ChunkGraph({
    ids,
    titles: passages.map(({ title }) => title),
    options: resolved,
    fingerprints,
    neighbors,
    otherEdges: otherEdges(passages, resolved),
  });
}

function requireVectors({ passages, vectors, dimension }: BuildChunkGraphOptions): void {
  if (!Number.isInteger(dimension) || dimension < 1) {
    throw graphInvalid(`The dimension of a graph must be a positive integer, not ${dimension}.`);
  }
  if (!(vectors instanceof Float32Array)) {
    throw graphInvalid('The vectors of a graph must be a Float32Array of all of them, one after the other.');
  }
  if (vectors.length !== passages.length * dimension) {
    throw graphInvalid(
      `${passages.length} passages of dimension ${dimension} need ${passages.length * dimension} numbers, not ${vectors.length}.`,
    );
  }
  // A loop: a callback for each number would take longer than the comparison of few passages.
  for (let place = 0; place < vectors.length; place += 1) {
    if (Number.isFinite(vectors[place])) continue;
    const { id } = passages[Math.floor(place / dimension)] as GraphPassage;
    throw graphInvalid(`The vector of passage '${id}' holds ${vectors[place]}.`);
  }
}

function orderById(passages: readonly GraphPassage[]): Uint32Array {
  const idOf = (place: number): string => (passages[place] as GraphPassage).id;
  const order = Uint32Array.from(passages, (_, place) => place).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  for (let place = 1; place < order.length; place += 1) {
    const id = idOf(order[place] as number);
    if (id === idOf(order[place - 1] as number)) throw graphInvalid(`Two passages have the id '${id}'.`);
  }
  return order;
}

function otherEdges(passages: readonly GraphPassage[], { weights, phrases }: ResolvedEdgeOptions): EdgeList {
  const edges = new EdgeList();
  const isOn = (kind: EdgeKind): boolean => (weights[kind] ?? 0) > 0;
  if (isOn('relation')) addRelationEdges(edges, passages);
  if (isOn('triple')) addTripleEdges(edges, passages);
  if (isOn('link')) addLinkEdges(edges, passages);
  if (phrases) addPhraseEdges(edges, passages, phrases.maxPassages);
  if (isOn('sequence')) addSequenceEdges(edges, passages);
  return edges;
}

interface CurrentRows {
  readonly ids: readonly string[];
  readonly fingerprints: BigUint64Array;
  readonly similarity: NonNullable<ResolvedEdgeOptions['similarity']>;
}

/**
 * Returns the neighbors of the current rows that an earlier graph contains. A list is unknown when its row is new or changed,
 * and when it was full and lost a neighbor, because another one may take its place.
 *
 * @returns `undefined` when the earlier graph was made with other options
 */
function knownNeighbors(
  { ids: oldIds, fingerprints: oldPrints, neighbors, options }: GraphData,
  { ids, fingerprints, similarity }: CurrentRows,
): KnownNeighbors | undefined {
  if (!neighbors || JSON.stringify(options.similarity) !== JSON.stringify(similarity)) return undefined;
  const oldNumbers = new Map(oldIds.map((id, number) => [id, number]));
  const oldOf = ids.map((id, row) => {
    const old = oldNumbers.get(id);
    return old !== undefined && oldPrints[old] === fingerprints[row] ? old : undefined;
  });
  const newOf = new Map(oldOf.flatMap((old, row) => (old === undefined ? [] : [[old, row] as const])));
  const { limit, counts, rows, similarities } = neighbors;
  const lists = createNeighborLists(ids.length, limit);
  const isNew = new Uint8Array(ids.length);
  const unknown: number[] = [];
  for (const [row, old] of oldOf.entries()) {
    if (old === undefined) {
      isNew[row] = 1;
      unknown.push(row);
      continue;
    }
    const count = counts[old] as number;
    let kept = 0;
    for (let place = old * limit; place < old * limit + count; place += 1) {
      const neighbor = newOf.get(rows[place] as number);
      if (neighbor === undefined) continue;
      lists.rows[row * limit + kept] = neighbor;
      lists.similarities[row * limit + kept] = similarities[place] as number;
      kept += 1;
    }
    lists.counts[row] = kept;
    if (count === limit && kept < limit) unknown.push(row);
  }
  return { lists, unknown: Uint32Array.from(unknown), isNew };
}
