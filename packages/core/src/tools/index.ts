export { createTool, isVercelTool, Tool, toModelOutput } from './create-tool.js';
export { executeTool, getToolId, withInputSchema } from './execute-tool.js';
export { isToolFailure, type ToolFailure, type ValidationErrors } from './tool-failure.js';
export { withRequestContext } from './with-request-context.js';
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
export type {
  ToolHookEvent,
  ToolHooks,
  ToolInputAvailableEvent,
  ToolInputDeltaEvent,
  ToolInputStartEvent,
  ToolOutputEvent,
} from './tool-hooks.js';
export type {
  AnyRequestContext,
  ClientTool,
  ClientToolOptions,
  StreamingToolOptions,
  ToolAnnotations,
  ToolCallInput,
  ToolCallOptions,
  ToolCallResult,
  ToolContext,
  ToolExecute,
  ToolInput,
  ToolLike,
  ToolMcpOptions,
  ToolModelOutput,
  ToolModelOutputPart,
  ToolOptions,
  ToolTaskMode,
  ResultLimit,
  ToolTaskOptions,
} from './tool.js';
