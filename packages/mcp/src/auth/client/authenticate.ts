import { QuiverError } from '@quiver/core';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';
import { adoptProvider } from './adopt-provider.js';
import { beginAuthorization } from './begin-authorization.js';
import { createOAuthCallbackServer } from './callback-server.js';
import { finishAuthorization } from './finish-authorization.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { toHead } from './oauth-fetch.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';
import { parseChallenge } from './parse-challenge.js';
import { refreshTokens } from './refresh-tokens.js';
import { sendWithToken, type ResponseHead } from './send-with-token.js';

export interface AuthenticateOptions {
  /** An `MCPOAuthClientProvider`, or a provider for the official SDK. */
  provider: OAuthClientProvider;
  serverUrl: string | URL;
  /** Scopes to request, even when the stored tokens are valid. Default: the scopes that the server names. */
  scope?: string;
  /** Milliseconds until the authorization response must arrive. Default 300 000. */
  timeout?: number;
  /** As for `createOAuthFetch()`. */
  fetch?: Fetch;
  serverFetch?: Fetch;
}

/**
 * Signs the user in, for terminal programs: listens on the provider's loopback redirect URL, shows the sign-in page, and stores the
 * tokens. Shows nothing while the server accepts the stored tokens, or they can be refreshed.
 *
 * @throws what {@link createOAuthCallbackServer} and {@link finishAuthorization} throw; `OAUTH_REDIRECT_URL_INVALID` without a
 *   redirect URL; `OAUTH_UNAVAILABLE` when there are tokens to refresh and the authorization server is unavailable
 */
export async function authenticate({
  provider: given,
  serverUrl,
  scope,
  timeout,
  fetch,
  serverFetch = fetch ?? globalThis.fetch,
}: AuthenticateOptions): Promise<void> {
  const provider = adoptProvider(given);
  const server = new URL(serverUrl);
  provider.bind(server);
  const guarded = createGuardedFetch({ fetch, serverFetch, serverUrl: server });
  if (scope === undefined && (await refreshIfExpired(provider, server, guarded))) return;
  const response = await probe(provider, server, serverFetch);
  const isAccepted = response !== undefined && response.status !== 401;
  if (scope === undefined && isAccepted && (await provider.hasValidTokens())) return;
  if (provider.redirectUrl === undefined) {
    throw new QuiverError(
      'OAUTH_REDIRECT_URL_INVALID',
      'A provider without redirectUrl signs in without a user. Call the server instead.',
    );
  }
  const { resourceMetadataUrl, scope: namedScope } =
    response?.status === 401 ? parseChallenge(response.header('www-authenticate'), server) : {};
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
      scope: scope ?? namedScope,
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

/** @returns whether valid tokens are stored now */
async function refreshIfExpired(provider: MCPOAuthClientProvider, serverUrl: URL, fetch: Fetch): Promise<boolean> {
  return provider.exclusive(async () => {
    const tokens = await provider.tokens();
    if (tokens?.refresh_token === undefined || !provider.isExpired(tokens)) return false;
    return (await refreshTokens({ provider, serverUrl, tokens, fetch })) !== undefined;
  });
}

/** Milliseconds that the server has to answer the probe. */
const probeTimeout = 10_000;

/** Sends a ping to learn whether the server accepts the token. Returns `undefined` for an unavailable server. */
async function probe(provider: MCPOAuthClientProvider, url: URL, fetch: Fetch): Promise<ResponseHead | undefined> {
  const tokens = await provider.tokens();
  const send = async (authorization: object): Promise<ResponseHead> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const set = Object.entries(authorization).filter(([, value]) => value !== undefined);
    return toHead(
      await fetch(url, {
        method: 'POST',
        headers: { ...headers, ...Object.fromEntries(set) },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
        signal: AbortSignal.timeout(probeTimeout),
      }),
    );
  };
  const response = await sendWithToken(provider, tokens, { url, method: 'POST' }, send).catch(() => undefined);
  response?.discard();
  return response;
}
