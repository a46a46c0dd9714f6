export type { Chunk, ChunkMetadata, Metadata, PreviousChunk } from './document/chunk.js';
export type { CommonChunkOptions, MeasureOptions } from './document/chunking/chunk-options.js';
export type { ChunkParams } from './document/chunking/chunking-strategy.js';
export type { CharacterChunkOptions } from './document/chunking/character.js';
export type { HtmlChunkOptions } from './document/chunking/html.js';
export type { JsonChunkOptions } from './document/chunking/json.js';
export type { LatexChunkOptions } from './document/chunking/latex.js';
export type { MarkdownChunkOptions } from './document/chunking/markdown.js';
export type { RecursiveChunkOptions } from './document/chunking/recursive.js';
export type { SemanticMarkdownChunkOptions } from './document/chunking/semantic-markdown.js';
export type { SentenceChunkOptions } from './document/chunking/sentence.js';
export type { SeparatorChunkOptions } from './document/chunking/separator-cut.js';
export type { TokenChunkOptions } from './document/chunking/token.js';
export type { CodeLanguage, CodeLanguage as Language } from './document/chunking/code-languages.js';
export type { TokenEncoding, TokenOptions } from './document/chunking/token-counter.js';
export type {
  AnswerCache,
  ContextExtractorOptions,
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
export type { SkippedCounts, SkippedText } from './document/skipped-text.js';
export type { PageBox, TextPlace } from './document/text-place.js';
export {
  createFilterTest,
  evaluateFilter,
  parseFilter,
  type FieldPath,
  type Filter,
  type FilterOrder,
  type FilterScalar,
  type FilterTest,
  type PatternBudget,
} from './filter/index.js';
export type {
  Cancellable,
  CreateIndexParams,
  DeleteVectorsParams,
  DerivedData,
  MmrOptions,
  FusionWeights,
  GetParams,
  IndexDescription,
  IndexParams,
  QueryMode,
  QueryParams,
  VectorPage,
  ListVectorsParams,
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
export type { StoreOption } from './store/options.js';
export {
  exportIndex,
  type ExportIndexOptions,
  type ExportPosition,
  type TransferProgress,
} from './transfer/export-index.js';
export { importIndex, type ImportIndexOptions } from './transfer/import-index.js';
export { deleteDocuments, type DeleteDocumentsOptions } from './ingestion/delete-documents.js';
export type { IngestEstimate } from './ingestion/dry-run.js';
export { ingest, type IngestOptions, type IngestProgress, type IngestReport } from './ingestion/ingest.js';
export type { ChunkVectors } from './ingestion/chunk-vectors.js';
export type { IngestScope } from './store/scope.js';
export {
  verifyQuotes,
  type Citation,
  type CitingQuote,
  type FoundQuote,
  type MissingQuote,
  type QuotePlace,
  type QuoteReport,
  type QuoteSource,
  type VerifyQuotesOptions,
} from './citations/verify-quotes.js';
export type { Quote, UnreadableQuote } from './citations/find-quotes.js';
export type { OtherPlace } from './passages/merge-copies.js';
export { queryChunks } from './passages/query-chunks.js';
export {
  expandPassages,
  type ExpandedPassage,
  type ExpandPassagesOptions,
  type MergedRecord,
  type PassageExpansion,
  type PassageExpansionOptions,
} from './passages/expand-passages.js';
export type { NothingFound, RatedPassage } from './passages/rate-passages.js';
export {
  createVectorQueryTool,
  defaultVectorQueryDescription,
  type RecordListToolOptions,
  type VectorQueryOutput,
  type VectorQueryTool,
} from './tools/vector-query-tool.js';
export {
  cacheEmbeddings,
  createLexicalEmbedder,
  redisEmbeddingCache,
  storeEmbeddingCache,
  toEmbedder,
  truncateEmbeddings,
  type CacheEmbeddingsOptions,
  type CustomEmbedder,
  type Embedder,
  type EmbedderInput,
  type EmbeddingCache,
  type EmbeddingProviderOptions,
  type EmbeddingPurpose,
  type EmbeddingRateLimit,
  type SharedBuckets,
  type EmbeddingUsage,
  type EmbedOptions,
  type LexicalEmbedderOptions,
  type ModelEmbedderOptions,
  type RedisClient,
  type RedisEmbeddingCacheOptions,
  type StoreEmbeddingCacheOptions,
} from './embedding/index.js';
export type { ModelOption } from './embedding/model-option.js';
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
} from './planning/retrieve.js';
export type {
  ConversationTurn,
  FilterStepOptions,
  QueriesStepOptions,
  QueryStepOptions,
  RetrievalSteps,
  StepName,
  StepOptions,
} from './planning/steps.js';
export type { FilterFields } from './tools/model-filter.js';
export type { FilterField } from './filter/index.js';
export {
  rerank,
  rerankWithScorer,
  type RerankConfig,
  type RerankerOptions,
  type RerankResult,
  type RerankWithScorerOptions,
  type WeightConfig,
} from './rerank/rerank.js';
export { createReranker, type RerankApiOptions, type RerankProvider } from './rerank/rerank-api.js';
export type { BatchScorer, RelevanceModel, RelevanceScorer, RerankingModel } from './rerank/score-texts.js';
export type { ChromaConfig } from './stores/chroma/index.js';
export type { LibSQLConfig } from './stores/libsql/index.js';
export type { PgVectorConfig } from './stores/pg/index.js';
export type { PineconeConfig } from './stores/pinecone/index.js';
export type { DatabaseConfig } from './store/database-config.js';
export type { RecordListInput, VectorQueryInput } from './tools/query-call.js';
export type { QueryResult } from './tools/query-result.js';
export type { VectorQueryToolOptions, VectorStoreRegistry, VectorStoreResolver } from './tools/query-tool-options.js';
export { buildChunkGraph, type BuildChunkGraphOptions, type BuildProgress } from './graph/build-chunk-graph.js';
export {
  ChunkGraph,
  type ChunkEdge,
  type ChunkGraphJson,
  type GraphSeed,
  type RankedChunk,
  type RankOptions,
} from './graph/chunk-graph.js';
export type {
  EdgeChoice,
  EdgeKind,
  EdgeOptions,
  EdgeWeight,
  GraphOptions,
  PhraseEdgeOptions,
  SimilarityEdgeOptions,
} from './graph/graph-options.js';
export {
  extractTriples,
  type ExtractTriplesOptions,
  type TripleFailure,
  type TripleProgress,
} from './graph/extract-triples.js';
export {
  GraphRAG,
  type GraphChunk,
  type GraphEdge,
  type GraphEmbedding,
  type GraphNode,
  type GraphQuery,
  type GraphSnapshot,
  type RankedNode,
} from './graph/graph-rag.js';
export type { GraphPassage, Triple } from './graph/passage.js';
export {
  createGraphRAGTool,
  defaultGraphRagDescription,
  type GraphQueryResult,
  type GraphRAGOutput,
  type GraphRAGTool,
  type GraphRAGToolOptions,
} from './tools/graph-rag-tool.js';
export { buildGraph, type BuildGraphOptions, type BuiltGraph, type GraphProgress } from './graph/graph-of-index.js';
export type { GraphReport } from './graph/query-graph.js';
