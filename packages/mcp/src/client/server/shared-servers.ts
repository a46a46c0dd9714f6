import { getDefaultLogger, QuiverError } from '@quiver/core';
import type { ServerHandle } from './server-handle.js';

/**
 * Servers of the clients of this process by configuration. An entry is removed when its last user releases it; clients without an
 * `id` cannot add an entry twice, so the number of entries is the number of configurations in use.
 */
const live = new Set<SharedServers>();

interface Configuration {
  readonly id?: string | undefined;
}

/** The servers of one configuration and their users: clients and leases. The last user that releases them ends their connections. */
export class SharedServers {
  readonly servers: ReadonlyMap<string, ServerHandle>;
  readonly #configuration: Configuration;
  readonly #users = new Set<object>();
  #disconnecting: Promise<void> | undefined;

  private constructor(configuration: Configuration, servers: ReadonlyMap<string, ServerHandle>) {
    this.#configuration = configuration;
    this.servers = servers;
  }

  /**
   * Returns the servers of a configuration: those of a live client with the same `id` and configuration, or new ones. Servers with the
   * same `id` and another configuration are disconnected.
   *
   * @throws `MCP_CLIENT_DUPLICATE` when a client without `id` repeats the configuration of a live one: each holds its own processes
   *   and sessions, so one client per request by accident is a leak that shows late
   */
  static for(configuration: Configuration, create: () => ReadonlyMap<string, ServerHandle>): SharedServers {
    const { id } = configuration;
    let replaced: SharedServers | undefined;
    for (const shared of live) {
      if (shared.#configuration.id !== id) continue;
      const isSame = isSameConfiguration(shared.#configuration, configuration);
      if (id === undefined && isSame) throw duplicate();
      if (id !== undefined && isSame) return shared;
      if (id !== undefined) replaced = shared;
    }
    const shared = new SharedServers(configuration, create());
    replaced
      ?.disconnect()
      .catch((error: unknown) => getDefaultLogger().warn(`The replaced MCPClient '${id}' did not disconnect.`, error));
    live.add(shared);
    return shared;
  }

  /** Adds a user. The connections stay open until it releases them. */
  acquire(user: object): void {
    this.#users.add(user);
  }

  /** Removes a user, and ends the connections if there is no other one. Concurrent calls share the work. */
  async release(user: object): Promise<void> {
    this.#users.delete(user);
    if (this.#users.size === 0) await this.disconnect();
  }

  /** Ends all connections, and the processes behind them. The next request connects again. */
  disconnect(): Promise<void> {
    live.delete(this);
    this.#disconnecting ??= this.#disconnectServers().finally(() => {
      this.#disconnecting = undefined;
    });
    return this.#disconnecting;
  }

  async #disconnectServers(): Promise<void> {
    await Promise.all([...this.servers.values()].map(({ connection }) => connection.disconnect()));
  }
}

function duplicate(): QuiverError {
  return new QuiverError(
    'MCP_CLIENT_DUPLICATE',
    'MCPClient was initialized multiple times with the same configuration options. Each instance holds its own connections: use one instance, call disconnect() before you create the next, or give each an `id`.',
  );
}

/**
 * Compares plain objects and arrays by their members, URLs by their text, and everything else (functions, class instances) by
 * identity. Two clients with different authentication closures are different.
 */
function isSameConfiguration(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (!Array.isArray(a) && Object.getPrototypeOf(a) !== Object.prototype) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && isSameConfiguration(a[key as keyof typeof a], b[key as keyof typeof b]));
}
