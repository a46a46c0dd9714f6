import { traceChannels, type McpTraceEvent } from '@quiver/core';
import { describeMethod } from '../../protocol/methods.js';

export const traces: (typeof traceChannels)['quiver:mcp.server'] = traceChannels['quiver:mcp.server'];

/** Returns the event of a message between a server and its client. */
export function createMessageEvent(
  direction: McpTraceEvent['direction'],
  method: string,
  params: McpTraceEvent['params'],
  origin: Pick<McpTraceEvent, 'requestId' | 'protocolVersion' | 'sessionId' | 'transport' | 'clientAddress'>,
): McpTraceEvent {
  return { type: 'mcp', side: 'server', direction, method, params, ...describeMethod(method, params), ...origin };
}
