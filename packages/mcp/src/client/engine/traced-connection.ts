import { traceChannels, type McpTraceEvent } from '@quiver/core';
import type { Era } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import { describeMethod } from '../../protocol/methods.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import type { Engine } from './engine.js';

/** Description of a server from its handshake. Empty before, and without more than its era after a session was resumed. */
export interface ServerFacts {
  readonly era?: Era;
  readonly protocolVersion?: string;
  readonly capabilities?: ServerCapabilities;
  readonly info?: { readonly name: string; readonly version: string; readonly title?: string | undefined } | undefined;
  readonly instructions?: string | undefined;
}

/** Returns the event of a message. */
export function createMessageEvent(
  connection: Engine,
  direction: McpTraceEvent['direction'],
  method: string,
  params: Params | undefined,
  toolCallId?: string,
): McpTraceEvent {
  const { sessionId } = connection.channel;
  const origin = { sessionId, toolCallId, ...describeLink(connection) };
  return { type: 'mcp', side: 'client', direction, method, params, ...describeMethod(method, params), ...origin };
}

/** Publishes the session of a connection from now on. @returns a function that ends it; further calls have no effect */
export function traceSession(connection: Engine): (error?: unknown) => void {
  let endSession: (error?: unknown) => void = () => {};
  const end = new Promise<void>((resolve, reject) => {
    endSession = (error) => (error === undefined ? resolve() : reject(error as Error));
  });
  const event = { type: 'mcp.session', side: 'client', ...describeLink(connection) } as const;
  traceChannels['quiver:mcp.client'].trace(event, () => end).catch(() => {});
  return endSession;
}

function describeLink({
  channel,
  server,
}: Engine): Pick<McpTraceEvent, 'protocolVersion' | 'transport' | 'serverAddress' | 'serverPort'> {
  const { kind: transport, url } = channel;
  const { protocolVersion } = server;
  if (!url || transport === 'in-process') return { protocolVersion, transport };
  const serverPort = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { protocolVersion, transport, serverAddress: url.hostname, serverPort };
}
