import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QuiverError, toErrorMessage, type Logger } from '@quiver/core';
import type { HttpEndpoint } from './http-endpoint.js';
import type { StreamableHTTPServerTransportOptions } from './http-options.js';

export interface ListenOptions extends StreamableHTTPServerTransportOptions {
  /** Default 0: the operating system chooses a free one. */
  port?: number;
  /** Default `127.0.0.1`: reachable from this machine only. */
  host?: string;
  /** Default `/mcp`. */
  path?: string;
  /** Milliseconds that running calls get when the server closes. Default 10 000. */
  shutdownGrace?: number;
}

export interface McpHttpServer {
  /** Where clients connect, for example `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, waits for running calls, then ends what is left. */
  close(): Promise<void>;
}

/** Node's own limits leave a held request open for minutes. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 } as const;

export async function listen(
  options: ListenOptions & { endpoint: HttpEndpoint; logger: Logger },
): Promise<McpHttpServer> {
  const {
    endpoint,
    logger,
    port = 0,
    host = '127.0.0.1',
    path = '/mcp',
    shutdownGrace = 10_000,
    ...transportOptions
  } = options;
  if (isWildcard(host) && !transportOptions.allowedHosts) {
    logger.warn(
      `The MCP server listens on every interface (${host}) and accepts any Host from outside; set allowedHosts.`,
    );
  }
  // Loaded here, so that servers over stdio start 20 ms sooner.
  const { createServer } = await import('node:http');
  const server = createServer(timeouts, (req, res) => {
    const url = parseRequestUrl(req.url);
    if (!url) return void res.writeHead(400).end();
    void endpoint.handle({ url, httpPath: path, req, res, options: transportOptions });
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
function parseRequestUrl(target: string | undefined): URL | undefined {
  try {
    return target?.startsWith('/') ? new URL(`http://localhost${target}`) : undefined;
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
  await Promise.race([endpoint.drain(), delay(grace)]);
  endpoint.close();
  server.closeAllConnections();
  await closed;
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
