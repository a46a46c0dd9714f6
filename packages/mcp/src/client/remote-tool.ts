import type { JsonSchema } from '@quiver/core/schema';
import {
  createTool,
  type AnyRequestContext,
  type Tool,
  type ToolAnnotations,
  type ToolCallOptions,
  type ToolContext,
} from '@quiver/core/tools';
import type { CallToolResult, ProtocolTool } from '../protocol/client-types.js';
import { isObject } from '../protocol/json-rpc.js';
import { toRemoteSchema } from './remote-schema.js';
import { RemoteToolError } from './remote-tool-error.js';
import type { ServerOptions } from './server-definition.js';
import { toModelOutput } from './tool-model-output.js';
import { rememberToolResult } from './tool-result.js';

/** A tool of an MCP server, usable wherever a tool is: in agents, in the AI SDK, in `MCPServer`. */
export interface RemoteTool extends Omit<Tool<JsonSchema, undefined, unknown>, 'execute' | 'outputSchema'> {
  // oxlint-disable-next-line typescript/no-explicit-any -- at run time a schema that every AI SDK takes; each major names another type
  readonly outputSchema?: any;
  readonly execute: (input: Record<string, unknown>, options?: ToolCallOptions) => Promise<unknown>;
}

export interface RemoteCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
  readonly runId: string;
  readonly requestContext: AnyRequestContext;
  readonly signal: AbortSignal | undefined;
}

export interface RemoteToolOptions {
  readonly serverName: string;
  /** The name a model calls it by. */
  readonly id: string;
  readonly tool: ProtocolTool;
  readonly options: ServerOptions;
  readonly call: (call: RemoteCall) => Promise<CallToolResult>;
}

/**
 * Makes a tool of ours of a tool of an MCP server. The schemas are the server's own, the arguments go out as they were given.
 * Its result is the structured content when there is some, otherwise the whole result with its `content`.
 */
export function createRemoteTool(remote: RemoteToolOptions): RemoteTool {
  const { id, tool, options } = remote;
  const { description, title, annotations, _meta, inputSchema, outputSchema } = tool;
  const { requireToolApproval } = options;
  const definition = {
    id,
    description: description ?? '',
    inputSchema: toRemoteSchema(inputSchema),
    // An error result stands where structured output was declared; so does content of a server that forgot it.
    ...(outputSchema && { outputSchema: toRemoteSchema(outputSchema, (value) => isExempt(value, options)) }),
    ...(title !== undefined && { title }),
    mcp: { ...(annotations && { annotations }), ...(_meta && { _meta }) },
    ...(requireToolApproval !== undefined && {
      requireApproval:
        typeof requireToolApproval === 'boolean'
          ? requireToolApproval
          : (args: Record<string, unknown>, { requestContext }: ToolContext) =>
              requireToolApproval({
                toolName: tool.name,
                args,
                requestContext,
                annotations: (annotations ?? {}) as ToolAnnotations,
              }),
    }),
    toModelOutput,
    execute: (args: Record<string, unknown>, context: ToolContext) => runRemoteTool(remote, args, context),
  };
  // The types of the annotations differ only in what `exactOptionalPropertyTypes` says of `undefined`.
  return createTool(definition as Parameters<typeof createTool>[0]) as unknown as RemoteTool;
}

function isExempt(value: unknown, { onToolError }: ServerOptions): boolean {
  return typeof onToolError === 'function' || (isObject(value) && Array.isArray(value['content']));
}

async function runRemoteTool(
  { serverName, tool, options, call }: RemoteToolOptions,
  args: Record<string, unknown>,
  { requestContext, abortSignal: signal, toolCallId, runId = toolCallId }: ToolContext,
): Promise<unknown> {
  const { processToolCall, requestMeta, onToolError = 'throw' } = options;
  const meta = requestMeta?.({ toolName: tool.name, requestContext });
  const send = (changes: { args?: Record<string, unknown>; meta?: Record<string, unknown> } = {}) =>
    call({
      name: tool.name,
      args: changes.args ?? args,
      meta: { ...meta, ...changes.meta },
      runId,
      requestContext,
      signal,
    });
  const result = await (processToolCall
    ? processToolCall({ serverName, toolName: tool.name, args, requestContext, signal }, send)
    : send());
  if (result.isError === true && onToolError !== 'return') {
    const error = new RemoteToolError(serverName, tool.name, result);
    if (onToolError === 'throw') throw error;
    return onToolError(error);
  }
  if (result.structuredContent === undefined || result.isError === true) return result;
  rememberToolResult(result.structuredContent, result);
  return result.structuredContent;
}
