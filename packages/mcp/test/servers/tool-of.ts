import type { Schema } from '@quiver/core/schema';
import { createTool, type Tool, type ToolOptions } from '@quiver/core/tools';

type MoreOptions<Input extends Schema | undefined, Output extends Schema | undefined, Value> = Omit<
  ToolOptions<Input, Output, Value>,
  'id' | 'description' | 'execute'
>;

/** Returns a tool whose description is its name, for tests in which no client chooses by it. */
export function toolOf(id: string, execute: ToolOptions<undefined, undefined, unknown>['execute']): Tool;
export function toolOf<
  Input extends Schema | undefined = undefined,
  Output extends Schema | undefined = undefined,
  Value = unknown,
>(
  id: string,
  options: MoreOptions<Input, Output, Value>,
  execute: ToolOptions<Input, Output, Value>['execute'],
): Tool<Input, Output>;
export function toolOf(id: string, first: unknown, second?: unknown): unknown {
  const [options, execute] = second === undefined ? [{}, first] : [first, second];
  return createTool({ id, description: id, ...(options as object), execute: execute as never });
}
