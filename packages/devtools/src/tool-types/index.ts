/**
 * `@quiver/devtools/tool-types`: TypeScript types of the tools that servers offer.
 *
 * @module
 */
export { compareToolTypes, toolTypes, type ToolDefinitions, type ToolTypesOptions } from './tool-types.js';
export type { DefinitionChanges, ToolCatalogue } from '@quiver/mcp/client';
