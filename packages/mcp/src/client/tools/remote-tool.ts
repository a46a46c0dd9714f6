import type { JsonSchema } from '@quiver/core/schema';
import {
  createTool,
  type Tool,
  type ToolAnnotations,
  type ToolCallOptions,
  type ToolContext,
} from '@quiver/core/tools';
import { isContentResult } from '../../content.js';
import type { ProtocolTool } from '../../protocol/client-types.js';
import type { ServerHandle } from '../server/server-handle.js';
import { callTool } from './call-tool.js';
import { toRemoteSchema, type RemoteSchema } from './remote-schema.js';
import { RemoteToolError } from './remote-tool-error.js';
import { countFailures, retriesExceeded } from './retry-budget.js';
import { toModelOutput } from './tool-model-output.js';
import { rememberToolResult } from './tool-result.js';

/** A tool of an MCP server, usable wherever a tool is: in agents, in the AI SDK, in `MCPServer`. */
export interface RemoteTool extends Omit<Tool<JsonSchema, undefined, unknown>, 'execute' | 'outputSchema'> {
  // oxlint-disable-next-line typescript/no-explicit-any -- at run time a schema that every AI SDK takes; each major names another type
  readonly outputSchema?: any;
  readonly execute: (input: Record<string, unknown>, options?: ToolCallOptions) => Promise<unknown>;
}

export interface RemoteToolOptions {
  readonly server: ServerHandle;
  /** Name that a model calls the tool by. */
  readonly id: string;
  readonly tool: ProtocolTool;
}

/**
 * Creates a tool from a tool of an MCP server. The schemas are the server's own, and the arguments are sent unchanged. `execute`
 * returns the structured content of the result; otherwise the whole result with its `content`.
 */
export function createRemoteTool(remote: RemoteToolOptions): RemoteTool {
  // The types of `createTool` do not accept `undefined` members, and those of the AI SDK do not show all that the tool has.
  const options = new RemoteDefinition(remote) as unknown as Parameters<typeof createTool>[0];
  return createTool(options) as unknown as RemoteTool;
}

/** The options of `createTool`, read from the server's definition. The methods are shared, because servers list thousands of tools. */
class RemoteDefinition implements RemoteToolOptions {
  readonly server: ServerHandle;
  readonly id: string;
  readonly tool: ProtocolTool;

  constructor({ server, id, tool }: RemoteToolOptions) {
    this.server = server;
    this.id = id;
    this.tool = tool;
  }

  get description(): string {
    const { description = '', outputSchema } = this.tool;
    if (!outputSchema || this.server.options.includeReturnSchema !== true) return description;
    return `${description}\n\nReturns JSON that fits this schema: ${JSON.stringify(outputSchema)}`.trimStart();
  }

  get inputSchema(): RemoteSchema {
    return toRemoteSchema(this.tool.inputSchema);
  }

  get outputSchema(): RemoteSchema | undefined {
    const { name: toolName, outputSchema } = this.tool;
    const { onToolError } = this.server.options;
    // An error result stands where structured output was declared; so does content of a server that forgot it.
    const isExempt = typeof onToolError === 'function' ? isAnything : isContentResult;
    return outputSchema && toRemoteSchema(outputSchema, { toolName, isExempt });
  }

  get title(): string | undefined {
    return this.tool.title;
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
    return (args: Record<string, unknown>, { requestContext }: ToolContext) =>
      // The types of the annotations differ only in what `exactOptionalPropertyTypes` says of `undefined`.
      requireToolApproval({ toolName, args, requestContext, annotations: annotations as ToolAnnotations });
  }

  get toModelOutput(): typeof toModelOutput {
    return toModelOutput;
  }

  execute(args: Record<string, unknown>, context: ToolContext): Promise<unknown> {
    return runRemoteTool(this, args, context);
  }
}

/** What a function for error results may return in place of structured content. */
const isAnything = (): boolean => true;

async function runRemoteTool(
  { server, tool }: RemoteToolOptions,
  args: Record<string, unknown>,
  { requestContext, abortSignal: signal, toolCallId, runId = toolCallId, toolName, agent }: ToolContext,
): Promise<unknown> {
  const { name: serverName } = server;
  const { processToolCall, requestMeta, onToolError = 'throw', maxRetries } = server.options;
  const retriesLeft = maxRetries === undefined ? 0 : maxRetries - countFailures(agent?.messages, toolName);
  if (retriesLeft < 0) throw retriesExceeded(toolName, maxRetries);
  const meta = requestMeta?.({ toolName: tool.name, requestContext });
  const send = (changes: { args?: Record<string, unknown>; meta?: Record<string, unknown> } = {}) =>
    callTool(
      server,
      {
        name: tool.name,
        args: changes.args ?? args,
        meta: { ...meta, ...changes.meta },
        runId,
        requestContext,
        ...(signal && { signal }),
      },
      tool,
    );
  const result = await (processToolCall
    ? processToolCall({ serverName, toolName: tool.name, args, requestContext, signal }, send)
    : send());
  if (result.isError === true && onToolError !== 'return') {
    const error = new RemoteToolError(serverName, tool.name, result);
    if (maxRetries !== undefined && retriesLeft === 0) throw retriesExceeded(toolName, maxRetries, error);
    if (onToolError === 'throw') throw error;
    return onToolError(error);
  }
  if (result.structuredContent === undefined || result.isError === true) return result;
  rememberToolResult(result.structuredContent, result);
  return result.structuredContent;
}
