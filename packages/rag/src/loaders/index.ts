export { loadDocument, type LoadDocumentOptions } from './load-document.js';
export type { SkippedFile, SkipReason } from './document-loader.js';
export type { PageImage, RecognizeText, ScannedPage } from './pdf/scanned-page.js';
