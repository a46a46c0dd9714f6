export {
  loadDocuments,
  type LoadDocumentsOptions,
  type LoadProgress,
  type SkippedFile,
  type SkipReason,
} from './load-documents.js';
export { graphToHtml } from '../graph/page/graph-to-html.js';
export { exportIndexToFile, importIndexFromFile, type ExportIndexToFileOptions } from './index-files.js';
