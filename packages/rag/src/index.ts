export type { Chunk, ChunkMetadata, Metadata } from './document/chunk.js';
export type {
  ChunkParams,
  CommonChunkOptions,
  MarkdownChunkOptions,
  RecursiveChunkOptions,
} from './document/chunking/chunk-options.js';
export { MDocument, type DocumentType, type MDocumentOptions, type SourceDocument } from './document/document.js';
