import { RequestContext } from '../request-context/index.js';
import { noMcpContext, type ToolMcpContext } from './mcp-context.js';

/** A context whose keys are the application's own. */
// oxlint-disable-next-line typescript/no-explicit-any -- a typed context must be assignable to any context
export type AnyRequestContext = RequestContext<any>;

/**
 * Options of a tool call. Every key is optional, so that a tool can be called directly, and so that the options of every AI SDK
 * major are accepted.
 */
export interface ToolCallOptions {
  requestContext?: AnyRequestContext | undefined;
  abortSignal?: AbortSignal | undefined;
  /** Default: a text that no other call has. */
  toolCallId?: string | undefined;
  /** The name the tool was called by. Default: its id. */
  toolName?: string | undefined;
  /** The run that the call belongs to. A remote MCP tool uses it as its progress token. */
  runId?: string | undefined;
  /** The conversation that led to the call. */
  messages?: readonly unknown[] | undefined;
  mcp?: ToolMcpContext | undefined;
  workflow?: Readonly<Record<string, unknown>> | undefined;
  /** Registry of the application, for example a `Mastra` instance: query tools call its `getVector(name)`. */
  mastra?: unknown;
  /** `throw` raises `TOOL_VALIDATION_FAILED` where a `ToolFailure` would be returned. Default `return`. */
  onFailure?: 'return' | 'throw' | undefined;
  /**
   * An output that does not fit the output schema is passed on nevertheless if this returns `true` for it: a transport whose tools
   * may answer in its own form, such as an MCP result with images.
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
  /** Always present; without an MCP caller its `extra` is `undefined` and its questions are refused. */
  readonly mcp: ToolMcpContext;
  /** Present when a model made the call. */
  readonly agent?: { readonly toolCallId: string; readonly messages: readonly unknown[] };
  /** Present when a workflow made the call; its keys are the workflow engine's. */
  readonly workflow?: Readonly<Record<string, unknown>>;
  /** Present when the caller passed it. */
  readonly mastra?: unknown;
}

export function createToolContext(toolId: string, options: ToolCallOptions): ToolContext {
  const { abortSignal, messages, workflow, runId, toolCallId = createCallId() } = options;
  const context: { -readonly [Key in keyof ToolContext]: ToolContext[Key] } = {
    requestContext: resolveRequestContext(options),
    toolCallId,
    toolName: options.toolName ?? toolId,
    mcp: options.mcp ?? noMcpContext,
  };
  if (abortSignal) context.abortSignal = abortSignal;
  if (messages) context.agent = { toolCallId, messages };
  if (runId !== undefined) context.runId = runId;
  if (workflow) context.workflow = workflow;
  if (options.mastra !== undefined) context.mastra = options.mastra;
  return context;
}

let processId: string | undefined;
let calls = 0;

/** A random UUID for the process and a number for the call: as unique as one UUID per call, at a tenth of the time. */
function createCallId(): string {
  // Not at import: edge runtimes forbid random values there.
  processId ??= crypto.randomUUID();
  calls += 1;
  return `${processId}-${calls}`;
}

/**
 * The request context of a call: its own, or the one inside the context of the AI SDK. A plain object there becomes a context
 * with its entries.
 */
function resolveRequestContext(options: ToolCallOptions): AnyRequestContext {
  const given: unknown = options.requestContext ?? options.context ?? options.experimental_context;
  if (given === undefined || given === null) return new RequestContext();
  if (isRequestContext(given)) return given;
  if (typeof given !== 'object') return new RequestContext();
  const { requestContext } = given as { requestContext?: unknown };
  return isRequestContext(requestContext) ? requestContext : new RequestContext(Object.entries(given));
}

/** By its methods, not by `instanceof`: the context may come from another copy of this package. */
function isRequestContext(value: unknown): value is AnyRequestContext {
  if (typeof value !== 'object' || value === null) return false;
  const candidate = value as Partial<AnyRequestContext>;
  return (
    typeof candidate.get === 'function' && typeof candidate.set === 'function' && typeof candidate.toJSON === 'function'
  );
}
