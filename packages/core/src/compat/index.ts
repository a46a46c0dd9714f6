export { RequestContext as RuntimeContext } from '../request-context/index.js';
export { acceptV0Calls, type V0Call, type V0Tool, type V0ToolExecute } from './accept-v0-calls.js';
export { createTool, type V0ExecuteArguments, type V0ExecuteOptions, type V0ToolOptions } from './create-tool.js';
