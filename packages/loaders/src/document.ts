export { loadDocument, type LoadDocumentOptions } from './load-document.js';
export type { SkippedFile, SkipReason } from './formats/document-loader.js';
export type { RecognizeText, ScannedPage } from './recognize-pages.js';
