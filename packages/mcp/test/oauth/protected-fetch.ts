import { createWebOAuth } from '@quiver/mcp/auth';
import type { MCPServer } from '@quiver/mcp/server';
import { toRequest } from '../clients/wire.ts';

/**
 * Posts to a server behind OAuth. A token is its subject, and its scopes between dots.
 *
 * @param toolScopes - scopes that tools need, by their names
 */
export function postProtected(
  server: MCPServer,
  toolScopes: Record<string, string[]>,
): (token: string, body: unknown, headers?: object, serverless?: boolean) => Promise<Response> {
  const protect = createWebOAuth({
    oauth: {
      resource: 'http://localhost/mcp',
      authorizationServers: ['https://auth.example.com'],
      validateToken: async (token) => ({ valid: true, subject: token, scopes: token.split('.') }),
      toolScopes,
    },
  });
  return async (token, body, headers = {}, serverless = false) => {
    const request = { headers: { authorization: `Bearer ${token}`, ...headers }, body };
    const guarded = await protect(toRequest(request));
    if (!guarded.proceed) throw new Error('refused');
    return server.fetch(toRequest(request), { authInfo: guarded.authInfo, serverless });
  };
}
