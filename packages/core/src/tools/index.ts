export { createTool } from './create-tool.js';
export { executeTool } from './execute-tool.js';
export { getToolId, withInputSchema } from './tool-definition.js';
export { isToolFailure, type ToolFailure, type ValidationErrors } from './tool-failure.js';
export { isVercelTool, Tool } from './tool-class.js';
export { withRequestContext } from './with-request-context.js';
export type { ToolModelOutput, ToolModelOutputPart } from './model-output.js';
export type {
  ElicitOptions,
  ElicitRequest,
  ElicitResult,
  ElicitUrlRequest,
  McpAuthInfo,
  McpExtra,
  McpRoot,
  SampleRequest,
  SampleResult,
  SamplingContent,
  SamplingMessage,
  ToolMcpContext,
} from './mcp-context.js';
export type { AnyRequestContext, ToolCallOptions, ToolContext } from './tool-context.js';
export type {
  ToolHookEvent,
  ToolHooks,
  ToolInputAvailableEvent,
  ToolInputDeltaEvent,
  ToolInputStartEvent,
  ToolOutputEvent,
} from './tool-hooks.js';
export type {
  ClientTool,
  ToolAnnotations,
  ToolCallInput,
  ToolCallResult,
  ToolExecute,
  ToolInput,
  ToolLike,
  ToolMcpOptions,
} from './tool.js';
export type { ClientToolOptions, StreamingToolOptions, ToolOptions } from './tool-options.js';
