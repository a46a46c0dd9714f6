import { QuiverError } from '@quiver/core';
import { validate, type AiSdkSchema, type JsonSchema } from '@quiver/core/schema';
import { createTool, type Tool } from '@quiver/core/tools';
import type { CallToolResult, ProtocolTool } from '../protocol/client-types.js';
import { isObject } from '../protocol/json-rpc.js';
import type { RemoteCallOptions } from './server-connection.js';

/** A tool of an MCP server, usable wherever a tool is: in agents, in the AI SDK, in `MCPServer`. */
export type RemoteTool = Tool<AiSdkSchema<Record<string, unknown>>, AiSdkSchema, unknown>;

export interface RemoteToolOptions {
  readonly serverName: string;
  /** The name a model calls it by. */
  readonly id: string;
  readonly tool: ProtocolTool;
  readonly onToolError: 'throw' | 'return';
  readonly call: (args: Record<string, unknown>, options: RemoteCallOptions) => Promise<CallToolResult>;
}

/**
 * Makes a tool of ours of a tool of an MCP server. The schemas are the server's own, the arguments go out as they were given.
 * Its result is the structured content when there is some, otherwise the whole result with its `content`.
 */
export function createRemoteTool({ serverName, id, tool, onToolError, call }: RemoteToolOptions): RemoteTool {
  const { description, title, annotations, _meta, inputSchema, outputSchema } = tool;
  const options = {
    id,
    description: description ?? '',
    inputSchema: toRemoteSchema<Record<string, unknown>>(inputSchema),
    ...(outputSchema && { outputSchema: toRemoteSchema(outputSchema) }),
    ...(title !== undefined && { title }),
    mcp: { ...(annotations && { annotations }), ...(_meta && { _meta }) },
    execute: async (
      args: Record<string, unknown>,
      { abortSignal }: { abortSignal?: AbortSignal },
    ): Promise<unknown> => {
      const result = await call(args, { signal: abortSignal });
      if (result.isError === true) {
        if (onToolError === 'return') return result;
        throw toToolError(serverName, tool.name, result);
      }
      return result.structuredContent === undefined ? result : result.structuredContent;
    },
  };
  // The types of the annotations differ only in what `exactOptionalPropertyTypes` says of `undefined`.
  return createTool(options as Parameters<typeof createTool>[0]) as unknown as RemoteTool;
}

/**
 * The server's JSON Schema, untouched, in the form that all tools take. A schema that cannot be used for checking (an unknown
 * `$ref`) checks nothing: the server looks at its arguments itself.
 */
function toRemoteSchema<Value = unknown>(jsonSchema: object): AiSdkSchema<Value> {
  const schema = {
    [Symbol.for('vercel.ai.schema')]: true,
    jsonSchema,
    validate: async (value: unknown) => {
      if (isObject(value) && value['isError'] === true && Array.isArray(value['content']))
        return { success: true, value };
      const result = await validateLeniently(jsonSchema as JsonSchema, value);
      if (result.ok) return { success: true, value };
      const reasons = result.issues.map(({ path, message }) => `${path.join('.') || 'root'}: ${message}`);
      return { success: false, error: new TypeError(reasons.join('\n')) };
    },
  };
  // `_type` exists in the AI SDK's type only, to carry `Value`.
  return schema as unknown as AiSdkSchema<Value>;
}

async function validateLeniently(schema: JsonSchema, value: unknown): Promise<Awaited<ReturnType<typeof validate>>> {
  try {
    return await validate(schema, value);
  } catch {
    return { ok: true, value };
  }
}

function toToolError(serverName: string, toolName: string, result: CallToolResult): QuiverError {
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = texts.join('\n') || 'no reason given';
  return new QuiverError('MCP_TOOL_ERROR', text, {
    details: { server: serverName, tool: toolName, content: result.content },
  });
}
