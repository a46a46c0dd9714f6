export {
  listFiles,
  loadDocuments,
  type ListFilesOptions,
  type LoadDocumentsOptions,
  type LoadProgress,
} from './load-documents.js';
export type { SkippedFile, SkipReason } from '../loaders/document-loader.js';
export {
  loadPages,
  type LoadPagesOptions,
  type PageProgress,
  type PageSkipReason,
  type SkippedPage,
} from '../web/load-pages.js';
export { loadRepository, type LoadRepositoryOptions } from '../web/load-repository.js';
export type { PageContent } from '../loaders/web-page.js';
export type { PageRequestOptions } from '../web/page-client.js';
export { readPageState, writePageState, type PageRecord, type PageState } from '../web/page-state.js';
export { readSitemap, type ReadSitemapOptions } from '../web/sitemap.js';
export { graphToHtml } from '../graph/page/graph-to-html.js';
export { exportIndexToFile, importIndexFromFile, type ExportIndexToFileOptions } from './index-files.js';
