import { RequestContext } from '@quiver/core/request-context';
import { validate, type Schema } from '@quiver/core/schema';
import { executeTool } from '@quiver/core/tools';
import {
  encodeErrorText,
  encodeToolResult,
  isContentResult,
  type ContentResult,
  type EncodedResult,
} from '../../content.js';
import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import { requireToolAccess } from '../require-tool-access.js';
import type { ServerRequest } from '../request.js';
import type { RegisteredTool } from '../tool-registry.js';
import { isUrlElicitationRequired, requestPages } from './url-elicitation-required.js';

/**
 * Answers `tools/call` in both eras.
 *
 * @throws ProtocolError with HTTP status 403 when the token lacks a scope, -32602 when the call names no tool of this server or its arguments are not an object, -32042 when the
 *   tool requires that the user opens a page first; every other failure inside the tool is a result
 */
export async function callTool(request: ServerRequest): Promise<EncodedResult> {
  const { signal } = request;
  const { registered, args } = parseToolCall(request);
  try {
    const value = await executeTool(registered.tool, args, {
      toolName: registered.name,
      toolCallId: String(request.requestId),
      requestContext: new RequestContext().set('mcp.extra', request.extra),
      abortSignal: signal,
      acceptOutput: isCompleteResult,
      mcp: request,
    });
    if (registered.tool.outputSchema && isContentResult(value)) {
      const problem = await checkStructuredContent(registered, value);
      if (problem !== undefined) return encodeErrorText(problem);
    }
    return encodeToolResult(value, registered.structured[request.era]);
  } catch (error) {
    // Canceled, or abandoned for an input_required result: this result is not sent.
    if (signal.aborted) return encodeErrorText('Error: the call was canceled');
    return describeFailure(request, registered.name, error);
  }
}

async function describeFailure(request: ServerRequest, name: string, error: unknown): Promise<EncodedResult> {
  try {
    if (isUrlElicitationRequired(error)) return await requestPages(request, error);
  } catch (reason) {
    if (reason instanceof ProtocolError) throw reason;
    return describeFailure(request, name, reason);
  }
  return encodeErrorText(`Error: ${request.server.failures.describe(`Tool ${name}`, error)}`);
}

/** Clients require structured content where an output schema is declared, except in errors. */
function isCompleteResult(output: unknown): boolean {
  return isContentResult(output) && (output.isError === true || output.structuredContent !== undefined);
}

/** Returns why the structured content of a tool's own result violates the output schema, or `undefined`. */
async function checkStructuredContent(
  { name, tool }: RegisteredTool,
  { isError, structuredContent }: ContentResult,
): Promise<string | undefined> {
  if (isError === true || structuredContent === undefined) return undefined;
  const result = await validate(tool.outputSchema as Schema, structuredContent);
  if (result.ok) return undefined;
  const reasons = result.issues.map(({ path, message }) => `- ${path.join('.') || 'root'}: ${message}`);
  return `Error: Invalid structured content for tool ${name}:\n${reasons.join('\n')}`;
}

function parseToolCall({ server, params, toolAccess }: ServerRequest): { registered: RegisteredTool; args: unknown } {
  const name = params?.['name'];
  if (typeof name !== 'string') throw invalidParams('tools/call needs the name of a tool.');
  if (toolAccess) requireToolAccess(name, toolAccess);
  const args = params?.['arguments'];
  if (args !== undefined && !isObject(args)) throw invalidParams(`The arguments of ${name} must be an object.`);
  const registered = server.tools.get(name);
  if (!registered) throw invalidParams(`Unknown tool: ${name}`);
  return { registered, args: args ?? {} };
}
