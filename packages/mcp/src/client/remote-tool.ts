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
import { completeLazily } from './lazy-object.js';
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

/** The server of a tool, as far as its tools know it. */
export interface RemoteServer {
  readonly name: string;
  readonly options: ServerOptions;
  readonly callTool: (call: RemoteCall, tool: ProtocolTool) => Promise<CallToolResult>;
}

export interface RemoteToolOptions {
  readonly server: RemoteServer;
  /** The name a model calls it by. */
  readonly id: string;
  readonly tool: ProtocolTool;
}

/**
 * Makes a tool of ours of a tool of an MCP server. The schemas are the server's own, the arguments go out as they were given.
 * Its result is the structured content when there is some, otherwise the whole result with its `content`.
 *
 * What a tool consists of is made when a part of it is first read: servers list thousands of tools, of which a few are used.
 */
export function createRemoteTool(remote: RemoteToolOptions): RemoteTool {
  const { id, tool } = remote;
  const known = { id, description: tool.description ?? '' };
  return completeLazily<CompleteTool, RemoteToolOptions>(known, partsOf(remote), makeTool, remote);
}

/** With what the types of the AI SDK do not show. */
type CompleteTool = RemoteTool & { readonly id: string; readonly needsApproval?: unknown };

/** What {@link makeTool} gives a tool beside its id and its description. */
function partsOf({
  tool: { outputSchema, title },
  server: {
    options: { requireToolApproval },
  },
}: RemoteToolOptions): (keyof CompleteTool)[] {
  return [
    'inputSchema',
    ...(outputSchema ? ['outputSchema' as const] : []),
    ...(title === undefined ? [] : ['title' as const]),
    'mcp',
    ...(requireToolApproval === undefined ? [] : ['needsApproval' as const]),
    'toModelOutput',
    'execute',
  ];
}

function makeTool(remote: RemoteToolOptions): CompleteTool {
  const { id, tool } = remote;
  const { options } = remote.server;
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
  return createTool(definition as Parameters<typeof createTool>[0]) as unknown as CompleteTool;
}

function isExempt(value: unknown, { onToolError }: ServerOptions): boolean {
  return typeof onToolError === 'function' || (isObject(value) && Array.isArray(value['content']));
}

async function runRemoteTool(
  { server, tool }: RemoteToolOptions,
  args: Record<string, unknown>,
  { requestContext, abortSignal: signal, toolCallId, runId = toolCallId }: ToolContext,
): Promise<unknown> {
  const { name: serverName } = server;
  const { processToolCall, requestMeta, onToolError = 'throw' } = server.options;
  const meta = requestMeta?.({ toolName: tool.name, requestContext });
  const send = (changes: { args?: Record<string, unknown>; meta?: Record<string, unknown> } = {}) =>
    server.callTool(
      {
        name: tool.name,
        args: changes.args ?? args,
        meta: { ...meta, ...changes.meta },
        runId,
        requestContext,
        signal,
      },
      tool,
    );
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
