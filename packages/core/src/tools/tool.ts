import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { RequestContext } from '../request-context/index.js';
import type { AiSdkSchema, InferInput, InferOutput, Schema } from '../schema/index.js';
import type { ToolMcpContext } from './mcp-context.js';
import type { ToolFailure } from './tool-failure.js';
import type { ToolHooks } from './tool-hooks.js';

/** A context whose keys are the application's own. */
// oxlint-disable-next-line typescript/no-explicit-any -- a typed context must be assignable to any context
export type AnyRequestContext = RequestContext<any>;

/**
 * Options of a tool call. Every key is optional, so that a tool can be called directly, and so that the options of every AI SDK
 * major are accepted.
 */
export interface ToolCallOptions {
  /** Values of the request, such as the tenant. Default: an empty context. */
  requestContext?: AnyRequestContext | undefined;
  /** Aborts the call. */
  abortSignal?: AbortSignal | undefined;
  /** Default: a unique text. */
  toolCallId?: string | undefined;
  /** Name under which the tool was called. Default: its id. */
  toolName?: string | undefined;
  /** The run that the call belongs to. A remote MCP tool uses it as its progress token. */
  runId?: string | undefined;
  /** The conversation that led to the call. */
  messages?: readonly unknown[] | undefined;
  /** MCP request of the call, when a server runs the tool. */
  mcp?: ToolMcpContext | undefined;
  /** Workflow of the call, when a workflow runs the tool. */
  workflow?: Readonly<Record<string, unknown>> | undefined;
  /** Registry of the application, for example a `Mastra` instance: query tools call its `getVector(name)`. */
  mastra?: unknown;
  /** `throw` raises `TOOL_VALIDATION_FAILED` where a `ToolFailure` would be returned. Default `return`. */
  onFailure?: 'return' | 'throw' | undefined;
  /**
   * Returns whether to accept an output that does not match the output schema. For transports whose tools may return a result in the
   * form of the transport, such as an MCP result with images.
   */
  acceptOutput?: ((output: unknown) => boolean) | undefined;
  /** The AI SDK's own context (7): a `RequestContext`, or a plain object whose entries become one. */
  context?: unknown;
  /** The same in AI SDK 5 and 6. */
  experimental_context?: unknown;
}

/** Second argument of `execute` of a tool. */
export interface ToolContext {
  /** Always present; empty when the caller passed none. */
  readonly requestContext: AnyRequestContext;
  readonly abortSignal?: AbortSignal;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Present when the caller named the run that the call belongs to. */
  readonly runId?: string;
  /** Always present. Without an MCP caller, its `extra` is `undefined` and its requests are rejected. */
  readonly mcp: ToolMcpContext;
  /** Present when a model made the call. */
  readonly agent?: { readonly toolCallId: string; readonly messages: readonly unknown[] };
  /** Present when a workflow made the call; its keys are the workflow engine's. */
  readonly workflow?: Readonly<Record<string, unknown>>;
  /** Present when the caller passed it. */
  readonly mastra?: unknown;
}

/** A part of a result that is not only text. AI SDK 5 carries text and data; URLs and file ids reach its models as text. */
export type ToolModelOutputPart =
  | { type: 'text'; text: string }
  | { type: 'image-data'; data: string; mediaType: string }
  | { type: 'image-url'; url: string }
  | { type: 'file-data'; data: string; mediaType: string; filename?: string }
  | { type: 'file-url'; url: string; mediaType?: string }
  | { type: 'file-id' | 'image-file-id'; fileId: string | Record<string, string> }
  | { type: 'custom'; providerOptions?: Record<string, Record<string, unknown>> };

/** Output that a model receives instead of the raw output. `data` is Base64. */
export type ToolModelOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'json' | 'error-json'; value: unknown }
  | { type: 'content'; value: ToolModelOutputPart[] };

/**
 * Hints about what a tool does, published to MCP clients. They are hints: a client must not trust them for security.
 *
 * @see [MCP, ToolAnnotations](https://modelcontextprotocol.io/specification/2025-11-25/server/tools)
 */
