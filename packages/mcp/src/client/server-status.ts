import type { QuiverError } from '@quiver/core';
import type { ServerCapabilities } from '../protocol/client-types.js';
import type { OpenConnection } from './open-connection.js';

/** How it stands with one server. */
export interface ServerStatus {
  /** `idle`: not needed yet, or disconnected. `failed`: the last attempt to connect failed. */
  state: 'idle' | 'connecting' | 'ready' | 'failed';
  transport?: 'stdio' | 'http' | 'sse' | 'in-process';
  /** Revision of the protocol. */
  protocolVersion?: string;
  serverInfo?: { name: string; version: string; title?: string };
  capabilities?: ServerCapabilities;
  /** How the server wants to be used, in its own words. */
  instructions?: string;
  error?: { message: string; code: string };
  /** Milliseconds until the next attempt after a failed one. */
  retryIn?: number;
}

export function describeConnection({
  connected,
  connecting,
  error,
  retryIn,
}: {
  connected: OpenConnection | undefined;
  connecting: boolean;
  error: QuiverError | undefined;
  retryIn: number;
}): ServerStatus {
  if (!connected) {
    if (connecting) return { state: 'connecting' };
    if (!error) return { state: 'idle' };
    return { state: 'failed', error: { message: error.message, code: error.code }, retryIn };
  }
  const { client, kind } = connected;
  const protocolVersion = client.getNegotiatedProtocolVersion();
  const serverInfo = client.getServerVersion();
  const capabilities = client.getServerCapabilities();
  const instructions = client.getInstructions();
  return {
    state: 'ready',
    transport: kind,
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(serverInfo && {
      serverInfo: {
        name: serverInfo.name,
        version: serverInfo.version,
        ...(serverInfo.title !== undefined && { title: serverInfo.title }),
      },
    }),
    ...(capabilities && { capabilities }),
    ...(instructions !== undefined && { instructions }),
  };
}
