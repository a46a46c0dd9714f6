import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { monotonicNow, toTimerDelay } from '../../monotonic-now.js';
import { POLL_INTERVAL, until, type Transport } from '../lifecycle.js';
import {
  DEFAULT_GRACE,
  DEFAULT_HEADERS_TIMEOUT,
  DEFAULT_REQUEST_TIMEOUT,
  KEEP_ALIVE_TIMEOUT,
  LONG_QUIET_TIME,
  QUIET_TIME,
} from '../limits.js';
import type { ShutdownSignal } from './shutdown-signals.js';
import type { HttpEndpoint } from './endpoint.js';
import { sendHealth, type ServerHealth } from './health.js';
import { NodeReply, NodeRequest } from './node-http.js';
import type { StreamableHTTPServerTransportOptions } from './endpoint-options.js';

/** Options of `server.listen()`. */
export interface ListenOptions extends StreamableHTTPServerTransportOptions {
  /** Port. Default 0: a free port. */
  port?: number;
  /** Interface. Default `127.0.0.1`: reachable from the same host only. */
  host?: string;
  /** Default `/mcp`. */
  path?: string;
  /**
   * Path that reports `server.health()` as JSON, without authentication: status 200, and 503 while the server drains. For the checks of
   * balancers. Default: none.
   */
  healthPath?: string;
  /**
   * Signals at the first of which the server closes, as with `close()`, and lets the process end. A second signal ends the process at
   * once. Default: none, signals are up to the application.
   */
  shutdownSignals?: readonly ShutdownSignal[];
  /**
   * Milliseconds at the beginning of `close()` in which the server drains and still accepts connections, until balancers have noticed
   * it at `healthPath`. Default 0.
   */
  drainDelay?: number;
  /** Milliseconds for in-flight calls and tasks when the server closes, after `drainDelay`, and then for handlers of `onClose()`. Default 10 000. */
  shutdownGrace?: number;
  /** Milliseconds in which the headers of a request must arrive, within `requestTimeout`. Default 10 000; 0 for no limit of their own. */
  headersTimeout?: number;
  /** Milliseconds in which a whole request must arrive. Default 30 000; 0 for no limit. */
  requestTimeout?: number;
}

/** HTTP server that `server.listen()` started. */
export interface McpHttpServer {
  /** URL for clients, for example `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
  readonly port: number;
  /** Does the same as `server.close()`, for this HTTP server alone. */
  close(): Promise<void>;
}

interface Traffic {
  readonly sockets: Set<Socket>;
  /** Sockets that end with their response, because the server drains. */
  readonly ending: Set<Socket>;
  connections: number;
  requests: number;
}

export class Listener implements Transport {
  readonly url: string;
  readonly port: number;
  /** Milliseconds. */
  readonly drainDelay: number;
  /** Milliseconds for in-flight calls. */
  readonly grace: number;
  readonly #endpoint: HttpEndpoint;
  readonly #server: Server;
  /** Closes the listener, and leaves the connections open. */
  readonly #stopListening: () => void;
  readonly #traffic: Traffic;
  #ended: Promise<void> | undefined;

  private constructor(
    endpoint: HttpEndpoint,
    server: Server,
    traffic: Traffic,
    options: ListenOptions,
    stopListening: () => void,
  ) {
    const { host = defaultHost, path = defaultPath, shutdownGrace = DEFAULT_GRACE, drainDelay = 0 } = options;
    this.port = (server.address() as AddressInfo).port;
    const name = host.includes(':') ? `[${host}]` : host;
    this.url = `http://${isWildcard(host) ? 'localhost' : name}:${this.port}${path}`;
    this.drainDelay = drainDelay;
    this.grace = shutdownGrace;
    this.#endpoint = endpoint;
    this.#server = server;
    this.#traffic = traffic;
    this.#stopListening = stopListening;
  }

  /**
   * Starts an HTTP server.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`; as `createOAuthMiddleware()` for `authenticate`
   */
  static async start(endpoint: HttpEndpoint, options: ListenOptions, health: () => ServerHealth): Promise<Listener> {
    const {
      port = 0,
      host = defaultHost,
      path = defaultPath,
      healthPath,
      headersTimeout = DEFAULT_HEADERS_TIMEOUT,
      requestTimeout = DEFAULT_REQUEST_TIMEOUT,
      ...transportOptions
    } = options;
    const { authenticate } = transportOptions;
    if (authenticate) await endpoint.authentication.prepare(authenticate);
    if (isWildcard(host) && !transportOptions.allowedHosts) {
      endpoint.server.logger.warn(
        `The MCP server listens on every interface (${host}) and accepts any Host header from other machines. Set allowedHosts.`,
      );
    }
    const limits = {
      // Node refuses one that is longer than that of the whole request.
      headersTimeout: Math.min(headersTimeout, requestTimeout || Infinity),
      requestTimeout,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      // Node looks for late requests every 30 s unless told otherwise.
      connectionsCheckingInterval: Math.min(1_000, headersTimeout || Infinity, requestTimeout || Infinity),
    };
    // Loaded here, because edge runtimes have no servers.
    const [{ createServer }, { Server: NetServer }] = await Promise.all([import('node:http'), import('node:net')]);
    const traffic: Traffic = { sockets: new Set(), ending: new Set(), connections: 0, requests: 0 };
    const server = createServer(limits, (req, res) => {
      traffic.requests += 1;
      // The response says `Connection: close`.
      if (endpoint.lifecycle.state !== 'open' && traffic.sockets.delete(req.socket)) traffic.ending.add(req.socket);
      const pathname = pathOf(req.url);
      if (pathname === undefined) return void res.writeHead(400).end();
      const reply = new NodeReply(res);
      if (pathname === healthPath) return sendHealth(reply, health());
      void endpoint.handle(new NodeRequest(req), reply, transportOptions, pathname === path);
    });
    server.on('connection', (socket) => {
      traffic.connections += 1;
      traffic.sockets.add(socket);
      socket.once('close', () => traffic.sockets.delete(socket) || traffic.ending.delete(socket));
    });
    await bind(server, port, host);
    // The method of HTTP servers also closes idle connections. Bun and Deno have no other one.
    const isNetServer: boolean = server instanceof NetServer;
    const stopListening = (): void => void (isNetServer ? NetServer.prototype.close.call(server) : server.close());
    return new Listener(endpoint, server, traffic, options, stopListening);
  }

