import type { ServerState } from '../../server/definition/server-state.js';
import type { MountedServer } from './mount.js';
import type { Proxies, ProxyTarget } from './proxies.js';
import type { ProxyOptions } from './upstream.js';

/** The `MCPServer` that offers the items of others. */
interface GatewayServer {
  onClose(handler: () => unknown): unknown;
}

/** `proxy()` and `mount()` of `MCPServer`. The proxies are loaded with the first one, because they need the client. */
export class Gateway {
  readonly #server: ServerState;
  #proxies: Proxies | undefined;

  constructor(server: ServerState) {
    this.#server = server;
  }

  async proxy(
    self: GatewayServer,
    name: string | ProxyTarget,
    target: ProxyTarget | ProxyOptions,
    options: ProxyOptions,
  ): Promise<void> {
    const proxies = await this.#open(self);
    // The casts: the overloads of the method decide.
    if (typeof name === 'string') await proxies.add(name, target as ProxyTarget, options);
    else await proxies.add(proxies.freeName(), name, { prefix: false, ...(target as ProxyOptions) });
  }

  async mount(self: GatewayServer, name: string, server: MountedServer, options: ProxyOptions): Promise<void> {
    await (await this.#open(self)).mount(name, server, options);
  }

  async #open(self: GatewayServer): Promise<Proxies> {
    const { createProxies } = await import('#proxies');
    if (this.#proxies) return this.#proxies;
    const proxies = createProxies(self, this.#server);
    this.#proxies = proxies;
    // After the calls in flight, and the runs that continue: they need the connections.
    self.onClose(() => proxies.close());
    return proxies;
  }
}
