import type { Schema } from '../schema/index.js';
import type { Tool, ToolCallInput, ToolCallOptions, ToolExecute, ToolLike } from '../tools/index.js';
import { markWrapper } from '../tools/tool-definition.js';
import { readCall, type V0Call } from './v0-call.js';

/** How a tool of this entry is called: as in the older generation, or as every other tool. */
export interface V0ToolExecute<InputSchema, Run> extends ToolExecute<InputSchema, Run> {
  (call?: V0Call<ToolCallInput<InputSchema>>, options?: ToolCallOptions): Run;
  (input: ToolCallInput<InputSchema>, options?: ToolCallOptions): Run;
  (...call: Parameters<ToolExecute<InputSchema, Run>>): Run;
}

/** A tool that also takes calls of the older generation. */
export interface V0Tool<InputSchema, OutputSchema, Output, Run = Promise<Output>> extends Omit<
  Tool<InputSchema, OutputSchema, Output, Run>,
  'execute'
> {
  readonly execute: V0ToolExecute<InputSchema, Run>;
}

/**
 * A copy of the tool that can also be called with `execute({ context, runtimeContext })`; everything else stays as it is.
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
