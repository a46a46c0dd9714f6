import { QuiverError } from '@quiver/core';
import { isSameConfiguration } from './definition/same-configuration.js';

export interface LiveClient {
  readonly id: string | undefined;
  readonly configuration: unknown;
}

const live = new Set<LiveClient>();

/**
 * Finds the client that a new one would repeat. Clients hold processes and sessions, so making one per request by accident is
 * a leak that shows late.
 *
 * @returns the live client with the same id, if any
 * @throws `MCP_CLIENT_DUPLICATE` when a client without id repeats the configuration of a live one
 */
export function findLiveClient<Client extends LiveClient>(
  id: string | undefined,
  configuration: unknown,
): Client | undefined {
  for (const client of live) {
    // Only clients of one class are registered.
    if (id !== undefined && client.id === id) return client as Client;
    if (id === undefined && client.id === undefined && isSameConfiguration(client.configuration, configuration)) {
      throw new QuiverError(
        'MCP_CLIENT_DUPLICATE',
        'MCPClient was initialized multiple times with the same configuration options. Each instance holds its own connections: use one instance, call disconnect() before you create the next, or give each an `id`.',
      );
    }
  }
  return undefined;
}

export function registerLiveClient(client: LiveClient): void {
  live.add(client);
}

export function releaseLiveClient(client: LiveClient): void {
  live.delete(client);
}
