/**
 * `@quiver/rag/graph`: graphs of chunks, and the types of their parts.
 *
 * @module
 */
export { buildChunkGraph, type BuildChunkGraphOptions, type BuildProgress } from './build-chunk-graph.js';
export { ChunkGraph, type ChunkEdge, type ChunkGraphJson } from './chunk-graph.js';
export type {
  EdgeChoice,
  EdgeKind,
  EdgeOptions,
  EdgeWeight,
  GraphOptions,
  PhraseEdgeOptions,
  SimilarityEdgeOptions,
} from './graph-options.js';
export {
  extractTriples,
  type ExtractTriplesOptions,
  type TripleFailure,
  type TripleProgress,
} from './extract-triples.js';
export {
  GraphRAG,
  type GraphChunk,
  type GraphEdge,
  type GraphEmbedding,
  type GraphNode,
  type GraphQuery,
  type GraphSnapshot,
  type RankedNode,
} from './graph-rag.js';
export type { GraphPassage, Triple } from './passage.js';
export { buildGraph, type BuildGraphOptions, type BuiltGraph, type GraphProgress } from './graph-of-index.js';
export type { GraphReport } from './query-graph.js';
