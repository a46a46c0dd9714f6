export {
  loadDocuments,
  type LoadDocumentsOptions,
  type LoadProgress,
  type SkippedFile,
  type SkipReason,
} from './load-documents.js';
