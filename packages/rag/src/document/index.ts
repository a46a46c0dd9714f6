// The document model, for packages that create documents: without stores, ingestion and tools.
export type { Metadata } from './chunk.js';
export { codeLanguages, type CodeLanguage } from './chunking/code-languages.js';
export { MDocument, type DocumentType, type MDocumentOptions, type SourceDocument } from './document.js';
export { htmlToMarkdown } from './html/html-to-markdown.js';
export { MarkdownWriter, toFence, toRecord, toRow, toTableHeader, type MarkdownText } from './html/markdown-writer.js';
export { readPage } from './html/read-page.js';
export { descriptionKeys, partKeys } from './metadata-keys.js';
export { blankOut, type SkippedText } from './skipped-text.js';
export { uniteBoxes, type PageBox, type TextPlace } from './text-place.js';
