import type { JsonSchema } from '@quiver/core/schema';
import {
  createTool,
  type AnyRequestContext,
  type Tool,
  type ToolAnnotations,
  type ToolCallOptions,
  type ToolContext,
} from '@quiver/core/tools';
import { isContentResult } from '../../content.js';
import type { CallToolResult, ProtocolTool } from '../../protocol/client-types.js';
import { completeLazily, type Origin } from './lazy-object.js';
import { toRemoteSchema, type RemoteSchema } from './remote-schema.js';
import { RemoteToolError } from './remote-tool-error.js';
import type { ServerOptions } from '../definition/server-definition.js';
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
  const definition = new RemoteDefinition(remote);
  // Not a literal with both: an object that starts out empty has room for the third member.
  const known: { id?: string; description?: string } = {};
  known.id = definition.id;
  known.description = definition.description;
  return completeLazily(known, definition.keys, definition);
}

/** With what the types of the AI SDK do not show. */
type CompleteTool = RemoteTool & { readonly id: string; readonly needsApproval?: unknown };

/** The options of `createTool`, read from what the server says of its tool rather than copied for each of many. */
class RemoteDefinition implements RemoteToolOptions, Origin<CompleteTool> {
  readonly server: RemoteServer;
  readonly id: string;
  readonly tool: ProtocolTool;
  made: CompleteTool | undefined;

  constructor({ server, id, tool }: RemoteToolOptions) {
    this.server = server;
    this.id = id;
    this.tool = tool;
  }

  /** What the tool has beside its id and its description. */
  get keys(): (keyof CompleteTool)[] {
    const { title, outputSchema } = this.tool;
    return [
      'inputSchema',
      ...(outputSchema ? ['outputSchema' as const] : []),
      ...(title === undefined ? [] : ['title' as const]),
      'mcp',
      ...(this.server.options.requireToolApproval === undefined ? [] : ['needsApproval' as const]),
      'toModelOutput',
      'execute',
    ];
  }

  make(): CompleteTool {
    // What is not set is `undefined` here; the types of the AI SDK do not show all that the tool has.
    return createTool(this as unknown as Parameters<typeof createTool>[0]) as unknown as CompleteTool;
  }

  get description(): string {
    return this.tool.description ?? '';
  }

  get inputSchema(): RemoteSchema {
    return toRemoteSchema(this.tool.inputSchema);
  }

  get outputSchema(): RemoteSchema | undefined {
    const { outputSchema } = this.tool;
    const { onToolError } = this.server.options;
    // An error result stands where structured output was declared; so does content of a server that forgot it.
    return (
      outputSchema && toRemoteSchema(outputSchema, typeof onToolError === 'function' ? isAnything : isContentResult)
    );
  }

  get title(): string | undefined {
    return this.tool.title;
  }

  get mcp(): object {
    const { annotations, _meta } = this.tool;
    if (!annotations && !_meta) return nothingPublished;
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

const nothingPublished = Object.freeze({});

/** What a function for error results may return in place of structured content. */
const isAnything = (): boolean => true;

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
