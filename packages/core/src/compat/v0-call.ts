import { toJsonSchema, type Schema } from '../schema/index.js';
import type { AnyRequestContext, ToolCallOptions } from '../tools/index.js';

/** First argument of a tool call in the v0 API. */
export interface V0Call<Input> {
  /** The input. */
  context: Input;
  runtimeContext?: AnyRequestContext | undefined;
  mastra?: unknown;
}

/** Keys of such an argument. */
const v0Keys: ReadonlySet<string> = new Set([
  'context',
  'runtimeContext',
  'mastra',
  'memory',
  'resourceId',
  'resumeData',
  'runId',
  'suspend',
  'threadId',
  'tracingContext',
  'writableStream',
  'writer',
]);

/**
 * Reads a call of the current or the v0 API: `execute({ context, runtimeContext }, options)` or `execute(input, options)`.
 *
 * An object that contains only keys of the v0 API is a v0 call, unless the tool's own input has a key `context`.
 */
export function readCall(
  inputSchema: Schema | undefined,
  first: unknown,
  options: ToolCallOptions = {},
): { input: unknown; options: ToolCallOptions } {
  if (!isV0Call(first) || describesContext(inputSchema)) return { input: first, options };
  const { context, runtimeContext, mastra } = first;
  if (!runtimeContext && mastra === undefined) return { input: context, options };
  const { requestContext = runtimeContext } = options;
  return { input: context, options: { ...options, requestContext, mastra: options.mastra ?? mastra } };
}

function isV0Call(value: unknown): value is V0Call<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, 'context') &&
    Object.keys(value).every((key) => v0Keys.has(key))
  );
}

function describesContext(inputSchema: Schema | undefined): boolean {
  if (inputSchema === undefined) return false;
  const { properties } = toJsonSchema(inputSchema, 'input');
  return typeof properties === 'object' && properties !== null && Object.hasOwn(properties, 'context');
}
