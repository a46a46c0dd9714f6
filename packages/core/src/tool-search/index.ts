export { createToolIndex } from './tool-index.js';
export type { ToolEmbedder, ToolIndex, ToolIndexOptions, ToolMatch, ToolSearchOptions } from './tool-index.js';
export type { SearchableTool, ToolDescription } from './describe-tool.js';
export { searchTools, withToolSearch, type ToolSearchSettings } from './search-tools.js';
export { toolTokens, type ToolTokens } from './tool-tokens.js';
export {
  describeFound,
  describeResults,
  readInnerCall,
  requireFound,
  searchToolDefinitions,
  type FoundTool,
  type InnerCall,
  type SearchToolDefinition,
  type SearchToolName,
} from './search-tool-definitions.js';
