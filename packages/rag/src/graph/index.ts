export { buildChunkGraph, type BuildChunkGraphOptions, type BuildProgress } from './build-chunk-graph.js';
export {
  ChunkGraph,
  type ChunkEdge,
  type ChunkGraphJson,
  type GraphSeed,
  type RankedChunk,
  type RankOptions,
} from './chunk-graph.js';
export type {
  EdgeChoice,
  EdgeKind,
  EdgeOptions,
  EdgeWeight,
  PhraseEdgeOptions,
  SimilarityEdgeOptions,
} from './edges/edge-kinds.js';
export {
  extractTriples,
  type ExtractTriplesOptions,
  type TripleCache,
  type TripleFailure,
  type TripleProgress,
} from './extract-triples.js';
export type { GraphPassage } from './graph-passage.js';
export { GraphRAG, type GraphChunk, type GraphEmbedding, type GraphQuery, type RankedNode } from './graph-rag.js';
export type { GraphEdge, GraphNode, GraphSnapshot } from './snapshot/graph-rag-snapshot.js';
export type { Triple } from './triple.js';
