import { isQuiverError, QuiverError } from '@quiver/core';
import { validateJsonSchema, type JsonSchema } from '@quiver/core/schema';
import {
  createTool,
  type Tool,
  type ToolAnnotations,
  type ToolCallOptions,
  type ToolContext,
} from '@quiver/core/tools';
import { isContentResult } from '../../content.js';
import { withoutTags } from '../../protocol/invisible-text.js';
import type { ProtocolTool } from '../../protocol/types.js';
import { isObject } from '../../protocol/json-rpc.js';
import type { Caller } from '../config/caller.js';
import { RemoteToolError, type ToolCallProcessor } from '../config/tool-options.js';
import type { RemoteServer } from '../remote/remote-server.js';
import { callTool } from './call-tool.js';
import { limitModelOutput, limitText, markUntrusted, markUntrustedText } from './model-output.js';
import { toModelOutput, toToolOutput } from './tool-result.js';

/** A tool of an MCP server, for agents, the AI SDK and `MCPServer`. */
export interface RemoteTool extends Omit<Tool<JsonSchema, undefined, unknown>, 'execute' | 'outputSchema'> {
  // oxlint-disable-next-line typescript/no-explicit-any -- at run time a schema that every AI SDK takes; each major names another type
  readonly outputSchema?: any;
  readonly execute: (input: Record<string, unknown>, options?: ToolCallOptions) => Promise<unknown>;
}

/**
 * Creates a tool from a tool of an MCP server. The schemas are the server's own, without the tags that hide text in descriptions. `execute`
 * returns the structured content of the result; otherwise the whole result with its `content`.
 *
 * @param id - name that a model calls the tool by
 * @param caller - caller that all calls are made for
 */
export function createRemoteTool(server: RemoteServer, id: string, tool: ProtocolTool, caller: Caller): RemoteTool {
  // The types of `createTool` do not accept `undefined` members, and those of the AI SDK do not show all that the tool has.
  const options = new RemoteDefinition(server, id, tool, caller) as unknown as Parameters<typeof createTool>[0];
  return createTool(options) as unknown as RemoteTool;
}

/** The options of `createTool`. It and {@link RemoteSchema} have getters, because servers list thousands of tools, of which few are called. */
class RemoteDefinition {
  readonly server: RemoteServer;
  readonly id: string;
  readonly tool: ProtocolTool;
  readonly caller: Caller;

  constructor(server: RemoteServer, id: string, tool: ProtocolTool, caller: Caller) {
    this.server = server;
    this.id = id;
    this.tool = tool;
    this.caller = caller;
  }

  get description(): string {
    const { description = '', outputSchema } = this.tool;
    const text = withoutTags(description);
    if (!outputSchema || this.server.options.includeReturnSchema !== true) return text;
    return `${text}\n\nReturns JSON that fits this schema: ${JSON.stringify(withoutTags(outputSchema))}`.trimStart();
  }

  get inputSchema(): object {
    return new RemoteSchema(this.tool.inputSchema);
  }

  get outputSchema(): object | undefined {
    const { name: toolName, outputSchema } = this.tool;
    const { onToolError } = this.server.options;
    // Error results and content have no structured output, and a function for error results may return anything.
    const isExempt = typeof onToolError === 'function' ? () => true : isContentResult;
    return outputSchema && new RemoteSchema(outputSchema, { toolName, isExempt });
  }

  get title(): string | undefined {
    return withoutTags(this.tool.title);
  }

  get mcp(): object | undefined {
    const { annotations, _meta } = this.tool;
    if (!annotations && !_meta) return undefined;
    return { ...(annotations && { annotations }), ...(_meta && { _meta }) };
  }

  get requireApproval(): unknown {
    const { requireToolApproval } = this.server.options;
    if (typeof requireToolApproval !== 'function') return requireToolApproval;
    const { name: toolName, annotations = {} } = this.tool;
    return (args: Record<string, unknown>, context: ToolContext) => {
      const { requestContext = context.requestContext } = this.caller;
      // The types of the annotations differ only in what `exactOptionalPropertyTypes` says of `undefined`.
      return requireToolApproval({ toolName, args, requestContext, annotations: annotations as ToolAnnotations });
    };
  }

  get toModelOutput(): typeof toModelOutput {
    const { resultLimit, options, name: serverName } = this.server;
    const origin = { serverName, toolName: this.tool.name };
    if (!resultLimit && !options.untrusted) return toModelOutput;
    return (output) => {
      const whole = toModelOutput(output);
      const limited = resultLimit ? limitModelOutput(whole, resultLimit) : whole;
      return options.untrusted ? markUntrusted(limited, origin) : limited;
    };
  }

