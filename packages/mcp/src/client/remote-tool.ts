import { QuiverError } from '@quiver/core';
import { validate, type JsonSchema, type Schema } from '@quiver/core/schema';
import { createTool, type Tool } from '@quiver/core/tools';
import type { CallToolResult, ProtocolTool } from '../protocol/client-types.js';
import { isObject } from '../protocol/json-rpc.js';
import type { RemoteCallOptions } from './server-connection.js';

/** The schema of a remote tool: any JSON object, described by the server. */
export interface RemoteSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'mcp';
    readonly validate: (value: unknown) => RemoteValidation | Promise<RemoteValidation>;
    readonly types?: { readonly input: Record<string, unknown>; readonly output: Record<string, unknown> } | undefined;
    readonly jsonSchema: Record<'input' | 'output', () => JsonSchema>;
  };
}

type RemoteValidation =
  | { readonly value: Record<string, unknown>; readonly issues?: undefined }
  | { readonly issues: readonly { readonly path: readonly (string | number)[]; readonly message: string }[] };

/** A tool of an MCP server, usable wherever a tool is: in agents, in the AI SDK, in `MCPServer`. */
export type RemoteTool = Tool<RemoteSchema, RemoteSchema, unknown>;

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
    inputSchema: toRemoteSchema(inputSchema),
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
function toRemoteSchema(jsonSchema: object): RemoteSchema {
  const described = (): JsonSchema => jsonSchema as JsonSchema;
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      jsonSchema: { input: described, output: described },
      validate: async (value) => {
        // Checked as JSON Schema; passed on as it was given, whatever it is.
        const given = { value: value as Record<string, unknown> };
        if (isErrorResult(value)) return given;
        try {
          const result = await validate(jsonSchema as Schema, value);
          return result.ok ? given : { issues: result.issues };
        } catch {
          return given;
        }
      },
    },
  };
}

/** With `onToolError: 'return'` an error result stands where structured output was declared. */
function isErrorResult(value: unknown): boolean {
  return isObject(value) && value['isError'] === true && Array.isArray(value['content']);
}

function toToolError(serverName: string, toolName: string, result: CallToolResult): QuiverError {
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = texts.join('\n') || 'no reason given';
  return new QuiverError('MCP_TOOL_ERROR', text, {
    details: { server: serverName, tool: toolName, content: result.content },
  });
}
