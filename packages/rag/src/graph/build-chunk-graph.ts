import {
  checkOptions,
  functionValue,
  type OptionChecks,
  signalValue,
  valueThat,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import type { Edge } from './adjacency.js';
import { ChunkGraph } from './chunk-graph.js';
import { linkEdges, relationEdges, sequenceEdges } from './document-edges.js';
import {
  edgesValue,
  resolveEdgeOptions,
  type EdgeKind,
  type EdgeOptions,
  type ResolvedEdgeOptions,
} from './graph-options.js';
import {
  findNeighbors,
  similarityEdges,
  toFingerprints,
  updateNeighbors,
  type SearchedNeighbors,
} from './find-neighbors.js';
import type { GraphPassage } from './passage.js';
import { sharedNames, tripleEdges } from './term-edges.js';

/** Progress of building a graph. */
export interface BuildProgress {
  /** Finished share of the work, in [0, 1]. */
  done: number;
}

/** Options of `buildChunkGraph()`. */
export interface BuildChunkGraphOptions {
  /** All passages. The graph does not depend on their order. */
  passages: readonly GraphPassage[];
  /** Embeddings of the passages, one after another. A passage with a vector of zeros is similar to none. */
  vectors: Float32Array;
  /** Length of an embedding. */
  dimension: number;
  /** Kinds of edges, and their weights. */
  edges?: EdgeOptions | undefined;
  /** Aborts the build. */
  signal?: AbortSignal | undefined;
  /** Called while edges are found. */
  onProgress?: ((progress: BuildProgress) => void) | undefined;
}

const optionChecks: OptionChecks<BuildChunkGraphOptions> = {
  passages: valueThat(Array.isArray, 'a list'),
  vectors: valueThat((value) => value instanceof Float32Array, 'a Float32Array of all vectors, one after the other'),
  dimension: wholeNumber(1),
  edges: edgesValue,
  signal: signalValue,
  onProgress: functionValue,
};

/** Share of the work; the other edges are quick. */
const similarityShare = 0.95;

/**
 * Connects passages with each other by the kinds of {@link EdgeOptions}. Equal passages and vectors give equal graphs, on every
 * machine and in every order. All pairs of vectors are compared, so the time grows with the square of their number.
 *
 * @throws `OPTIONS_INVALID` for an unknown or invalid option, for two passages of one id, and for vectors that do not fit; `signal.reason`
 *
 * @example
 * const graph = await buildChunkGraph({ passages, vectors, dimension: 1536 });
 */
export async function buildChunkGraph(options: BuildChunkGraphOptions): Promise<ChunkGraph> {
  return updateChunkGraph(options, undefined);
}

/**
 * Does the same faster where there is an earlier graph with the same edge options: the search for similar passages, which takes longest, is
 * not repeated for embeddings that did not change.
 */
export async function updateChunkGraph(
  options: BuildChunkGraphOptions,
  previous: ChunkGraph | undefined,
): Promise<ChunkGraph> {
  const { signal, onProgress } = options;
  const steps = buildSteps(options, previous?.searched);
  let done = 0;
  for (;;) {
    signal?.throwIfAborted();
    const step = steps.next();
    // A repeated step does not take back what was reported.
    done = step.done ? 1 : Math.max(done, step.value * similarityShare);
    onProgress?.({ done });
    if (step.done) return step.value;
    // Lets other work of the process run.
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Builds a graph. Yields the finished share of the search for similar passages. */
function* buildSteps(
  options: BuildChunkGraphOptions,
  previous: SearchedNeighbors | undefined,
): Generator<number, ChunkGraph> {
  checkOptions('buildChunkGraph', options, optionChecks);
  requireVectors(options);
  const { vectors, dimension } = options;
  const resolved = resolveEdgeOptions(options.edges);
  const nodes = options.passages
    .map((passage, place) => ({ passage, vector: vectors.subarray(place * dimension, (place + 1) * dimension) }))
    .sort(({ passage: a }, { passage: b }) => (a.id < b.id ? -1 : 1));
  const passages = nodes.map(({ passage }) => passage);
  const ids = passages.map(({ id }) => id);
  const twice = ids.find((id, node) => id === ids[node - 1]);
  if (twice !== undefined) throw invalidOptions(`Two passages have the id '${twice}'.`);
  const names = resolved.phrases && sharedNames(passages, resolved.phrases.maxPassages);
  let edges = reasonedEdges(passages, resolved, names?.edges ?? []);
  yield 0;
  const { similarity } = resolved;
  let searched: SearchedNeighbors | undefined;
  if (similarity) {
    const rows = nodes.map(({ vector }) => vector);
    const search = { vectors: rows, dimension, limit: similarity.neighbors, threshold: similarity.threshold };
    const current = { ids, fingerprints: toFingerprints(rows) };
    const updated = previous && (yield* updateNeighbors(search, current, previous));
    const lists = updated ?? (yield* findNeighbors(search));
    searched = { ...current, lists };
    edges = [...edges, ...similarityEdges(search, lists)];
  }
  yield 1;
  const titles = passages.map(({ title }) => title ?? null);
  return new ChunkGraph({ ids, titles, titled: names?.titled ?? [], weights: resolved.weights, edges }, searched);
}

function requireVectors({ passages, vectors, dimension }: BuildChunkGraphOptions): void {
  if (vectors.length !== passages.length * dimension) {
    throw invalidOptions(
      `${passages.length} passages of dimension ${dimension} need ${passages.length * dimension} numbers, not ${vectors.length}.`,
    );
  }
  // A loop: a callback for each number would take longer than the comparison of few passages.
  for (let place = 0; place < vectors.length; place += 1) {
    if (Number.isFinite(vectors[place])) continue;
    const { id } = passages[Math.floor(place / dimension)] as GraphPassage;
    throw invalidOptions(`The vector of passage '${id}' holds ${vectors[place]}.`);
  }
}

function reasonedEdges(
  passages: readonly GraphPassage[],
  { weights }: ResolvedEdgeOptions,
  phrases: readonly Edge[],
): Edge[] {
  const isOn = (kind: EdgeKind): boolean => (weights[kind] ?? 0) > 0;
  return [
    ...(isOn('relation') ? relationEdges(passages) : []),
    ...(isOn('triple') ? tripleEdges(passages) : []),
    ...(isOn('link') ? linkEdges(passages) : []),
    ...phrases,
    ...(isOn('sequence') ? sequenceEdges(passages) : []),
  ];
}
