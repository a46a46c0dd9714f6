import { RequestContext } from '@quiver/core/request-context';
import { validate, type Schema } from '@quiver/core/schema';
import { executeTool } from '@quiver/core/tools';
import {
  encodeErrorText,
  encodeToolResult,
  isContentResult,
  type ContentResult,
  type EncodedResult,
} from '../content.js';
import { isObject, type Params } from '../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../protocol/protocol-error.js';
import type { RequestScope } from './request-scope.js';
import type { ServerDefinition } from './server-definition.js';
import { createToolMcpContext } from './tool-mcp-context.js';
import type { RegisteredTool, ToolRegistry } from './tool-registry.js';
import { isUrlElicitationRequired, sendToPages } from './url-elicitation-required.js';

/**
 * `tools/call`, in both eras: one way from the arguments to the encoded result.
 *
 * @throws ProtocolError -32602 when the call names no tool of this server or its arguments are not an object, -32042 when the
 *   tool sends the user to a page first; whatever else goes wrong inside the tool is a result
 */
export async function callTool(server: ServerDefinition, scope: RequestScope): Promise<EncodedResult> {
  const { era, exchange } = scope;
  const { registered, args } = parseToolCall(server.tools, scope.params);
  const mcp = createToolMcpContext(scope);
  try {
    const value = await executeTool(registered.tool, args, {
      toolName: registered.name,
      toolCallId: String(exchange.requestId),
      requestContext: new RequestContext().set('mcp.extra', mcp.extra),
      abortSignal: exchange.signal,
      acceptOutput: isCompleteResult,
      mcp,
    });
    if (registered.tool.outputSchema && isContentResult(value)) {
      const problem = await checkStructuredContent(registered, value);
      if (problem !== undefined) return encodeErrorText(problem);
    }
    return encodeToolResult(value, registered.structured[era]);
  } catch (error) {
    // Cancelled, or answered with a question: no failure, and nobody reads this.
    if (exchange.signal.aborted) return encodeErrorText('Error: the call was cancelled');
    return describeFailure(server, scope, registered.name, error);
  }
}

async function describeFailure(
  server: ServerDefinition,
  scope: RequestScope,
  name: string,
  error: unknown,
): Promise<EncodedResult> {
  try {
    if (isUrlElicitationRequired(error)) return await sendToPages(scope, error);
  } catch (reason) {
    if (reason instanceof ProtocolError) throw reason;
    return describeFailure(server, scope, name, reason);
  }
  return encodeErrorText(`Error: ${server.failures.describe(`Tool ${name}`, error)}`);
}

/** Where an output schema is declared, clients insist on structured content, except in errors. */
function isCompleteResult(output: unknown): boolean {
  return isContentResult(output) && (output.isError === true || output.structuredContent !== undefined);
}

/** A result in the protocol's own form brings its structured content; that must fit the schema too. */
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

function parseToolCall(tools: ToolRegistry, params: Params | undefined): { registered: RegisteredTool; args: unknown } {
  const name = params?.['name'];
  if (typeof name !== 'string') throw invalidParams('tools/call needs the name of a tool.');
  const args = params?.['arguments'];
  if (args !== undefined && !isObject(args)) throw invalidParams(`The arguments of ${name} must be an object.`);
  const registered = tools.get(name);
  if (!registered) throw invalidParams(`Unknown tool: ${name}`);
  return { registered, args: args ?? {} };
}
