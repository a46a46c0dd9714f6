import { toJsonSchema, type Schema } from '../schema/index.js';
import { markWrapper } from '../tools/driver.js';
import type {
  AnyRequestContext,
  Tool,
  ToolCallInput,
  ToolCallOptions,
  ToolExecute,
  ToolInput,
  ToolLike,
} from '../tools/index.js';
import type { ResultOf } from '../tools/tool.js';

/** First argument of a tool call in the v0 API. */
export interface V0Call<Input> {
  /** The input. */
  context: Input;
  runtimeContext?: AnyRequestContext | undefined;
  mastra?: unknown;
}

/** Signatures of `execute`: the v0 API and the current API. */
export interface V0ToolExecute<InputSchema, Run> extends ToolExecute<
  ToolCallInput<InputSchema>,
  Run,
  ToolInput<InputSchema>
> {
  (call?: V0Call<ToolCallInput<InputSchema>>, options?: ToolCallOptions): ResultOf<Run>;
}

/** A tool that also accepts calls of the v0 API. */
export interface V0Tool<InputSchema, OutputSchema, Output, Run = Promise<Output>> extends Omit<
  Tool<InputSchema, OutputSchema, Output, Run>,
  'execute'
> {
  readonly execute: V0ToolExecute<InputSchema, Run>;
}

/**
 * Returns a copy of the tool that can also be called with `execute({ context, runtimeContext })`; all other members are unchanged.
 * @example
 * const legacy = acceptV0Calls(weather);
 * await legacy.execute({ context: { city: 'Oslo' } });
 */
export function acceptV0Calls<InputSchema, OutputSchema, Output, Run>(
  tool: Tool<InputSchema, OutputSchema, Output, Run>,
): V0Tool<InputSchema, OutputSchema, Output, Run> {
  // The erased signature that callers of tools use. Only the type checker knows the exact parameters.
  const { execute, inputSchema } = tool as { inputSchema: unknown; execute: NonNullable<ToolLike['execute']> };
  const executeEither = (first: unknown, options?: ToolCallOptions): unknown => {
    const call = readCall(inputSchema as Schema | undefined, first, options);
    return execute.call(tool, call.input, call.options);
  };
  markWrapper(executeEither, execute);
  // The copy has the same members and types, and additional signatures of `execute`.
  return { ...tool, execute: executeEither } as unknown as V0Tool<InputSchema, OutputSchema, Output, Run>;
}

/** Keys of the first argument of a v0 call. */
const v0Key =
  /^(context|runtimeContext|mastra|memory|resourceId|resumeData|runId|suspend|threadId|tracingContext|writableStream|writer)$/;

/**
 * Reads a call of the current or the v0 API: `execute({ context, runtimeContext }, options)` or `execute(input, options)`.
 *
 * An object that contains only keys of the v0 API is a v0 call, unless the tool's own input has a key `context`.
 */
function readCall(
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
    Object.keys(value).every((key) => v0Key.test(key))
  );
}

function describesContext(inputSchema: Schema | undefined): boolean {
  const { properties } = inputSchema ? toJsonSchema(inputSchema, 'input') : {};
  return Object.hasOwn(properties ?? {}, 'context');
}
