export { graphToHtml } from '../graph/page/graph-to-html.js';
export { exportIndexToFile, importIndexFromFile, type ExportIndexToFileOptions } from './index-files.js';
