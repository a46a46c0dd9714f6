export { exportIndexToFile, importIndexFromFile, type ExportIndexToFileOptions } from './index-files.js';