export interface ToolAnnotations {
  /** Display name. */
  title?: string;
  /** Whether the tool is free of side effects. Default `false`. */
  readOnlyHint?: boolean;
  /** Whether the tool may delete or overwrite data. Only meaningful if the tool is not read-only. Default `true`. */
  destructiveHint?: boolean;
  /** Whether a second call with the same arguments has no further effect. Default `false`. */
  idempotentHint?: boolean;
  /** Whether the tool accesses external systems, such as the web or another service. Default `true`. */
  openWorldHint?: boolean;
}

/**
 * Whether a call becomes a task, which the client polls, when the client supports tasks. `never`: calls stay open until their result.
 * `optional`: a task if the client supports it. `required`: only clients that support tasks may call the tool.
 */
export type ToolTaskMode = 'never' | 'optional' | 'required';

/** Options of the tasks of a tool. */
export interface ToolTaskOptions {
  /** Default `optional`. */
  mode?: ToolTaskMode;
  /** Milliseconds in which a call may end without becoming a task. Default 0. */
  after?: number;
  /**
   * Milliseconds from the creation of a task until the server forgets it and its result, and aborts a run that has not ended. Default
   * 86 400 000, one day.
   */
  ttlMs?: number;
  /** Interval in milliseconds at which clients should poll. Default 1000. */
  pollIntervalMs?: number;
  /**
   * Whether another process runs the tool again, with the same input and the user's earlier responses, when the process that ran it has
   * died. Only for tools that may run twice. Default `false`: the task fails.
   */
  resume?: boolean;
}

/** Limit of a result, so that it fits into the context of a model. Images, audio and files over it are left out. */
export type ResultLimit =
  | {
      /** UTF-16 code units, as in `text.length`. An image, audio or file counts the characters of its base64. */
      characters: number;
    }
  | {
      /** Tokens of the texts. Images, audio and files may have 750,000 base64 characters together. */
      tokens: number;
      /** Counts the tokens of a text. Default: an estimate by the kinds of characters. */
      countTokens?: (text: string) => number;
    };

/** Members that only MCP uses. */
export interface ToolMcpOptions {
  annotations?: ToolAnnotations;
  /** Pictures for user interfaces: URLs or data URIs. */
  icons?: { src: string; mimeType?: string; sizes?: string[] }[];
  _meta?: Record<string, unknown>;
  /** Scopes that a caller needs. For callers of an `MCPServer` without them the tool does not exist. */
  scopes?: readonly string[];
  /** Limit of results, in place of that of the `MCPServer`; `false` for no limit. */
  resultLimit?: ResultLimit | false;
  /**
   * Lets calls outlive their request, as tasks of the extension `io.modelcontextprotocol/tasks`. Default `never`.
   *
   * @see [MCP extension, tasks](https://github.com/modelcontextprotocol/ext-tasks)
   */
  task?: ToolTaskMode | ToolTaskOptions;
  /** @deprecated Has no effect: `MCPServer` sets the type of the tools that it makes from agents and workflows. */
  toolType?: 'agent' | 'workflow';
}

/** The type of the validated input of a tool; `any` where the schema has no type information. */
export type ToolInput<InputSchema> = InputSchema extends Schema ? InferOutput<InputSchema> : Untyped;

// oxlint-disable-next-line typescript/no-explicit-any -- a tool without input schema takes anything
type Untyped = any;

type IfAny<Type, Then, Else> = 0 extends 1 & Type ? Then : Else;

/** Input before validation: properties with defaults are optional. */
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
  /** The schema from `createTool`, with marks that make every schema library usable in the AI SDK. */
  readonly inputSchema: SdkSchema<InputSchema>;
  readonly outputSchema?: OutputSchema extends Schema ? SdkSchema<OutputSchema> : never;
  readonly title?: string;
  readonly strict?: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- checked by `createTool`; the AI SDK requires the type after defaults
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
   * detects it. Throws the errors of the tool.
   */
  readonly execute: ToolExecute<ToolCallInput<InputSchema>, Run, ToolInput<InputSchema>>;
}

