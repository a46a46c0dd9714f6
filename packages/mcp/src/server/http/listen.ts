import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QuiverError, toErrorMessage, type Logger } from '@quiver/core';
import type { HttpEndpoint } from './endpoint.js';
import { NodeReply, NodeRequest } from './node-http.js';
import type { StreamableHTTPServerTransportOptions } from './options.js';
import { DEFAULT_GRACE, DEFAULT_HEADERS_TIMEOUT, DEFAULT_REQUEST_TIMEOUT, KEEP_ALIVE_TIMEOUT } from '../limits.js';

export interface ListenOptions extends StreamableHTTPServerTransportOptions {
  /** Port. Default 0: a free port. */
  port?: number;
  /** Interface. Default `127.0.0.1`: reachable from the same host only. */
  host?: string;
  /** Default `/mcp`. */
  path?: string;
  /** Milliseconds for in-flight calls when the server closes. Default 10 000. */
  shutdownGrace?: number;
  /** Milliseconds in which the headers of a request must arrive. Default 10 000. */
  headersTimeout?: number;
  /** Milliseconds in which a whole request must arrive. Default 30 000. */
  requestTimeout?: number;
}

export interface McpHttpServer {
  /** URL for clients, for example `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
  readonly port: number;
  /** Refuses new connections, waits for in-flight calls, then closes all connections. */
  close(): Promise<void>;
}

export async function listen(
  options: ListenOptions & { endpoint: HttpEndpoint; logger: Logger },
): Promise<McpHttpServer> {
  const {
    endpoint,
    logger,
    port = 0,
    host = '127.0.0.1',
    path = '/mcp',
    shutdownGrace = DEFAULT_GRACE,
    headersTimeout = DEFAULT_HEADERS_TIMEOUT,
    requestTimeout = DEFAULT_REQUEST_TIMEOUT,
    ...transportOptions
  } = options;
  if (isWildcard(host) && !transportOptions.allowedHosts) {
    logger.warn(
      `The MCP server listens on every interface (${host}) and accepts any Host header from other machines. Set allowedHosts.`,
    );
  }
  // Node looks for late requests every 30 s unless told otherwise.
  const connectionsCheckingInterval = Math.min(1_000, headersTimeout, requestTimeout);
  const limits = { headersTimeout, requestTimeout, keepAliveTimeout: KEEP_ALIVE_TIMEOUT, connectionsCheckingInterval };
  const server = createServer(limits, (req, res) => {
    const pathname = pathOf(req.url);
    if (pathname === undefined) return void res.writeHead(400).end();
    void endpoint.handle(new NodeRequest(req), new NodeReply(res), transportOptions, pathname === path);
  });
  await bind(server, port, host);
  const { port: bound } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${isWildcard(host) ? 'localhost' : name}:${bound}${path}`,
    port: bound,
    close: () => shutDown(server, endpoint, shutdownGrace),
  };
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
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new QuiverError(
              'PORT_IN_USE',
              `Port ${port} on ${host} is in use. Stop the other program, or choose another port (0 for any).`,
              {
                cause: error,
                details: { port, host },
              },
            )
          : new QuiverError('LISTEN_FAILED', `Cannot listen on ${host}:${port}: ${toErrorMessage(error)}.`, {
              cause: error,
              details: { port, host },
            }),
      );
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

async function shutDown(server: Server, endpoint: HttpEndpoint, grace: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await endpoint.shutDown(grace);
  // Answers that were just written leave before their connections are cut.
  await new Promise((resolve) => setImmediate(resolve));
  server.closeAllConnections();
  await closed;
}
