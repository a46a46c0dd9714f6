import type { InferOutput, Schema } from '../schema/index.js';
import { createTool } from './create-tool.js';
import type { Result, ToolOptions } from './tool-options.js';
import type { DefaultRun, Tool as ToolObject, ToolLike } from './tool.js';

// oxlint-disable-next-line typescript/no-explicit-any -- without type parameters it is any tool
type Untyped = any;

export type Tool<
  InputSchema = Untyped,
  OutputSchema = Untyped,
  Output = InferOutput<OutputSchema>,
  Run = DefaultRun<InputSchema, Output>,
> = ToolObject<InputSchema, OutputSchema, Output, Run>;

interface ToolConstructor {
  new <
    InputSchema extends Schema | undefined = undefined,
    OutputSchema extends Schema | undefined = undefined,
    Output = unknown,
  >(
    options: ToolOptions<InputSchema, OutputSchema, Output>,
  ): Tool<InputSchema, OutputSchema, Result<OutputSchema, Output>>;
}

/**
 * The constructor form of {@link createTool}, for code that was written for Mastra. Every result of `createTool` is an instance, copies made by
 * spreading included.
 */
export const Tool: ToolConstructor = class {
  constructor(options: ToolOptions<undefined, undefined, unknown>) {
    // A plain object, whose members survive spreading.
    return createTool(options);
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    const { inputSchema } = (value ?? {}) as ToolLike;
    return typeof inputSchema === 'object' && inputSchema !== null && '~source' in inputSchema;
  }
} as ToolConstructor;

/** Returns whether a value is a tool of the AI SDK that was not made by {@link createTool}. */
export function isVercelTool(value: unknown): value is ToolLike {
  if (typeof value !== 'object' || value === null || value instanceof Tool) return false;
  return 'inputSchema' in value || 'parameters' in value;
}
