import { markWrapper } from './driver.js';
import type { AnyRequestContext, ToolCallOptions, ToolLike } from './tool.js';

/**
 * Returns copies of the tools that receive this request context on every call. It works in AI SDK 5, 6 and 7 alike, and for tools of
 * any origin that read `requestContext`.
 *
 * @example
 * await generateText({ model, prompt, tools: withRequestContext(tools, requestContext) });
 */
export function withRequestContext<Tools extends Record<string, object>>(
  tools: Tools,
  requestContext: AnyRequestContext,
): Tools {
  const entries = Object.entries(tools).map(([name, tool]) => [name, bindRequestContext(tool, requestContext)]);
  // The same keys, and under each the same members.
  return Object.fromEntries(entries) as Tools;
}

function bindRequestContext(tool: ToolLike, requestContext: AnyRequestContext): ToolLike {
  const { execute } = tool;
  if (typeof execute !== 'function') return tool;
  // Not an async function: an iterable of preliminary results must be returned unchanged.
  const executeWithContext = (input: unknown, options?: ToolCallOptions): unknown =>
    execute.call(tool, input, { ...options, requestContext });
  markWrapper(executeWithContext, execute);
  return { ...tool, execute: executeWithContext };
}
