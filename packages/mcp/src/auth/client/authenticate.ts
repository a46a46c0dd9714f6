import { QuiverError } from '@quiver/core';
import { beginAuthorization } from './begin-authorization.js';
import { createOAuthCallbackServer } from './callback-server.js';
import { challengeOf } from './challenge-of.js';
import { finishAuthorization } from './finish-authorization.js';
import type { Fetch } from '../../fetch.js';
import { createGuardedFetch } from './guarded-fetch.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';
import { refreshTokens } from './refresh-tokens.js';

export interface AuthenticateOptions {
  provider: MCPOAuthClientProvider;
  serverUrl: string | URL;
  /** Scopes to ask for, even when there are good tokens. Default: what the server names. */
  scope?: string;
  /** Milliseconds until the user must be back. Default 300 000. */
  timeout?: number;
  /** As for `createOAuthFetch()`. */
  fetch?: Fetch;
  serverFetch?: Fetch;
}

/**
 * Signs the user in, for command-line applications: waits on the provider's redirect URL on this machine, shows the sign-in page,
 * and stores the tokens. Shows nothing while the server takes the tokens there are, or they can be refreshed.
 *
 * @throws what {@link createOAuthCallbackServer} and {@link finishAuthorization} throw; `OAUTH_REDIRECT_URL_INVALID` without a
 *   redirect URL; `OAUTH_UNAVAILABLE` when there are tokens to refresh and the authorization server is out of order
 */
export async function authenticate({
  provider,
  serverUrl,
  scope,
  timeout,
  fetch,
  serverFetch = fetch ?? globalThis.fetch,
}: AuthenticateOptions): Promise<void> {
  const server = new URL(serverUrl);
  provider.bind(server);
  const guarded = createGuardedFetch({ fetch, serverFetch, serverUrl: server });
  if (scope === undefined && (await refreshIfExpired(provider, server, guarded))) return;
  const answer = await knock(provider, server, serverFetch);
  const isServed = answer !== undefined && answer.status !== 401;
  if (scope === undefined && isServed && (await provider.hasValidTokens())) return;
  if (provider.redirectUrl === undefined) {
    throw new QuiverError(
      'OAUTH_REDIRECT_URL_INVALID',
      'A provider without redirectUrl signs in without a user; just call the server.',
    );
  }
  const { resourceMetadataUrl, scope: named } = answer?.status === 401 ? challengeOf(answer, server) : {};
  const callbackServer = await createOAuthCallbackServer({
    redirectUrl: provider.redirectUrl,
    state: (received) => provider.expectsState(received),
    ...(timeout !== undefined && { timeout }),
  });
  try {
    await beginAuthorization({
      provider,
      serverUrl: server,
      fetch: guarded,
      resourceMetadataUrl,
      scope: scope ?? named,
    });
    const callback = await callbackServer.waitForCode();
    await finishAuthorization({ provider, serverUrl, callback, ...(fetch && { fetch }) });
  } catch (error) {
    // Otherwise calls would wait for the response of this sign-in for another half minute.
    await provider.invalidateCredentials('verifier');
    throw error;
  } finally {
    await callbackServer.close();
  }
}

/** @returns whether there are fresh tokens now */
async function refreshIfExpired(provider: MCPOAuthClientProvider, serverUrl: URL, fetch: Fetch): Promise<boolean> {
  return provider.exclusive(async () => {
    const tokens = await provider.tokens();
    if (tokens?.refresh_token === undefined || !provider.isExpired(tokens)) return false;
    return (await refreshTokens({ provider, serverUrl, tokens, fetch })) !== undefined;
  });
}

/** Asks the server for nothing, to hear whether it takes the token, and what it wants. `undefined`: it cannot be reached. */
async function knock(provider: MCPOAuthClientProvider, server: URL, fetch: Fetch): Promise<Response | undefined> {
  const tokens = await provider.tokens();
  const response = await fetch(server, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(tokens && { authorization: `Bearer ${tokens.access_token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined);
  await response?.body?.cancel();
  return response;
}