/**
 * Any tool that can run: of this package, of the AI SDK's `tool()`, or of another library with the same shape.
 */
export interface ToolLike {
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly title?: unknown;
  readonly mcp?: ToolMcpOptions | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- other libraries define the parameters of their tools
  readonly execute?: ((input: any, options: any) => unknown) | undefined;
}

/** A tool without `execute`: the application that receives the call provides its result. */
export interface ClientToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ToolHooks<ToolInput<InputSchema>, Output, unknown> {
  /** Name of the tool in messages. A model receives the key of the tool in the set of tools. */
  id: string;
  /** Describes to a model what the tool does and when to use it. */
  description: string;
  /** Checked before `execute`. Without it, anything is accepted. */
  inputSchema?: InputSchema;
  /** Checked after `execute`; its parsed value is the result. */
  outputSchema?: OutputSchema;
  /** Checked against the JSON form of the request context before `execute`. */
  requestContextSchema?: Schema;
  /** Display name. */
  title?: string;
  /** Annotations and metadata for MCP clients. */
  mcp?: ToolMcpOptions;
  /** Whether a person must approve a model's call. AI SDK 6 and 7 ask; calls of AI SDK 5, which cannot ask, are rejected. */
  requireApproval?: boolean | ((input: ToolInput<InputSchema>, context: ToolContext) => boolean | PromiseLike<boolean>);
  /** The same as `requireApproval`, under its name in the AI SDK. */
  needsApproval?: boolean | ((input: ToolInput<InputSchema>, context: ToolContext) => boolean | PromiseLike<boolean>);
  /** Converts the output for the model. Default: JSON. */
  toModelOutput?: (output: Output) => ToolModelOutput | PromiseLike<ToolModelOutput>;
  /** Passed on to the model provider. */
  providerOptions?: Record<string, Record<string, unknown>>;
  /** Whether the provider enforces the input schema during generation. */
  strict?: boolean;
  /** Example inputs for the model. */
  inputExamples?: { input: InferInput<InputSchema> }[];
  /** @deprecated Name of `inputSchema` in AI SDK 4. Its type is not inferred: use `inputSchema`. */
  /** `inputSchema` under its name in AI SDK 4. */
  parameters?: Schema;
  /** @deprecated Has no effect: tools cannot be suspended. */
  /** @deprecated Accepted for code that was written for Mastra; has no effect. */
  suspendSchema?: unknown;
  /** @deprecated Has no effect: tools cannot be suspended. */
  /** @deprecated Accepted for code that was written for Mastra; has no effect. */
  resumeSchema?: unknown;
  /** @deprecated Has no effect: use `toModelOutput` to shorten the output for the model. */
  /** @deprecated Accepted for code that was written for Mastra; has no effect. */
  transform?: unknown;
  /** @deprecated Has no effect: use `mcp.task` for long calls over MCP. */
  /** @deprecated Accepted for code that was written for Mastra; has no effect. */
  background?: unknown;
  /** @deprecated Has no effect: callers pass their application as the call option `mastra`. */
  /** @deprecated Accepted for code that was written for Mastra; has no effect. */
  mastra?: unknown;
}

export type MaybePromise<Value> = Value | PromiseLike<Value>;

/** Return type of `execute`: with an output schema, the values that the schema accepts. */
export type Returned<OutputSchema, Output> = OutputSchema extends Schema ? InferInput<OutputSchema> : Output;
/** Result of a call: with an output schema, the parsed value. */
export type Result<OutputSchema, Output> = OutputSchema extends Schema ? InferOutput<OutputSchema> : Output;

/** Options of {@link createTool}. */
export interface ToolOptions<
  InputSchema extends Schema | undefined,
  OutputSchema extends Schema | undefined,
  Output,
> extends ClientToolOptions<InputSchema, OutputSchema, Result<OutputSchema, Output>> {
  /** Runs the tool with validated input. */
  execute: (inputData: ToolInput<InputSchema>, context: ToolContext) => MaybePromise<Returned<OutputSchema, Output>>;
}

/** Options of {@link createTool} for a tool that yields preliminary results. */
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
