export * from './document.js';
export {
  listFiles,
  loadDocuments,
  type ListedFile,
  type ListFilesOptions,
  type LoadDocumentsOptions,
  type LoadedDocuments,
  type LoadProgress,
} from './files/load-documents.js';
export { loadPages, type LoadPagesOptions, type PageProgress } from './web/load-pages.js';
export type { PageSkipReason, SkippedPage } from './web/load-page.js';
export type { PageContent } from './formats/document-loader.js';
export type { PageRequestOptions } from './web/page-client.js';
export {
  readPageState,
  writePageState,
  type PageRecord,
  type PageState,
  type UnfinishedPage,
} from './web/page-state.js';
export { readSitemap, type ReadSitemapOptions } from './web/sitemap.js';
