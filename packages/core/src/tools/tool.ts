import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AiSdkSchema, InferInput, InferOutput, Schema } from '../schema/index.js';
import type { ToolCallOptions } from './tool-context.js';
import type { ToolFailure } from './tool-failure.js';
import type { ToolHooks } from './tool-hooks.js';

/**
 * Hints about what a tool does, published to MCP clients. They are hints: a client must not trust them for security.
 *
 * @see [MCP, ToolAnnotations](https://modelcontextprotocol.io/specification/2025-11-25/server/tools)
 */
export interface ToolAnnotations {
  /** Name to show to people. */
  title?: string;
  /** The tool changes nothing. Default `false`. */
  readOnlyHint?: boolean;
  /** The tool may destroy or overwrite. Meaningful only when it is not read-only. Default `true`. */
  destructiveHint?: boolean;
  /** A second call with the same arguments has no further effect. Default `false`. */
  idempotentHint?: boolean;
  /** The tool reaches outside: the web, another service. Default `true`. */
  openWorldHint?: boolean;
}

/** Members that only MCP publishes. */
export interface ToolMcpOptions {
  annotations?: ToolAnnotations;
  /** Pictures for user interfaces: URLs or data URIs. */
  icons?: { src: string; mimeType?: string; sizes?: string[] }[];
  _meta?: Record<string, unknown>;
}

/** The type of the validated input of a tool; `any` where the schema has no type information. */
export type ToolInput<InputSchema> = InputSchema extends Schema ? InferOutput<InputSchema> : Untyped;

// oxlint-disable-next-line typescript/no-explicit-any -- a tool without input schema takes anything
type Untyped = any;

type IfAny<Type, Then, Else> = 0 extends 1 & Type ? Then : Else;

/** Input before validation: defaults may be left out. */
export type ToolCallInput<InputSchema> = InputSchema extends Schema ? InferInput<InputSchema> : Untyped;

/**
 * The value that a caller of `execute` receives: the output, or a {@link ToolFailure} when input or output do not fit their schemas.
 * The members of the output are optional on the failure, so that they can be read before `isToolFailure(result)` has decided.
 */
export type ToolCallResult<Output> = IfAny<Output, Untyped, Output | FailureInsteadOf<Output>>;

type FailureInsteadOf<Output> = Output extends Primitive | readonly unknown[]
  ? ToolFailure
  : ToolFailure & { [Key in Exclude<keyof Output, keyof ToolFailure>]?: undefined };

/** Return type of `execute` of a tool without preliminary results. */
export type DefaultRun<InputSchema, Output> = IfAny<InputSchema, Untyped, Promise<Output>>;

type Primitive = string | number | bigint | boolean | symbol | null | undefined | void;

/** Result of a direct call of a tool whose `execute` returns `Run`. */
export type ResultOf<Run> = IfAny<
  Run,
  Untyped,
  Run extends AsyncIterable<infer Output>
    ? AsyncIterable<ToolCallResult<Output>>
    : Run extends Promise<infer Output>
      ? Promise<ToolCallResult<Output>>
      : Run
>;

/**
 * The signatures of `execute`: two for direct calls, with input before validation; the last one for drivers, which validate the input
 * first. The AI SDK infers the types of a tool call from the last signature.
 */
export interface ToolExecute<CallInput, Run, Input = CallInput> {
  (input: CallInput, options: ToolCallOptions & { onFailure: 'throw' }): Run;
  (input: CallInput, options?: ToolCallOptions): ResultOf<Run>;
  (input: Input, options?: ToolCallOptions): Run;
}

/** Plain JSON Schema is `any` in the type of a tool, because it is not assignable to the schema types of the AI SDK. */
type SdkSchema<Given> = Given extends StandardSchemaV1 | AiSdkSchema ? Given : Untyped;

/** The members that every tool has, with or without `execute`. */
export interface ClientTool<InputSchema, OutputSchema, Output> extends ToolHooks<ToolInput<InputSchema>, Output> {
  readonly description: string;
  /** The schema given to `createTool`, with the marks that let the AI SDK use any schema library. */
  readonly inputSchema: SdkSchema<InputSchema>;
  readonly outputSchema?: OutputSchema extends Schema ? SdkSchema<OutputSchema> : never;
  readonly title?: string;
  readonly strict?: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- checked by `createTool`; the AI SDK wants it without defaults left out
  readonly inputExamples?: { input: any }[];
  readonly mcp?: ToolMcpOptions;
  // oxlint-disable-next-line typescript/no-explicit-any -- the AI SDK types these values differently in each major
  readonly providerOptions?: Record<string, any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- called with the output (5) or with an envelope around it (6, 7)
  readonly toModelOutput?: (output: any) => any;
  // oxlint-disable-next-line typescript/no-explicit-any -- called by the AI SDK, with options that differ in each major
  readonly needsApproval?: boolean | ((input: any, options?: any) => boolean | PromiseLike<boolean>);
}

/**
 * A tool made by {@link createTool}: an AI SDK tool, an MCP tool, and a function of the program.
 *
 * Without type parameters it is any tool: `Record<string, Tool>`. The object also carries its `id`; the type does not, because
 * AI SDK 7 forbids an `id` on function tools. Use `getToolId`.
 */
export interface Tool<
  InputSchema = Untyped,
  OutputSchema = Untyped,
  Output = InferOutput<OutputSchema>,
  Run = DefaultRun<InputSchema, Output>,
> extends ClientTool<InputSchema, OutputSchema, Output> {
  /**
   * Validates the input, runs the tool and validates the output. Returns a `ToolFailure` when a validation fails; `isToolFailure(result)`
   * detects it. Throws what the tool throws.
   */
  readonly execute: ToolExecute<ToolCallInput<InputSchema>, Run, ToolInput<InputSchema>>;
}

/**
 * Anything that can be run as a tool: ours, the AI SDK's `tool()`, or another library's object of the same shape.
 */
export interface ToolLike {
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly title?: unknown;
  readonly mcp?: ToolMcpOptions | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- the parameters of other people's tools are theirs
  readonly execute?: ((input: any, options: any) => unknown) | undefined;
}
