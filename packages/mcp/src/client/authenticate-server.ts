import { QuiverError } from '@quiver/core';
import type { ServerTarget } from './definition/server-definition.js';
import { createServerFetch } from './transports/create-send.js';

export interface AuthenticateServerOptions {
  /** Scopes to ask for, even when there are good tokens. Default: what the server names. */
  scope?: string;
  /** Milliseconds until the user must be back. Default 300 000. */
  timeout?: number;
}

/** @throws `OAUTH_PROVIDER_MISSING` when the server's definition has no `MCPOAuthClientProvider`; what `authenticate` throws */
export async function authenticateServer(
  name: string,
  target: ServerTarget,
  options: AuthenticateServerOptions,
): Promise<void> {
  const { authenticate, MCPOAuthClientProvider } = await import('../auth/client/index.js');
  const provider = target.kind === 'http' ? target.definition.authProvider : undefined;
  if (target.kind !== 'http' || !(provider instanceof MCPOAuthClientProvider)) {
    throw new QuiverError(
      'OAUTH_PROVIDER_MISSING',
      `Nobody can sign in to MCP server '${name}': give its definition an \`authProvider\` made with \`new MCPOAuthClientProvider()\`.`,
    );
  }
  const serverFetch = await createServerFetch(target.definition, target.url);
  const own = target.definition.fetch && { fetch: serverFetch };
  await authenticate({ ...options, provider, serverUrl: target.url, serverFetch, ...own });
}
