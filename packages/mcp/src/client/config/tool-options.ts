import { QuiverError } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import { toErrorText } from '../../content.js';
import type { CallToolResult } from '../../protocol/types.js';

/** Selection and names of a server's tools. */
export interface ToolSelection {
  /** All conditions must hold; `deny` wins. Names are the server's own. */
  tools?: {
    allow?: string[];
    deny?: string[];
    filter?: (tool: { name: string; description?: string | undefined; annotations?: object | undefined }) => boolean;
    /** New names by original name. */
    rename?: Record<string, string> | ((name: string) => string);
  };
  /** Prefix of the name in `listTools()`, followed by `_`. Default: the server's name; `false`: none. */
  toolPrefix?: string | false;
}

/** Decides whether the user must approve a call before it is sent. */
export type ToolApproval = (call: {
  toolName: string;
  args: Record<string, unknown>;
  requestContext: AnyRequestContext;
  /** The server's description of the tool. Do not rely on it: a hostile server lies. */
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean };
}) => boolean | PromiseLike<boolean>;

/** One call of a remote tool. */
export interface ToolCallInfo {
  readonly serverName: string;
  /** The server's own name of the tool. */
  readonly toolName: string;
  readonly args: Record<string, unknown>;
  readonly requestContext: AnyRequestContext;
  readonly signal: AbortSignal | undefined;
}

/** Runs around every call: may change the arguments, add `_meta`, replace the result. Calling `next` twice sends the call twice. */
export type ToolCallProcessor = (
  call: ToolCallInfo,
  next: (changes?: { args?: Record<string, unknown>; meta?: Record<string, unknown> }) => Promise<CallToolResult>,
) => Promise<CallToolResult>;

/** Error result of a remote tool. The message is the server's text, with the structured content of the result as JSON. */
export class RemoteToolError extends QuiverError {
  override readonly name: string = 'RemoteToolError';
  readonly serverName: string;
  /** The server's own name of the tool. */
  readonly toolName: string;
  readonly result: CallToolResult;

  constructor(serverName: string, toolName: string, result: CallToolResult) {
    super('MCP_TOOL_ERROR', toErrorText(result) || 'The tool failed and gave no reason.', {
      details: { server: serverName, tool: toolName, content: result.content },
    });
    this.serverName = serverName;
    this.toolName = toolName;
    this.result = result;
  }
}
