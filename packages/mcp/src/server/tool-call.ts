import { executeTool } from '@quiver/core/tools';
import { RequestContext } from '@quiver/core/request-context';
import { encodeThrown, encodeToolResult, type EncodedResult } from '../content.js';
import type { LoggingLevel } from '../protocol/constants.js';
import type { Era } from '../protocol/era-verdict.js';
import { isObject, type Params } from '../protocol/json-rpc.js';
import { invalidParams } from '../protocol/protocol-error.js';
import type { AskClient } from './elicitation.js';
import type { Exchange } from './exchange.js';
import { createToolMcpContext } from './tool-mcp-context.js';
import type { RegisteredTool, ToolRegistry } from './tool-registry.js';

export interface ToolCallRequest {
  readonly tools: ToolRegistry;
  readonly params: Params | undefined;
  readonly exchange: Exchange;
  readonly era: Era;
  /** The least severe level the client wants to hear of; `undefined` for no log messages at all. */
  readonly logLevel: LoggingLevel | undefined;
  readonly ask: AskClient;
}

/**
 * `tools/call`, in both eras: one way from the arguments to the encoded result.
 *
 * @throws ProtocolError -32602 when the call names no tool of this server or its arguments are not an object; whatever goes
 *   wrong inside the tool is a result
 */
export async function callTool({
  tools,
  params,
  exchange,
  era,
  logLevel,
  ask,
}: ToolCallRequest): Promise<EncodedResult> {
  const { registered, args } = parseToolCall(tools, params);
  const mcp = createToolMcpContext({ exchange, logLevel, progressToken: progressTokenOf(params), ask });
  try {
    const value = await executeTool(registered.tool, args, {
      toolName: registered.name,
      toolCallId: String(exchange.requestId),
      requestContext: new RequestContext([['mcp.extra', mcp.extra]]),
      abortSignal: exchange.signal,
      mcp,
    });
    return encodeToolResult(value, registered.structured[era]);
  } catch (error) {
    return encodeThrown(error);
  }
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

function progressTokenOf(params: Params | undefined): string | number | undefined {
  const meta = params?.['_meta'];
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}
