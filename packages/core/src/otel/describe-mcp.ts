import type { Attributes } from '@opentelemetry/api';
import type { McpSessionTraceEvent, McpTraceEvent } from '../trace-events.js';

/** Names and URIs come from the peer: longer ones are cut. */
const maxNameLength = 128;
const maxUriLength = 2048;

function toName(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, maxNameLength) : undefined;
}

/** Code of JSON-RPC for a name or other parameters that the receiver does not know. */
const invalidParams = '-32602';

/** Returns the method of a message; `_OTHER` for a received one that the protocol does not have. */
function methodOf({ direction, method, isKnownMethod }: McpTraceEvent): string {
  return direction === 'received' && !isKnownMethod ? '_OTHER' : method.slice(0, maxNameLength);
}

/** Returns the name of the span of a message. */
export function nameOfMessage(event: McpTraceEvent, hasUri: boolean): string {
  const isUri = event.target?.kind === 'resource';
  const [target] = isUri ? [hasUri ? toName(event.target.name) : undefined] : Object.values(describeTarget(event));
  return target === undefined ? methodOf(event) : `${methodOf(event)} ${String(target)}`;
}

/** Returns the name of the span of a rejected message, without names that the client may have made up; `undefined` for other messages. */
export function nameOfRejected(event: McpTraceEvent, failure: Attributes): string | undefined {
  return event.direction === 'received' && failure['error.type'] === invalidParams ? methodOf(event) : undefined;
}

/**
 * Returns the attributes of a message that are known when it starts.
 *
 * @see [Semantic conventions for MCP](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md)
 */
export function describeMessage(event: McpTraceEvent): Attributes {
  const { method, target, sessionId, clientAddress } = event;
  const attributes: Attributes = { ...describeLink(event), ...describeTarget(event) };
  attributes['mcp.method.name'] = toName(method);
  if (target?.kind === 'tool') attributes['gen_ai.operation.name'] = 'execute_tool';
  if (target?.kind === 'resource') attributes['mcp.resource.uri'] = target.name?.slice(0, maxUriLength);
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
  const { direction, target, protocolVersion } = event;
  const error = failure['error.type'];
  const isReceived = direction === 'received';
  const attributes = { ...describeLink(event), ...failure };
  attributes['mcp.method.name'] = methodOf(event);
  if (protocolVersion !== undefined) attributes['mcp.protocol.version'] = protocolVersion;
  if (target?.kind === 'tool') attributes['gen_ai.operation.name'] = 'execute_tool';
  return isReceived && error !== undefined && error !== 'tool_error'
    ? attributes
    : { ...attributes, ...describeTarget(event) };
}

/** A received notification has no target: its receiver ignores the name. */
function describeTarget({ direction, target, requestId }: McpTraceEvent): Attributes {
  const name = toName(target?.name);
  if (name === undefined || target?.kind === 'resource' || (direction === 'received' && requestId === undefined))
    return {};
  return { [`gen_ai.${target?.kind}.name`]: name };
}
