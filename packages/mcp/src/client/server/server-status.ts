import type { QuiverError } from '@quiver/core';
import type { ServerCapabilities } from '../../protocol/client-types.js';
import type { Engine } from '../engine/engine.js';

/** How it stands with one server. */
export interface ServerStatus {
  /** `idle`: not needed yet, or disconnected. `failed`: the last attempt to connect failed. */
  state: 'idle' | 'connecting' | 'ready' | 'failed';
  transport?: 'stdio' | 'http' | 'sse' | 'in-process' | 'custom';
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
  engine,
  connecting,
  error,
  retryIn,
}: {
  engine: Engine | undefined;
  connecting: boolean;
  error: QuiverError | undefined;
  retryIn: number;
}): ServerStatus {
  if (!engine) {
    if (connecting) return { state: 'connecting' };
    if (!error) return { state: 'idle' };
    return { state: 'failed', error: { message: error.message, code: error.code }, retryIn };
  }
  const { channel, server } = engine;
  const { protocolVersion, info, capabilities, instructions } = server;
  return {
    state: 'ready',
    transport: channel.kind,
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(info && {
      serverInfo: { name: info.name, version: info.version, ...(info.title !== undefined && { title: info.title }) },
    }),
    ...(capabilities && { capabilities }),
    ...(instructions !== undefined && { instructions }),
  };
}
