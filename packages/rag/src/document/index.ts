/**
 * `@quiver/rag/document`: the document model with the options of chunks and extractors, for packages that create documents: without stores,
 * ingestion and tools.
 *
 * @module
 */
export type { Metadata } from './chunk.js';
export { codeLanguages, type CodeLanguage } from './chunking/code-languages.js';
export { MDocument, type DocumentType, type MDocumentOptions, type SourceDocument } from './document.js';
export { htmlToMarkdown } from './html/html-to-markdown.js';
export { MarkdownWriter, toFence, toRecord, toRow, toTableHeader } from './html/markdown-writer.js';
export { readPage } from './html/read-page.js';
export { descriptionKeys, partKeys } from './metadata-keys.js';
export { blankOut, type SkippedText } from './skipped-text.js';
export { uniteBoxes, type PageBox, type TextPlace } from './text-place.js';
export type { Chunk, ChunkMetadata, PreviousChunk } from './chunk.js';
export type { CommonChunkOptions, MeasureOptions } from './chunking/chunk-options.js';
export type { ChunkParams } from './chunking/chunking-strategy.js';
export type { CharacterChunkOptions } from './chunking/character.js';
export type { HtmlChunkOptions } from './chunking/html.js';
export type { JsonChunkOptions } from './chunking/json.js';
export type { LatexChunkOptions } from './chunking/latex.js';
export type { MarkdownChunkOptions } from './chunking/markdown.js';
export type { RecursiveChunkOptions } from './chunking/recursive.js';
export type { SemanticMarkdownChunkOptions } from './chunking/semantic-markdown.js';
export type { SentenceChunkOptions } from './chunking/sentence.js';
export type { SeparatorChunkOptions } from './chunking/separator-cut.js';
export type { TokenChunkOptions } from './chunking/token.js';
export type { CodeLanguage as Language } from './chunking/code-languages.js';
export type { TokenEncoding, TokenOptions } from './chunking/token-counter.js';
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
} from './extract/extract-options.js';
export type { SkippedCounts } from './skipped-text.js';
