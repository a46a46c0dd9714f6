import type { ChunkEdge, ChunkGraph } from '../graph/chunk-graph.js';
import { toEmbedder, type Embedder, type EmbedderInput, type EmbeddingProviderOptions } from '../embedding/index.js';
import type { FusionWeights, QueryMode, VectorFilter, VectorMatch, VectorRecord, VectorStore } from '../store/index.js';
import { expandSeeds } from './expand-seeds.js';
import { bestMode, findSeeds, type Question, type SeedSearch } from './find-seeds.js';
import { findGraph } from './graph-registry.js';
import type { GraphSettings } from './graph-settings.js';
import { requireDimension, type GraphProgress } from './index-graph.js';
import { readAllowed } from './read-allowed.js';
import { readRecords } from './read-records.js';

export interface GraphQuestion {
  readonly store: VectorStore;
  readonly indexName: string;
  readonly queryText: string;
  readonly model: EmbedderInput;
  readonly providerOptions?: EmbeddingProviderOptions | undefined;
  readonly topK: number;
  readonly settings: GraphSettings;
  /** How the passages are found that the walk starts at. Default: by words and vectors where the store can. */
  readonly seeds?: QueryMode | undefined;
  readonly fusion?: FusionWeights | undefined;
  /** Of the application: the graph is made of nothing else. */
  readonly scopeFilter: VectorFilter;
  /** Narrows further: passages that do not pass are neither found nor steps between others. */
  readonly filter: VectorFilter;
  readonly databaseConfig?: object | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: GraphProgress) => void) | undefined;
}

/** What an answer was found in. */
export interface GraphReport {
  /** Whether the graph is that of everything in the index that may be seen. Otherwise it is what was found around the seeds. */
  complete: boolean;
  /** Passages of the graph. */
  nodes: number;
  /** Connections of the graph. */
  edges: number;
  /** How the passages were found that the walk started at. */
  seeds: QueryMode;
}

export interface FoundPassage {
  readonly record: VectorRecord;
  readonly score: number;
  readonly path: readonly ChunkEdge[];
}

export interface GraphAnswer {
  readonly found: readonly FoundPassage[];
  readonly report: GraphReport;
  readonly graph: ChunkGraph;
  readonly seeds: readonly VectorMatch[];
  /** Whether a passage of the graph may be shown. */
  readonly isAllowed: (id: string) => boolean;
  /** Records that were read on the way; others are to be asked for. */
  readonly records: ReadonlyMap<string, VectorRecord>;
}

/**
 * Finds what matches a question and what is connected with it.
 *
 * @throws `VECTOR_QUERY_UNSUPPORTED`, `VECTOR_DIMENSION_MISMATCH`, `FILTER_INVALID`, and what the store and the embedder throw
 */
export async function queryGraph(question: GraphQuestion): Promise<GraphAnswer> {
  const { store, indexName, settings, scopeFilter, filter, signal, onProgress } = question;
  const { edges, maxNodes, restartProb, randomWalkSteps, dimension } = settings;
  if (dimension !== undefined) await requireDimension(store, indexName, dimension, signal);
  const embedder = toEmbedder(question.model, {
    ...(question.providerOptions && { providerOptions: question.providerOptions }),
  });
  const search = toSearch(question, embedder);
  const asked = await toQuestion(question.queryText, search, embedder);
  const whole = await findGraph({
    store,
    scope: { indexName, filter: scopeFilter, edges },
    maxNodes,
    signal,
    onProgress,
  });
  const matches = await findSeeds(search, asked, { includeVector: whole === undefined });
  const expansion = whole ? undefined : await expandSeeds({ search, seeds: matches, edges, restartProb });
  const graph = whole?.graph ?? (expansion?.graph as ChunkGraph);
  // A passage that came after the graph was made is part of the next one.
  const seeds = matches.filter(({ id }) => graph.has(id));
  const isAllowed = whole && filter ? await readAllowed(question, whole) : () => true;
  const ranked = graph.rank({
    seeds: seeds.filter(({ id }) => isAllowed(id)),
    topK: question.topK,
    restartProb,
    maxIterations: randomWalkSteps,
    ...(whole && filter && { allowed: isAllowed }),
  });
  const ids = ranked.map(({ id }) => id);
  const records = expansion?.records ?? (await readRecords(question, ids));
  return {
    found: ranked.flatMap(({ id, score, path }) => {
      const record = records.get(id);
      return record ? [{ record, score, path }] : [];
    }),
    report: { complete: whole !== undefined, nodes: graph.ids.length, edges: graph.edgeCount, seeds: search.mode },
    graph,
    seeds,
    isAllowed,
    records,
  };
}

function toSearch(
  { store, indexName, seeds, fusion, scopeFilter, filter, databaseConfig, signal }: GraphQuestion,
  { hybridWeight = 1 }: Embedder,
): SeedSearch {
  return {
    store,
    indexName,
    mode: seeds ?? bestMode(store),
    fusion: { vector: hybridWeight, ...fusion },
    filter: scopeFilter && filter ? { $and: [scopeFilter, filter] } : (scopeFilter ?? filter),
    databaseConfig,
    signal,
  };
}

async function toQuestion(text: string, { mode, signal }: SeedSearch, embedder: Embedder): Promise<Question> {
  if (mode === 'keyword') return { text, vector: undefined };
  const [vector] = await embedder.embed([text], { purpose: 'query', signal });
  return { text, vector };
}
