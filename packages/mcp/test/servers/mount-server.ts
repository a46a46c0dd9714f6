import type { IncomingMessage, RequestListener } from 'node:http';
import type { MCPServer } from '../../src/server/index.js';
import { serveHttp } from '../after-test.ts';

type MountOptions = Partial<Omit<Parameters<MCPServer['startHTTP']>[0], 'url' | 'req' | 'res'>>;

/**
 * Mounts a server in an HTTP server of the application, until the test is over. Returns the URL of the endpoint.
 *
 * @param prepare - receives each request before the server does, as middleware would
 */
export async function mountServer(
  server: MCPServer,
  options: MountOptions = {},
  prepare: (req: IncomingMessage) => void = () => {},
): Promise<string> {
  const { origin } = await serveHttp((req, res) => {
    prepare(req);
    const url = new URL(req.url ?? '', 'http://localhost');
    void server.startHTTP({ httpPath: '/mcp', ...options, url, req, res });
  });
  return `${origin}/mcp`;
}

/** Serves Streamable HTTP at `/mcp`, and HTTP+SSE at `/sse`. */
export function bothTransports(server: MCPServer): RequestListener {
  return (req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost');
    void (url.pathname === '/mcp'
      ? server.startHTTP({ url, httpPath: '/mcp', req, res })
      : server.startSSE({ url, ssePath: '/sse', messagePath: '/message', req, res }));
  };
}

/** Mounts a server as `mountServer` does, with HTTP+SSE, and returns the URL of the event stream. */
export async function mountSse(server: MCPServer, prepare: (req: IncomingMessage) => void = () => {}): Promise<string> {
  const { origin } = await serveHttp((req, res) => {
    prepare(req);
    const url = new URL(req.url ?? '', 'http://localhost');
    void server.startSSE({ url, ssePath: '/sse', messagePath: '/message', req, res });
  });
  return `${origin}/sse`;
}
