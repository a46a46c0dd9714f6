import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AiSdkSchema, InferInput, InferOutput, Schema } from '../schema/index.js';
import type { ToolCallOptions } from './tool-context.js';
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

/** What is published only through MCP. */
export interface ToolMcpOptions {
  annotations?: ToolAnnotations;
  /** Pictures for user interfaces: URLs or data URIs. */
  icons?: { src: string; mimeType?: string; sizes?: string[] }[];
  _meta?: Record<string, unknown>;
}

/** The type of the validated input of a tool; `any` where its schema says nothing to the type checker. */
export type ToolInput<InputSchema> = InputSchema extends Schema ? InferOutput<InputSchema> : Untyped;

// oxlint-disable-next-line typescript/no-explicit-any -- a tool without input schema takes anything
type Untyped = any;

type IfAny<Type, Then, Else> = 0 extends 1 & Type ? Then : Else;

/** What a caller writes: defaults may be left out. */
export type ToolCallInput<InputSchema> = InputSchema extends Schema ? InferInput<InputSchema> : Untyped;

/**
 * How a tool is called: with input as a person writes it, or with input that was validated before. The second form comes last
 * because it is the one that the AI SDK infers the type of a tool call from.
 */
export interface ToolExecute<InputSchema, Run> {
  (input: ToolCallInput<InputSchema>, options?: ToolCallOptions): Run;
  (input: ToolInput<InputSchema>, options?: ToolCallOptions): Run;
}

/** Plain JSON Schema is `any` here: at run time it carries the marks of an AI SDK schema, whose type only the AI SDK can name. */
type DescribedInput<InputSchema> = InputSchema extends StandardSchemaV1 | AiSdkSchema ? InputSchema : Untyped;

/** The members that every tool has, with or without `execute`. */
export interface ClientTool<InputSchema, OutputSchema, Output> extends ToolHooks<ToolInput<InputSchema>, Output> {
  readonly description: string;
  /** The schema given to `createTool`, with the marks that let the AI SDK use any schema library. */
  readonly inputSchema: DescribedInput<InputSchema>;
  readonly outputSchema?: OutputSchema extends Schema ? OutputSchema : never;
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
 * A tool made by {@link createTool}: an AI SDK tool, an MCP tool, and a function of your own program at once.
 *
 * Without type parameters it is any tool: `Record<string, Tool>`. The object also carries its `id`; the type does not, because
 * AI SDK 7 forbids an `id` on function tools. Use `getToolId`.
 */
export interface Tool<
  InputSchema = Untyped,
  OutputSchema = Untyped,
  Output = InferOutput<OutputSchema>,
  Run = IfAny<InputSchema, Untyped, Promise<Output>>,
> extends ClientTool<InputSchema, OutputSchema, Output> {
  /**
   * Validates, runs, validates. A validation failure is returned, as `ToolFailure`, never thrown; what the tool itself throws
   * is thrown. Tell failures apart with `isToolFailure(result)`.
   */
  readonly execute: ToolExecute<InputSchema, Run>;
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
