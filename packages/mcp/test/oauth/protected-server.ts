import { createTool } from '@quiver/core/tools';
import { createOAuthMiddleware, type OAuthMiddlewareOptions } from '@quiver/mcp/auth';
import { MCPServer } from '@quiver/mcp/server';
import { afterTest, serveHttp } from '../after-test.ts';

type OAuthServerOptions = OAuthMiddlewareOptions['oauth'];

export interface ProtectedServer {
  url: string;
  origin: string;
  /** Errors and warnings that were logged. */
  logged: string[];
}

/** A real MCP server behind the middleware, until the test is over, as the documentation shows it; `whoami` returns what a tool knows of its caller. */
export async function startProtectedServer(
  oauth: Omit<OAuthServerOptions, 'resource' | 'authorizationServers'> & Partial<OAuthServerOptions>,
  options: Partial<Omit<OAuthMiddlewareOptions, 'oauth'>> = {},
): Promise<ProtectedServer> {
  const whoami = createTool({
    id: 'whoami',
    description: 'Tells what is known of the caller.',
    execute: async (_input, context) => ({ authInfo: context?.mcp?.extra?.authInfo ?? null }),
  });
  const secret = createTool({ id: 'secret', description: 'Needs more.', execute: async () => ({ secret: 42 }) });
  const ask = createTool({
    id: 'ask',
    description: 'Greets whoever answers.',
    execute: async (_input, context) => {
      const answer = await context?.mcp?.elicitation?.sendRequest({
        message: 'Your name?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      });
      return `Hello, ${String(answer?.content?.['name'])}!`;
    },
  });
  // Its tools find the caller in the request context.
  const concierge = {
    name: 'Concierge',
    description: 'Tells who asks.',
    generate: async (
      _message: unknown,
      { requestContext }: { requestContext?: { get(key: string): unknown } } = {},
    ) => ({
      text: JSON.stringify([requestContext?.get('authInfo'), requestContext?.get('mcp.extra')]),
    }),
  };
  const server = new MCPServer({
    id: 'protected',
    name: 'Protected',
    version: '1.0.0',
    tools: { whoami, secret, ask },
    agents: { concierge },
  });
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  let middleware: ReturnType<typeof createOAuthMiddleware> | undefined;
  afterTest(() => server.close());
  const { http, port } = await serveHttp(async (req, res) => {
    let url: URL;
    try {
      url = new URL(req.url ?? '/', 'http://localhost');
    } catch {
      return void res.writeHead(400).end();
    }
    const result = await middleware?.(req, res, url);
    if (!result?.proceed) return;
    await server.startHTTP({ url, httpPath: '/mcp', req, res });
  });
  // A test that waits for the machine must not find its idle connection closed.
  http.keepAliveTimeout = 600_000;
  const origin = `http://localhost:${port}`;
  middleware = createOAuthMiddleware({
    oauth: { resource: `${origin}/mcp`, authorizationServers: ['https://auth.example.com'], ...oauth },
    logger: { debug: log, info: log, warn: log, error: log },
    ...options,
  });
  return {
    url: `${origin}/mcp`,
    origin,
    logged,
  };
}
