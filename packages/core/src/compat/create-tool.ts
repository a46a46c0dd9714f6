import type { Schema } from '../schema/index.js';
import {
  createTool as createToolV1,
  type AnyRequestContext,
  type ClientToolOptions,
  type ToolContext,
  type ToolInput,
  type ToolMcpContext,
} from '../tools/index.js';
import type { MaybePromise, Result, Returned } from '../tools/tool.js';
import { acceptV0Calls, type V0Tool } from './accept-v0-calls.js';

/** First argument of `execute` in the v0 API. */
export interface V0ExecuteArguments<Input> {
  /** The parsed input. */
  context: Input;
  /** The request context, under its name in the v0 API. */
  runtimeContext: AnyRequestContext;
}

/** Second argument of `execute` in the v0 API. */
export interface V0ExecuteOptions {
  toolCallId: string;
  messages: readonly unknown[];
  abortSignal: AbortSignal | undefined;
  /** Sends elicitation requests; rejects outside an MCP call. */
  elicitation: ToolMcpContext['elicitation'];
  /** The MCP request; `undefined` outside an MCP call. */
  extra: ToolMcpContext['extra'];
}

/** Options of {@link createTool}. */
export interface V0ToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ClientToolOptions<InputSchema, OutputSchema, Result<OutputSchema, Output>> {
  /** Runs the tool with `{ context, … }`, as in the v0 API. */
  execute: (
    call: V0ExecuteArguments<ToolInput<InputSchema>>,
    options: V0ExecuteOptions,
  ) => MaybePromise<Returned<OutputSchema, Output>>;
}

/**
 * Defines a tool in the form of the v0 API. The result is a tool like any other; it can also be called in the v0
 * form, `tool.execute({ context, runtimeContext })`.
 *
 * @deprecated Write `execute: async (inputData, context)` and import `createTool` from `@quiver/core/tools`.
 * @throws `OPTIONS_INVALID` when `id` or `description` is missing
 * @example
 * createTool({ id: 'echo', description: 'Repeats', inputSchema, execute: async ({ context }) => context.text });
 */
export function createTool<
  InputSchema extends Schema | undefined = undefined,
  OutputSchema extends Schema | undefined = undefined,
  Output = unknown,
>({
  execute,
  ...options
}: V0ToolOptions<InputSchema, OutputSchema, Output>): V0Tool<InputSchema, OutputSchema, Result<OutputSchema, Output>> {
  return acceptV0Calls(
    createToolV1<InputSchema, OutputSchema, Output>({
      ...options,
      execute: (inputData: ToolInput<InputSchema>, context: ToolContext) =>
        execute(
          { context: inputData, runtimeContext: context.requestContext },
          {
            toolCallId: context.toolCallId,
            messages: context.agent?.messages ?? [],
            abortSignal: context.abortSignal,
            elicitation: context.mcp.elicitation,
            extra: context.mcp.extra,
          },
        ),
    }),
  );
}
