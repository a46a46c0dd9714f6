/**
 * `@quiver/mcp/tool-types`: TypeScript types of the tools that servers offer.
 *
 * @module
 */
export { compareToolTypes, toolTypes, type ToolDefinitions, type ToolTypesOptions } from './tool-types.js';
export type { DefinitionChanges } from '../client/remote/tool-definitions.js';
export type { ToolCatalogue } from '../client/tools/tool-set.js';
