/**
 * `@quiver/rag`: what applications call. Other types are on `@quiver/rag/document`, `/graph` and `/store`.
 *
 * @module
 */
export type {
  Chunk,
  ChunkMetadata,
  Metadata,
  ChunkParams,
  ExtractParams,
  MDocumentOptions,
  SourceDocument,
} from './document/index.js';
export { MDocument } from './document/document.js';
export {
  createFilterTest,
  evaluateFilter,
  parseFilter,
  type Filter,
  type FilterTest,
  type FilterField,
} from './filter/index.js';
export type {
  IndexDescription,
  QueryMode,
  QueryParams,
  UpsertParams,
  VectorFilter,
  VectorMatch,
  VectorMetadata,
  VectorMetric,
  VectorRecord,
  VectorStore,
} from './store/index.js';
export { exportIndex, type ExportIndexOptions } from './transfer/export-index.js';
export { importIndex, type ImportIndexOptions } from './transfer/import-index.js';
export { deleteDocuments, type DeleteDocumentsOptions } from './ingest/delete-documents.js';
export type { IngestEstimate } from './ingest/dry-run.js';
export { ingest, type IngestOptions, type IngestProgress, type IngestReport } from './ingest/ingest.js';
export type { IngestScope } from './store/scope.js';
export { verifyQuotes, type Citation, type QuoteReport, type VerifyQuotesOptions } from './cite/verify-quotes.js';
export type { Quote } from './cite/find-quotes.js';
export { queryChunks } from './search/find-passages.js';
export { expandPassages, type ExpandedPassage, type ExpandPassagesOptions } from './search/expand-passages.js';
export type { NothingFound, RatedPassage } from './search/confidence.js';
export {
  createVectorQueryTool,
  defaultVectorQueryDescription,
  type VectorQueryOutput,
  type VectorQueryTool,
} from './tools/vector-query-tool.js';
export {
  cacheEmbeddings,
  createLexicalEmbedder,
  storeEmbeddingCache,
  toEmbedder,
  truncateEmbeddings,
  type CacheEmbeddingsOptions,
  type Embedder,
  type EmbedderInput,
  type EmbeddingCache,
  type LexicalEmbedderOptions,
  type StoreEmbeddingCacheOptions,
} from './embedding/index.js';
export {
  createDocumentChunkerTool,
  type DocumentChunk,
  type DocumentChunkerOutput,
  type DocumentChunkerTool,
  type DocumentChunkerToolOptions,
} from './tools/document-chunker-tool.js';
export {
  retrieve,
  type QueryTrace,
  type Retrieval,
  type RetrieveOptions,
  type StepTrace,
} from './retrieve/retrieve.js';
export type { RetrievalSteps } from './retrieve/steps.js';
export {
  rerank,
  rerankWithScorer,
  type RerankConfig,
  type RerankerOptions,
  type RerankResult,
  type RerankWithScorerOptions,
  type WeightConfig,
} from './search/rerank.js';
export { createReranker, type RerankApiOptions } from './search/rerank-api.js';
export type { RelevanceScorer, RerankingModel } from './search/score-texts.js';
export type { ChromaConfig } from './stores/chroma/index.js';
export type { LibSQLConfig } from './stores/libsql/index.js';
export type { PgVectorConfig } from './stores/pg/index.js';
export type { PineconeConfig } from './stores/pinecone/index.js';
export type { DatabaseConfig } from './store/scope.js';
export type { VectorQueryInput } from './tools/query-call.js';
export type { QueryResult } from './tools/query-result.js';
export type { VectorQueryToolOptions, VectorStoreRegistry, VectorStoreResolver } from './tools/query-tool-options.js';
export { buildChunkGraph } from './graph/build-chunk-graph.js';
export { ChunkGraph } from './graph/chunk-graph.js';
export type { GraphOptions } from './graph/index.js';
export { extractTriples } from './graph/extract-triples.js';
export { GraphRAG } from './graph/graph-rag.js';
export {
  createGraphRAGTool,
  defaultGraphRagDescription,
  type GraphRAGOutput,
  type GraphRAGTool,
  type GraphRAGToolOptions,
} from './tools/graph-rag-tool.js';
export { buildGraph } from './graph/graph-of-index.js';
