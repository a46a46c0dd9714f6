import { isContentResult } from '../../content.js';
import type { CallToolResult } from '../../protocol/client-types.js';

/** Whole results by structured output. An entry lives as long as its key. */
const results = new WeakMap<object, CallToolResult>();

export function rememberToolResult(output: unknown, result: CallToolResult): void {
  if (typeof output === 'object' && output !== null) results.set(output, result);
}

/**
 * Returns the whole result of a remote tool, with `content` and `_meta`, for a value that its `execute` returned.
 *
 * @returns `undefined` for other values, for copies, and for structured content that is not an object
 * @example
 * const output = await tools.github_search.execute({ query });
 * getToolResult(output)?._meta;
 */
export function getToolResult(output: unknown): CallToolResult | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const known = results.get(output);
  if (known) return known;
  return isContentResult(output) ? (output as unknown as CallToolResult) : undefined;
}
