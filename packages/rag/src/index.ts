export type { Chunk, ChunkMetadata, Metadata } from './document/chunk.js';
export type {
  CharacterChunkOptions,
  ChunkParams,
  CommonChunkOptions,
  HtmlChunkOptions,
  JsonChunkOptions,
  LatexChunkOptions,
  MarkdownChunkOptions,
  MeasureOptions,
  RecursiveChunkOptions,
  SemanticMarkdownChunkOptions,
  SentenceChunkOptions,
  SeparatorChunkOptions,
  TokenChunkOptions,
} from './document/chunking/chunk-options.js';
export type { CodeLanguage, CodeLanguage as Language } from './document/chunking/code-languages.js';
export type { TokenEncoding, TokenOptions } from './document/chunking/token-counter.js';
export type {
  ExtractFailure,
  ExtractParams,
  ExtractProgress,
  KeywordsExtractorOptions,
  LanguageModelInput,
  QuestionsExtractorOptions,
  SchemaExtractorOptions,
  SummaryExtractorOptions,
  TitleExtractorOptions,
} from './document/extract/extract-options.js';
export { MDocument, type DocumentType, type MDocumentOptions, type SourceDocument } from './document/document.js';
export {
  evaluateFilter,
  parseFilter,
  type FieldPath,
  type Filter,
  type FilterOrder,
  type FilterScalar,
} from './filter/index.js';
export type {
  Cancellable,
  CreateIndexParams,
  DeleteVectorsParams,
  DerivedData,
  DiversityOptions,
  FusionWeights,
  GetParams,
  IndexDescription,
  IndexParams,
  QueryMode,
  QueryParams,
  ScanPage,
  ScanParams,
  UpdateVectorParams,
  UpsertParams,
  VectorFilter,
  VectorMatch,
  VectorMetadata,
  VectorMetric,
  VectorRecord,
  VectorStore,
  VectorStoreCapabilities,
  VersionParams,
} from './store/index.js';
export {
  exportIndex,
  type ExportIndexOptions,
  type ExportPosition,
  type TransferProgress,
} from './transfer/export-index.js';
export { importIndex, type ImportIndexOptions } from './transfer/import-index.js';
export { deleteDocuments, type DeleteDocumentsOptions } from './ingestion/delete-documents.js';
export { ingest, type IngestOptions, type IngestProgress, type IngestReport } from './ingestion/ingest.js';
export type { IngestScope } from './ingestion/scope.js';
export {
  createVectorQueryTool,
  defaultVectorQueryDescription,
  type QueryResult,
  type VectorQueryInput,
  type VectorQueryOutput,
  type VectorQueryTool,
} from './tools/vector-query-tool.js';
export {
  createLexicalEmbedder,
  toEmbedder,
  type Embedder,
  type EmbedderInput,
  type EmbeddingProviderOptions,
  type EmbeddingPurpose,
  type EmbedOptions,
  type LexicalEmbedderOptions,
  type ModelEmbedderOptions,
} from './embedding/index.js';
export {
  createDocumentChunkerTool,
  type DocumentChunk,
  type DocumentChunkerOutput,
  type DocumentChunkerTool,
  type DocumentChunkerToolOptions,
} from './tools/document-chunker-tool.js';
export {
  rerank,
  rerankWithScorer,
  type RelevanceModel,
  type RelevanceScorer,
  type RerankConfig,
  type RerankerOptions,
  type RerankingModel,
  type RerankResult,
  type WeightConfig,
  type RerankWithScorerOptions,
} from './rerank/index.js';
export type { ChromaConfig, DatabaseConfig, PgVectorConfig, PineconeConfig } from './tools/database-config.js';
export type { VectorQueryToolOptions, VectorStoreRegistry, VectorStoreResolver } from './tools/query-settings.js';
export {
  buildChunkGraph,
  ChunkGraph,
  extractTriples,
  GraphRAG,
  type BuildChunkGraphOptions,
  type BuildProgress,
  type ChunkEdge,
  type ChunkGraphJson,
  type EdgeChoice,
  type EdgeKind,
  type EdgeOptions,
  type EdgeWeight,
  type ExtractTriplesOptions,
  type GraphChunk,
  type GraphEdge,
  type GraphEmbedding,
  type GraphNode,
  type GraphPassage,
  type GraphQuery,
  type GraphSeed,
  type GraphSnapshot,
  type PhraseEdgeOptions,
  type RankedChunk,
  type RankedNode,
  type RankOptions,
  type SimilarityEdgeOptions,
  type Triple,
  type TripleCache,
  type TripleFailure,
  type TripleProgress,
} from './graph/index.js';
export type { GraphView, GraphViewEdge, GraphViewNode, GraphViewRank } from './graph/view/graph-view.js';
export {
  createGraphRAGTool,
  defaultGraphRagDescription,
  type GraphQueryResult,
  type GraphRAGOutput,
  type GraphRAGTool,
  type GraphRAGToolOptions,
} from './tools/graph-rag-tool.js';
export { buildGraph, type BuildGraphOptions, type BuiltGraph } from './graph-index/build-graph.js';
export { viewGraph, type ViewGraphOptions } from './graph-index/view-graph.js';
export type { GraphOptions } from './graph-index/graph-settings.js';
export type { GraphProgress } from './graph-index/index-graph.js';
export type { GraphReport } from './graph-index/query-graph.js';
