export { loadDocument, type LoadDocumentOptions } from './load-document.js';
export type { SkippedFile, SkipReason } from './formats/document-loader.js';
export type { PageImage, RecognizeText, ScannedPage } from './formats/pdf/scanned-page.js';
