import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';
import { adoptProvider } from './adopt-provider.js';
import { createAuthorization } from './authorization.js';
import { createGuardedFetch } from './guarded-fetch.js';
import type { AuthorizationHeaders, ResponseHead } from './send-with-token.js';

export interface OAuthFetchOptions {
  /** An `MCPOAuthClientProvider`, or a provider for the official SDK. */
  provider: OAuthClientProvider;
  /** The MCP server. Its tokens are sent to its origin only. */
  serverUrl: string | URL;
  /** Sends all requests. Default: the global `fetch`; requests to authorization servers check the address that they connect to. */
  fetch?: Fetch;
  /** Sends the requests to the MCP server, where that differs. */
  serverFetch?: Fetch;
}

/**
 * Returns a `fetch` that signs in: it sends the token of the provider, renews it, and repeats a rejected request. For programs without
 * `MCPClient`.
 *
 * @throws `OAUTH_AUTHORIZATION_REQUIRED` when the user has to sign in; the page has been shown through the provider
 * @throws `OAUTH_TOKEN_INVALID` for a token that no header can carry
 * @throws `OAUTH_UNAVAILABLE` while the authorization server is unavailable; the sign-in is kept
 */
export function createOAuthFetch({
  provider,
  serverUrl,
  fetch: customFetch,
  serverFetch = customFetch ?? globalThis.fetch,
}: OAuthFetchOptions): Fetch {
  const server = new URL(serverUrl);
  const adopted = adoptProvider(provider);
  adopted.bind(server);
  const fetch = createGuardedFetch({ fetch: customFetch, serverFetch, serverUrl: server });
  const authorize = createAuthorization({ provider: adopted, serverUrl: server, fetch });
  return async (url, init) => {
    const target = new URL(url);
    if (target.origin !== server.origin) return serverFetch(url, init);
    const { response } = await authorize({ url: target, method: init?.method ?? 'GET' }, async (authorization) =>
      toHead(await serverFetch(url, { ...init, headers: mergeHeaders(init?.headers, authorization) })),
    );
    return response;
  };
}

function mergeHeaders(headers: RequestInit['headers'], authorization: AuthorizationHeaders): Headers {
  const merged = new Headers(headers);
  for (const [name, value] of Object.entries(authorization)) if (value !== undefined) merged.set(name, value as string);
  return merged;
}

/** Returns the head of a `fetch` response, and the response itself. */
export function toHead(response: Response): ResponseHead & { readonly response: Response } {
  return {
    response,
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    discard: () => void response.body?.cancel().catch(() => {}),
  };
}
