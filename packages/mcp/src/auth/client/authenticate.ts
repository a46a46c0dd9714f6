import { QuiverError } from '@quiver/core';
import { beginAuthorization } from './begin-authorization.js';
import { createOAuthCallbackServer } from './callback-server.js';
import { finishAuthorization } from './finish-authorization.js';
import { createGuardedFetch, type Fetch } from './guarded-fetch.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';

export interface AuthenticateOptions {
  provider: MCPOAuthClientProvider;
  serverUrl: string | URL;
  /** Scopes to ask for. Default: what the server names. */
  scope?: string;
  /** Milliseconds until the user must be back. Default 300 000. */
  timeout?: number;
  fetch?: Fetch;
}

/**
 * Signs the user in, for command-line applications: waits on the provider's redirect URL on this machine, shows the sign-in page,
 * and stores the tokens. Does nothing when there are good tokens.
 *
 * @throws what {@link createOAuthCallbackServer} and {@link finishAuthorization} throw; `OAUTH_REDIRECT_URL_INVALID` without a
 *   redirect URL
 */
export async function authenticate({
  provider,
  serverUrl,
  scope,
  timeout,
  fetch = globalThis.fetch,
}: AuthenticateOptions): Promise<void> {
  provider.bind(serverUrl);
  if (scope === undefined && (await provider.hasValidTokens())) return;
  if (provider.redirectUrl === undefined) {
    throw new QuiverError(
      'OAUTH_REDIRECT_URL_INVALID',
      'A provider without redirectUrl signs in without a user; just call the server.',
    );
  }
  const callbackServer = await createOAuthCallbackServer({
    redirectUrl: provider.redirectUrl,
    ...(timeout !== undefined && { timeout }),
  });
  try {
    const server = new URL(serverUrl);
    const guarded = createGuardedFetch({ fetch, serverUrl: server });
    if (await beginAuthorization({ provider, serverUrl: server, fetch: guarded, scope })) return;
    const callback = await callbackServer.waitForCode();
    await finishAuthorization({ provider, serverUrl, callback, fetch });
  } finally {
    await callbackServer.close();
  }
}
