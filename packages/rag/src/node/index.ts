export { loadDocuments, type LoadDocumentsOptions, type LoadProgress } from './load-documents.js';
export type { SkippedFile, SkipReason } from '../loaders/document-loader.js';
export { graphToHtml } from '../graph/page/graph-to-html.js';
export { exportIndexToFile, importIndexFromFile, type ExportIndexToFileOptions } from './index-files.js';
