import type { AnyRequestContext } from '@quiver/core/tools';
import type { CallToolResult } from '../../protocol/client-types.js';

/** One call of a remote tool. */
export interface ToolCallInfo {
  readonly serverName: string;
  /** The server's own name of the tool. */
  readonly toolName: string;
  readonly args: Record<string, unknown>;
  readonly requestContext: AnyRequestContext;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs around every call: may change the arguments, add `_meta`, return a result of its own, inspect the result, measure. Calling
 * `next` twice sends the call twice.
 */
export type ToolCallProcessor = (
  call: ToolCallInfo,
  next: (changes?: { args?: Record<string, unknown>; meta?: Record<string, unknown> }) => Promise<CallToolResult>,
) => Promise<CallToolResult>;
