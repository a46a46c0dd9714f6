import type { Attributes } from '@opentelemetry/api';
import type { McpSessionTraceEvent, McpTraceEvent } from '../trace-events.js';

/** Names and URIs come from the peer: longer ones are cut. */
const maxNameLength = 128;
const maxUriLength = 2048;

function toName(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, maxNameLength) : undefined;
}

const resourceMethods: ReadonlySet<string> = new Set([
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/resources/updated',
]);

/** Codes of JSON-RPC for a method, and for a name or other parameters, that the receiver does not know. */
const methodNotFound = '-32601';
const invalidParams = '-32602';

/** Returns the name of the span of a message. */
export function nameOfMessage({ method, params }: McpTraceEvent, hasUri: boolean): string {
  const isNamed = method === 'tools/call' || method === 'prompts/get';
  const target = isNamed ? params?.['name'] : hasUri && resourceMethods.has(method) ? params?.['uri'] : undefined;
  const name = toName(method) as string;
  return typeof target === 'string' ? `${name} ${toName(target)}` : name;
}

/** Returns the name of the span of a rejected message, without names that the client may have made up; `undefined` for other messages. */
export function nameOfRejected({ direction, method }: McpTraceEvent, failure: Attributes): string | undefined {
  if (direction !== 'received') return undefined;
  if (failure['error.type'] === methodNotFound) return '_OTHER';
  return failure['error.type'] === invalidParams ? toName(method) : undefined;
}

/**
 * Returns the attributes of a message that are known when it starts.
 *
 * @see [Semantic conventions for MCP](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md)
 */
export function describeMessage(event: McpTraceEvent): Attributes {
  const { method, params, sessionId, clientAddress } = event;
  const attributes: Attributes = { ...describeLink(event), ...describeTarget(event) };
  attributes['mcp.method.name'] = toName(method);
  if (method === 'tools/call') attributes['gen_ai.operation.name'] = 'execute_tool';
  if (resourceMethods.has(method) && typeof params?.['uri'] === 'string')
    attributes['mcp.resource.uri'] = params['uri'].slice(0, maxUriLength);
  if (sessionId !== undefined) attributes['mcp.session.id'] = sessionId;
  if (clientAddress !== undefined) attributes['client.address'] = clientAddress;
  return attributes;
}

/** Returns the attributes of a message that may be known after its end only. */
export function describeEndOfMessage({ requestId, protocolVersion }: McpTraceEvent): Attributes {
  return {
    'jsonrpc.request.id': requestId === undefined ? undefined : toName(String(requestId)),
    'mcp.protocol.version': protocolVersion,
  };
}

/** Returns the attributes of a connection. */
export function describeLink(event: McpTraceEvent | McpSessionTraceEvent): Attributes {
  const { transport, serverAddress, serverPort } = event;
  const attributes: Attributes = {};
  if (transport === 'stdio') attributes['network.transport'] = 'pipe';
  else if (transport === 'http' || transport === 'sse') {
    attributes['network.transport'] = 'tcp';
    attributes['network.protocol.name'] = 'http';
  }
  if (serverAddress !== undefined) {
    attributes['server.address'] = serverAddress;
    attributes['server.port'] = serverPort;
  }
  return attributes;
}

/**
 * Returns the attributes of the metric of a message: without ids and URIs, and without names that the receiver may not know, of which a hostile
 * client could send any number.
 */
export function describeMeasurement(event: McpTraceEvent, failure: Attributes): Attributes {
  const { direction, method, protocolVersion } = event;
  const error = failure['error.type'];
  const isReceived = direction === 'received';
  const attributes = { ...describeLink(event), ...failure };
  attributes['mcp.method.name'] = isReceived && error === methodNotFound ? '_OTHER' : toName(method);
  if (protocolVersion !== undefined) attributes['mcp.protocol.version'] = protocolVersion;
  if (method === 'tools/call') attributes['gen_ai.operation.name'] = 'execute_tool';
  return isReceived && error !== undefined && error !== 'tool_error'
    ? attributes
    : { ...attributes, ...describeTarget(event) };
}

function describeTarget({ method, params }: McpTraceEvent): Attributes {
  const name = toName(params?.['name']);
  if (name === undefined) return {};
  if (method === 'tools/call') return { 'gen_ai.tool.name': name };
  return method === 'prompts/get' ? { 'gen_ai.prompt.name': name } : {};
}
