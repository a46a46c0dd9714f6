import type { Schema } from '../schema/index.js';
import type { Tool, ToolCallInput, ToolCallOptions, ToolExecute, ToolInput, ToolLike } from '../tools/index.js';
import type { ResultOf } from '../tools/tool.js';
import { markWrapper } from '../tools/execute-tool.js';
import { readCall, type V0Call } from './v0-call.js';

/** The signatures of `execute` of a tool of this entry: a call of the v0 API, or a call as of every other tool. */
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
 * A copy of the tool that can also be called with `execute({ context, runtimeContext })`; all other members are unchanged.
 */
export function acceptV0Calls<InputSchema, OutputSchema, Output, Run>(
  tool: Tool<InputSchema, OutputSchema, Output, Run>,
): V0Tool<InputSchema, OutputSchema, Output, Run> {
  // As everything that runs tools sees it; the exact parameters are known to the type checker only.
  const { execute, inputSchema } = tool as { inputSchema: unknown; execute: NonNullable<ToolLike['execute']> };
  const executeEither = (first: unknown, options?: ToolCallOptions): unknown => {
    const call = readCall(inputSchema as Schema | undefined, first, options);
    return execute.call(tool, call.input, call.options);
  };
  markWrapper(executeEither, execute);
  // The same members with the same types; only the ways to call `execute` grow.
  return { ...tool, execute: executeEither } as unknown as V0Tool<InputSchema, OutputSchema, Output, Run>;
}
