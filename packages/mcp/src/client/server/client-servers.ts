import { QuiverError } from '@quiver/core';
import { naming, type ClientOperation } from './client-error.js';
import type { ServerHandle } from './server-handle.js';

export type ClientServers = ReadonlyMap<string, ServerHandle>;

/** Runs an operation on one server. @throws the client error of the operation */
export function withServer<Result>(
  servers: ClientServers,
  operation: ClientOperation,
  serverName: string,
  run: (server: ServerHandle) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return naming(operation, serverName, async () => run(requireServer(servers, serverName)), signal);
}

/** @throws `MCP_SERVER_UNKNOWN` */
export function requireServer(servers: ClientServers, serverName: string): ServerHandle {
  const server = servers.get(serverName);
  if (server) return server;
  const known = [...servers.keys()].join(', ') || 'none';
  throw new QuiverError(
    'MCP_SERVER_UNKNOWN',
    `Server configuration not found for name: ${serverName}. There are: ${known}.`,
  );
}