  get inFlight(): number {
    return this.#endpoint.inFlight;
  }

  drain(): void {
    this.#endpoint.drain();
  }

  shutDown(graceMilliseconds: number = this.grace): Promise<void> {
    return (this.#ended ??= this.#end(graceMilliseconds));
  }

  async #end(grace: number): Promise<void> {
    const endpoint = this.#endpoint;
    const server = this.#server;
    const closed = new Promise<void>((resolve) => server.once('close', resolve));
    this.drain();
    if (this.drainDelay > 0) {
      await new Promise((resolve) => setTimeout(resolve, this.drainDelay));
      // Ends subscriptions that clients opened meanwhile.
      for (const response of endpoint.pending) response.release();
    }
    const deadline = monotonicNow() + grace;
    // Over a connection that was not used for so long, a call could begin that does not end in time.
    const closesIdle = setTimeout(() => void this.#closeIdle(deadline), toTimerDelay(grace / 2));
    await this.#leave(grace);
    await this.#quiet(deadline);
    clearTimeout(closesIdle);
    // In the same turn of the event loop, in which no request came.
    server.close();
    await endpoint.end();
    // Answers that were just written leave before their connections are cut.
    await new Promise((resolve) => setImmediate(resolve));
    server.closeAllConnections();
    await closed;
  }

  /** Closes the listener, so that clients and balancers choose another instance. */
  async #leave(grace: number): Promise<void> {
    await until(() => !this.#endpoint.awaitsClients, grace);
    // A connection that waits to be accepted would be reset: closes after a turn of the event loop that has accepted none.
    for (let turn = 0, seen = -1; seen !== this.#traffic.connections && turn < MAX_TURNS; turn += 1) {
      seen = this.#traffic.connections;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#stopListening();
  }

  /** Closes idle connections, once no client receives the rest of a response: Node counts the connection of such a client as idle, too. */
  async #closeIdle(deadline: number): Promise<void> {
    do await nextLook();
    while (this.#hasReceiver && monotonicNow() < deadline);
    this.#server.closeIdleConnections();
  }

  /** Whether a client still receives a response that was written. */
  get #hasReceiver(): boolean {
    const { sockets, ending } = this.#traffic;
    return [...sockets, ...ending].some(({ writableLength }) => writableLength > 0);
  }

  /** Waits until no request is in flight, no response is being received and no request is on its way: over a connection that is new, or idle for a moment. */
  async #quiet(deadline: number): Promise<void> {
    const { sockets } = this.#traffic;
    // It uses idle connections one after another, and learns from each response that the server leaves.
    const isBehindBalancer = this.#endpoint.server.instance.isShared;
    let seen = -1;
    let quiet = 0;
    let last = monotonicNow();
    while (last < deadline) {
      await nextLook();
      const { requests } = this.#traffic;
      const now = monotonicNow();
      const isNew = ({ bytesRead }: Socket): boolean => bytesRead === 0;
      const quietTime = isBehindBalancer || Array.from(sockets).some(isNew) ? LONG_QUIET_TIME : QUIET_TIME;
      // A call that ends may leave a connection open, over which the next request comes. A pause of the process counts little.
      const isBusy = this.inFlight > 0 || this.#hasReceiver;
      quiet = isBusy || seen !== requests ? 0 : quiet + Math.min(now - last, quietTime / MIN_LOOKS);
      if (!isBusy && (sockets.size === 0 || quiet >= quietTime)) return;
      seen = requests;
      last = now;
    }
  }
}

/** Looks at a listener that ends, each of which found no request. */
const MIN_LOOKS = 10;
/** Turns of the event loop in which connections are accepted. */
const MAX_TURNS = 100;
const defaultHost = '127.0.0.1';
const defaultPath = '/mcp';

/** Waits for a moment. An immediate runs behind what has arrived, a timer before it. */
function nextLook(): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setImmediate(resolve), POLL_INTERVAL));
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** `undefined` for targets that are not a path, such as `//` or `http://[`. */
function pathOf(target: string | undefined): string | undefined {
  // Most targets need no parsing, which costs more than the rest of the routing.
  if (target !== undefined && /^\/[\w-]+$/.test(target)) return target;
  try {
    return target?.startsWith('/') ? new URL(`http://localhost${target}`).pathname : undefined;
  } catch {
    return undefined;
  }
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const [code, message] =
        cause.code === 'EADDRINUSE'
          ? ([
              'PORT_IN_USE',
              `Port ${port} on ${host} is in use. Stop the other program, or choose another port (0 for any).`,
            ] as const)
          : (['LISTEN_FAILED', `Cannot listen on ${host}:${port}: ${toErrorMessage(cause)}.`] as const);
      reject(new QuiverError(code, message, { cause, details: { port, host } }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}
