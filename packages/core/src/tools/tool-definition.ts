import { QuiverError } from '../errors.js';
import type { Schema } from '../schema/index.js';
import type { ToolCallOptions, ToolContext } from './tool-context.js';
import type { ToolHooks } from './tool-hooks.js';
import type { ToolLike } from './tool.js';

/** A tool of any origin as `executeTool` runs it, with its schemas and hooks. */
export interface ToolDefinition {
  readonly id: string;
  readonly inputSchema?: Schema | undefined;
  readonly outputSchema?: Schema | undefined;
  readonly requestContextSchema?: Schema | undefined;
  readonly requireApproval?:
    | boolean
    | ((input: unknown, context: ToolContext) => boolean | PromiseLike<boolean>)
    | undefined;
  readonly onInputAvailable?: ToolHooks<unknown, unknown, unknown>['onInputAvailable'] | undefined;
  readonly onOutput?: ToolHooks<unknown, unknown, unknown>['onOutput'] | undefined;
  readonly run: (input: unknown, context: ToolContext, options: ToolCallOptions) => unknown;
}

/** Keyed by `execute`: a copy made by spreading is the same tool, a copy with another `execute` is another one. */
const definitions = new WeakMap<object, ToolDefinition>();

/** Marks an `execute` that validates and runs its hooks, also for other copies of this package. */
const selfContained = Symbol.for('quiver.tool.execute');

/** Marks a wrapper around an `execute` of ours, so that the input is validated once and each hook runs once. */
export function markWrapper(wrapper: object, execute: object): void {
  if (selfContained in execute) markSelfContained(wrapper);
}

/** Connects the `execute` of a tool with its definition. */
export function registerDefinition(execute: object, definition: ToolDefinition): void {
  definitions.set(execute, definition);
  markSelfContained(execute);
}

function markSelfContained(execute: object): void {
  Object.defineProperty(execute, selfContained, { value: true });
}

/**
 * Returns the definition of a tool that `createTool` made; for other objects, a definition of their properties.
 *
 * @throws `TOOL_NOT_EXECUTABLE` when the tool has no `execute`
 */
export function definitionOf(tool: ToolLike): ToolDefinition {
  const { execute } = tool;
  if (typeof execute !== 'function') {
    throw new QuiverError(
      'TOOL_NOT_EXECUTABLE',
      `The tool '${getToolId(tool) ?? '?'}' has no execute function: the application that shows the call must answer it.`,
    );
  }
  return definitions.get(execute) ?? foreignDefinitionOf(tool);
}

function foreignDefinitionOf(tool: ToolLike): ToolDefinition {
  const id = getToolId(tool) ?? 'tool';
  if (tool.execute && selfContained in tool.execute) {
    // It validates and runs hooks by itself, so it receives the options of the caller.
    const run: ToolDefinition['run'] = (input, context, { onFailure, acceptOutput }) =>
      tool.execute?.(input, { ...context, ...context.agent, onFailure, acceptOutput });
    return { id, run };
  }
  const { onInputAvailable, onOutput } = tool as ToolHooks<unknown, unknown>;
  return {
    id,
    inputSchema: withInputSchema(tool).inputSchema as Schema | undefined,
    outputSchema: tool.outputSchema as Schema | undefined,
    ...(onInputAvailable && { onInputAvailable: (event) => onInputAvailable.call(tool, event) }),
    ...(onOutput && { onOutput: (event) => onOutput.call(tool, event) }),
    // The context under every library's name for it.
    run: (input, context) =>
      tool.execute?.(input, {
        ...context,
        messages: context.agent?.messages ?? [],
        experimental_context: context.requestContext,
        context: context.requestContext,
      }),
  };
}

/** A tool whose input schema may have the name that AI SDK 4 gave it, `parameters`; the result has it as `inputSchema`. */
export function withInputSchema<Tool extends { readonly inputSchema?: unknown }>(tool: Tool): Tool {
  const { parameters } = tool as { parameters?: unknown };
  return tool.inputSchema === undefined && parameters !== undefined ? { ...tool, inputSchema: parameters } : tool;
}

/** The `id` of a tool, which its public type does not show. */
export function getToolId(tool: ToolLike): string | undefined {
  const { id } = tool as { id?: unknown };
  return typeof id === 'string' && id !== '' ? id : undefined;
}
