import type { McpExtra, ToolMcpContext } from '@quiver/core/tools';
import type { RequestScope } from './request-scope.js';
import { createToolMcpContext } from './tool-mcp-context.js';

/** What the callbacks for resources and prompts know of the request they answer. */
export interface CallbackContext {
  /** Who is calling: `authInfo`, `sessionId`, `signal`, and so on. */
  extra: McpExtra;
  /** As the `context.mcp` of tools: asks the client, logs, reports progress. */
  mcp: ToolMcpContext;
}

export type MaybePromise<Value> = Value | PromiseLike<Value>;

export function createCallbackContext(scope: RequestScope): CallbackContext {
  const mcp = createToolMcpContext(scope);
  // Every context of an MCP call has it.
  return { mcp, extra: mcp.extra as McpExtra };
}
