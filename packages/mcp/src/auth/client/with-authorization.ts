import { checkOptions } from '@quiver/core/internal';
import type { Fetch, HttpResponse, Send } from '../../http/send.js';
import { oauthFetchChecks, toTarget, type OAuthFetchOptions } from './adopt-provider.js';
import { sendAuthorized } from './authorization.js';
import type { AuthorizationHeaders, ResponseHead } from './send-with-token.js';

/**
 * Returns a {@link Send} that signs in: it sends the token of the provider, refreshes it, and repeats a rejected request, unless that was
 * canceled meanwhile.
 *
 * @throws as `createOAuthFetch`
 */
export function withAuthorization(send: Send, options: OAuthFetchOptions): Send {
  const target = toTarget(options);
  return (url, call) => {
    if (url.origin !== target.serverUrl.origin) return send(url, call);
    return sendAuthorized<HttpResponse>(target, { url, method: call.method }, ({ authorization, dpop }) => {
      if (call.isCanceled) return Promise.reject(new TypeError('fetch failed: the request was canceled'));
      if (authorization !== undefined) call.headers['authorization'] = authorization;
      if (dpop === undefined) delete call.headers['dpop'];
      else call.headers['dpop'] = dpop;
      return send(url, call);
    });
  };
}

/**
 * Returns a `fetch` that signs in: it sends the token of the provider, refreshes it, and repeats a rejected request. For programs
 * without `MCPClient`.
 *
 * @throws `OAUTH_AUTHORIZATION_REQUIRED` when the user has to sign in; the message names how
 * @throws `OAUTH_TOKEN_INVALID` for a token that no header can carry
 * @throws `OAUTH_UNAVAILABLE` while the authorization server is unavailable; the sign-in is kept
 *
 * @example
 * const fetch = createOAuthFetch({ provider: authProvider, serverUrl: 'https://api.example.com/notes' });
 * const response = await fetch('https://api.example.com/notes');
 */
export function createOAuthFetch(
  options: OAuthFetchOptions,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  checkOptions('createOAuthFetch', options, oauthFetchChecks);
  const target = toTarget(options);
  const { serverFetch } = target;
  return async (url, init = {}) => {
    const to = new URL(url);
    if (to.origin !== target.serverUrl.origin) return serverFetch(url, init);
    const { response } = await sendAuthorized(target, { url: to, method: init.method ?? 'GET' }, (headers) =>
      fetchHead(serverFetch, url, init, headers),
    );
    return response;
  };
}

export async function fetchHead(
  fetch: Fetch,
  url: string | URL,
  init: RequestInit,
  authorization: AuthorizationHeaders,
): Promise<ResponseHead & { readonly response: Response }> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(authorization)) if (value !== undefined) headers.set(name, value);
  const response = await fetch(url, { ...init, headers });
  return {
    response,
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    discard: () => void response.body?.cancel().catch(() => {}),
  };
}
