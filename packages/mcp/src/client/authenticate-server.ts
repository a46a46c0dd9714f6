import { QuiverError } from '@quiver/core';
import type { ServerTarget } from './config/server-definition.js';
import { createServerFetch, withAuthProvider } from './transports/create-send.js';

export interface AuthenticateServerOptions {
  /** Scopes to request, even when the stored tokens are valid. Default: the scopes that the server names. */
  scope?: string;
  /** Milliseconds until the authorization response must arrive. Default 300 000. */
  timeout?: number;
}

/** @throws `OAUTH_PROVIDER_MISSING` when the server's definition has no `authProvider`; what `authenticate` throws */
export async function authenticateServer(
  name: string,
  target: ServerTarget,
  options: AuthenticateServerOptions,
): Promise<void> {
  const { authenticate } = await import('../auth/client/index.js');
  const definition = target.kind === 'http' ? await withAuthProvider(target.definition) : undefined;
  if (target.kind !== 'http' || !definition?.authProvider) {
    throw new QuiverError(
      'OAUTH_PROVIDER_MISSING',
      `Cannot sign in to MCP server '${name}': its definition has no \`authProvider\`. Set \`auth: 'oauth'\`, or pass \`createLoopbackProvider()\` or \`new MCPOAuthClientProvider()\`.`,
    );
  }
  const serverFetch = await createServerFetch(definition, target.url);
  const own = definition.fetch && { fetch: serverFetch };
  await authenticate({ ...options, provider: definition.authProvider, serverUrl: target.url, serverFetch, ...own });
}
