import type { InferInput, InferOutput, Schema } from '../schema/index.js';
import type { ToolModelOutput } from './model-output.js';
import type { ToolContext } from './tool-context.js';
import type { ToolHooks } from './tool-hooks.js';
import type { ToolInput, ToolMcpOptions } from './tool.js';

/** A tool without `execute`: the application that shows the call to a person answers it. */
export interface ClientToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ToolHooks<ToolInput<InputSchema>, Output, unknown> {
  /** Names the tool in messages; a model sees the key under which the tool is offered. */
  id: string;
  /** Tells a model what the tool does and when to use it. */
  description: string;
  /** Checked before `execute`. Without it, anything is accepted. */
  inputSchema?: InputSchema;
  /** Checked after `execute`; its parsed value is the result. */
  outputSchema?: OutputSchema;
  /** Checked against the JSON form of the request context before `execute`. */
  requestContextSchema?: Schema;
  /** Name to show to people. */
  title?: string;
  /** Annotations and metadata for MCP clients. */
  mcp?: ToolMcpOptions;
  /** Whether a person must approve a model's call. AI SDK 6 and 7 ask; calls of AI SDK 5, which cannot ask, are rejected. */
  requireApproval?: boolean | ((input: ToolInput<InputSchema>, context: ToolContext) => boolean | PromiseLike<boolean>);
  /** Converts the output for the model. Default: JSON. */
  toModelOutput?: (output: Output) => ToolModelOutput | PromiseLike<ToolModelOutput>;
  /** Passed on to the model provider. */
  providerOptions?: Record<string, Record<string, unknown>>;
  /** Asks the provider to enforce the input schema while the model writes. */
  strict?: boolean;
  /** Shows the model what good input looks like. */
  inputExamples?: { input: InferInput<InputSchema> }[];
}

export type MaybePromise<Value> = Value | PromiseLike<Value>;

/** Return type of `execute`: with an output schema, the values that the schema accepts. */
export type Returned<OutputSchema, Output> = OutputSchema extends Schema ? InferInput<OutputSchema> : Output;
/** Result of a call: with an output schema, the parsed value. */
export type Result<OutputSchema, Output> = OutputSchema extends Schema ? InferOutput<OutputSchema> : Output;

export interface ToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ClientToolOptions<InputSchema, OutputSchema, Result<OutputSchema, Output>> {
  execute: (inputData: ToolInput<InputSchema>, context: ToolContext) => MaybePromise<Returned<OutputSchema, Output>>;
}

export interface StreamingToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ClientToolOptions<InputSchema, OutputSchema, Result<OutputSchema, Output>> {
  /** An `async function*`: everything it yields is a preliminary result, the last one is the result. */
  execute: (inputData: ToolInput<InputSchema>, context: ToolContext) => AsyncIterable<Returned<OutputSchema, Output>>;
}

/** The options without type parameters. */
export type ErasedToolOptions = ClientToolOptions<Schema, Schema, unknown> & {
  execute?: (inputData: unknown, context: ToolContext) => unknown;
};
