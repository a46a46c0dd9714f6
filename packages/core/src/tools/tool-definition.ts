import type { Schema } from '../schema/index.js';
import type { ToolContext } from './tool-context.js';
import type { ToolHooks } from './tool-hooks.js';
import type { ToolLike } from './tool.js';

/** What {@link executeTool} runs: a tool with its schemas and hooks, whoever made it. */
export interface ToolDefinition extends ToolHooks<unknown, unknown> {
  readonly id: string;
  readonly inputSchema: Schema | undefined;
  readonly outputSchema: Schema | undefined;
  readonly requestContextSchema: Schema | undefined;
  readonly run: (input: unknown, context: ToolContext) => unknown;
}

/** Keyed by `execute`: a copy made by spreading is the same tool, a copy with another `execute` is another one. */
const definitions = new WeakMap<object, ToolDefinition>();

export function registerDefinition(execute: object, definition: ToolDefinition): void {
  definitions.set(execute, definition);
}

/** The definition of a tool made by `createTool`; for anybody else's object, one that is read from its properties. */
export function definitionOf(tool: ToolLike): ToolDefinition {
  const { execute } = tool;
  if (!execute)
    throw new TypeError(
      `The tool '${getToolId(tool) ?? '?'}' has no execute function: it runs at the client, not here.`,
    );
  return definitions.get(execute) ?? foreignDefinitionOf(tool);
}

function foreignDefinitionOf(tool: ToolLike): ToolDefinition {
  const hooks = tool as ToolHooks<unknown, unknown>;
  return {
    id: getToolId(tool) ?? 'tool',
    inputSchema: tool.inputSchema as Schema | undefined,
    outputSchema: tool.outputSchema as Schema | undefined,
    requestContextSchema: undefined,
    ...(hooks.onInputAvailable && { onInputAvailable: (event) => hooks.onInputAvailable?.(event) }),
    ...(hooks.onOutput && { onOutput: (event) => hooks.onOutput?.(event) }),
    run: (input, context) =>
      tool.execute?.(input, {
        ...context,
        messages: context.agent?.messages ?? [],
        experimental_context: context.requestContext,
        context: context.requestContext,
      }),
  };
}

/** The `id` of a tool, which its public type does not show. */
export function getToolId(tool: ToolLike): string | undefined {
  const { id } = tool as { id?: unknown };
  return typeof id === 'string' && id !== '' ? id : undefined;
}
