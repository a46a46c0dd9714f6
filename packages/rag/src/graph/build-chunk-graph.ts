import { ChunkGraph } from './chunk-graph.js';
import type { ChunkGraphData } from './chunk-graph-data.js';
import { EdgeList } from './edge-list.js';
import { resolveEdgeOptions, type EdgeOptions, type ResolvedEdgeOptions } from './edges/edge-kinds.js';
import { addLinkEdges } from './edges/link-edges.js';
import { addPhraseEdges } from './edges/phrase-edges.js';
import { addRelationEdges } from './edges/relation-edges.js';
import { addSequenceEdges } from './edges/sequence-edges.js';
import { addTripleEdges } from './edges/triple-edges.js';
import { graphInvalid } from './graph-error.js';
import type { GraphPassage } from './graph-passage.js';
import { knownNeighbours } from './known-neighbours.js';
import { runSteps } from './run-steps.js';
import { findNeighbours } from './similarity/find-neighbours.js';
import { fingerprint } from './similarity/fingerprint.js';
import { UnitRows } from './similarity/unit-rows.js';

export interface BuildProgress {
  /** Share of the work that is done, in [0, 1]. */
  done: number;
}

export interface BuildChunkGraphOptions {
  /** All passages, in any order: the graph does not depend on it. */
  passages: readonly GraphPassage[];
  /** Their embeddings, one after the other; of any length but 0, which means that a passage is similar to none. */
  vectors: Float32Array;
  /** Length of an embedding. */
  dimension: number;
  edges?: EdgeOptions | undefined;
  /**
   * A graph of an earlier state of the same passages. Where an embedding did not change, its search for similar ones, which is
   * the long part, is not repeated. The result is the graph that would be built without, as long as the search is exact.
   */
  previous?: ChunkGraph | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: BuildProgress) => void) | undefined;
}

/**
 * Connects passages with each other, see {@link EdgeOptions} for what connects them. Equal passages and vectors give equal graphs,
 * on every machine and in every order.
 *
 * Similar passages are found by comparing all pairs, up to 20,000 of them; beyond, by an approximate search that finds at least
 * about the share `edges.similarity.recall`: see {@link ChunkGraph.recall}.
 *
 * @throws `GRAPH_INVALID` for two passages of one id, and for vectors that do not fit; the reason of `signal`
 */
export async function buildChunkGraph(options: BuildChunkGraphOptions): Promise<ChunkGraph> {
  return runSteps(buildSteps(options), options);
}

/** Of the work; the other edges are quick. */
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
  const neighbours =
    similarity &&
    (yield* findNeighbours({
      units,
      limit: similarity.neighbours,
      threshold: similarity.threshold,
      recall: similarity.recall,
      known: previous && knownNeighbours(previous.data, { ids, fingerprints, similarity }),
    }));
  yield similarityShare;
  const data: ChunkGraphData = {
    ids,
    titles: passages.map(({ title }) => title),
    options: resolved,
    fingerprints,
    neighbours,
    otherEdges: otherEdges(passages, resolved),
  };
  return new ChunkGraph(data);
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
  if (weights.relation > 0) addRelationEdges(edges, passages);
  if (weights.triple > 0) addTripleEdges(edges, passages);
  if (weights.link > 0) addLinkEdges(edges, passages);
  if (phrases) addPhraseEdges(edges, passages, phrases.maxPassages);
  if (weights.sequence > 0) addSequenceEdges(edges, passages);
  return edges;
}