  async execute(args: Record<string, unknown>, context: ToolContext): Promise<unknown> {
    const { server, tool } = this;
    const { abortSignal: signal, toolCallId, runId = toolCallId, toolName, agent } = context;
    const { requestContext = context.requestContext } = this.caller;
    const { processToolCall, requestMeta, onToolError = 'throw', maxRetries } = server.options;
    const retriesLeft = maxRetries === undefined ? 0 : maxRetries - countFailures(agent?.messages, toolName);
    if (retriesLeft < 0) throw retriesExceeded(toolName, maxRetries);
    const meta = requestMeta?.({ toolName: tool.name, requestContext });
    const send: Parameters<ToolCallProcessor>[1] = (changes = {}) =>
      callTool(server, {
        ...this.caller,
        name: tool.name,
        args: changes.args ?? args,
        meta: { ...meta, ...changes.meta },
        runId,
        toolCallId,
        requestContext,
        signal,
        tool,
      });
    const call = { serverName: server.name, toolName: tool.name, args, requestContext, signal };
    const result = await (processToolCall ? processToolCall(call, send) : send());
    if (result.isError === true && onToolError !== 'return') {
      const error = new RemoteToolError(server.name, tool.name, result);
      // A model receives the message of an error.
      if (server.resultLimit) error.message = limitText(error.message, server.resultLimit);
      if (server.options.untrusted)
        error.message = markUntrustedText(error.message, { serverName: server.name, toolName: tool.name });
      if (maxRetries !== undefined && retriesLeft === 0) throw retriesExceeded(toolName, maxRetries, error);
      if (onToolError === 'throw') throw error;
      return onToolError(error);
    }
    return toToolOutput(result);
  }
}

type Validation =
  | { readonly value: unknown }
  | { readonly issues: readonly { readonly path: readonly (string | number)[]; readonly message: string }[] };

/** Set for an output schema. */
interface RemoteOutput {
  readonly toolName: string;
  /** Values that are accepted without a check. */
  readonly isExempt: (value: unknown) => boolean;
}

/**
 * The JSON Schema of a server as a Standard Schema, which is its own `~standard` member. Regular expressions are not checked, because a hostile
 * one can take exponential time. A schema that cannot be used checks nothing, and arguments whose check would block for too long are sent
 * unchecked: the server validates its arguments itself.
 */
class RemoteSchema {
  private readonly source: object;
  private readonly output: RemoteOutput | undefined;

  constructor(source: object, output?: RemoteOutput) {
    this.source = source;
    this.output = output;
  }

  get '~standard'(): this {
    return this;
  }

  get version(): 1 {
    return 1;
  }

  get vendor(): 'mcp' {
    return 'mcp';
  }

  get jsonSchema(): Record<'input' | 'output', () => object> {
    const describe = (): object => withoutTags(this.source);
    return { input: describe, output: describe };
  }

  /** @throws `MCP_OUTPUT_TOO_COMPLEX` when the check of an output would block for too long */
  validate(value: unknown): Validation {
    if (this.output?.isExempt(value)) return { value };
    try {
      const result = validateJsonSchema(this.source as JsonSchema, value, { checkPatterns: false });
      return result.ok ? { value } : { issues: result.issues };
    } catch (error) {
      if (!this.output || !isQuiverError(error, 'SCHEMA_TOO_COMPLEX')) return { value };
      throw new QuiverError(
        'MCP_OUTPUT_TOO_COMPLEX',
        `The output of the remote tool '${this.output.toolName}' was refused, because the check against its output schema takes too long. Report it to the operator of the server, or leave out the tool.`,
        { cause: error },
      );
    }
  }
}

/** Counts the failures of a tool since its last success, in the messages that led to a call, in the formats of AI SDK 5, 6 and 7. */
function countFailures(messages: readonly unknown[] = [], toolName: string): number {
  const parts = messages.flatMap((message) =>
    isObject(message) && Array.isArray(message['content']) ? (message['content'] as unknown[]) : [],
  );
  const results = parts.filter(
    (part) => isObject(part) && part['type'] === 'tool-result' && part['toolName'] === toolName,
  );
  const lastSuccess = results.findLastIndex((part) => !isFailure((part as Record<string, unknown>)['output']));
  return results.length - 1 - lastSuccess;
}

function isFailure(output: unknown): boolean {
  if (!isObject(output)) return false;
  const { type, value } = output;
  if (type === 'error-text' || type === 'error-json') return true;
  // A `ToolFailure`, after it became JSON.
  return type === 'json' && isObject(value) && value['error'] === true && 'validationErrors' in value;
}

function retriesExceeded(toolName: string, maxRetries: number | undefined, cause?: Error): QuiverError {
  const last = cause ? ` The last failure: ${cause.message}` : '';
  return new QuiverError(
    'MCP_TOOL_RETRIES_EXCEEDED',
    `The tool '${toolName}' failed more than ${maxRetries} times in a row (\`maxRetries\`). Do not call it again in this run.${last}`,
    { cause, details: { toolName, maxRetries } },
  );
}
