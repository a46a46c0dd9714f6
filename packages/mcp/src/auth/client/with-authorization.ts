import { HttpCall, type HttpResponse, type Send } from '../../http/send.js';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';
import { maxResponseBytes, responseTooLarge } from '../read-limited-text.js';
import { adoptProvider } from './adopt-provider.js';
import { createAuthorization } from './authorization.js';
import { createGuardedFetch } from './guarded-fetch.js';

export interface WithAuthorizationOptions {
  /** An `MCPOAuthClientProvider`, or a provider for the official SDK. */
  readonly provider: OAuthClientProvider;
  /** The MCP server. Its tokens are sent to its origin only. */
  readonly serverUrl: URL;
  /** Sends the requests to authorization servers. Default: `node:http` with a check of the address that it connects to. */
  readonly fetch?: Fetch | undefined;
}

/**
 * Returns a {@link Send} that signs in: it sends the token of the provider, renews it, and repeats a rejected request. It passes on the
 * caller's {@link HttpCall}, so that `cancel` reaches the request that is on its way. A request that is canceled during a renewal is
 * not repeated.
 *
 * @throws as `createOAuthFetch`
 */
export function withAuthorization(send: Send, { provider, serverUrl, fetch }: WithAuthorizationOptions): Send {
  const adopted = adoptProvider(provider);
  adopted.bind(serverUrl);
  // Metadata on the MCP server's own origin is requested as everything else there, with the headers of the definition.
  const guarded = createGuardedFetch({ fetch, serverFetch: toFetch(send), serverUrl });
  const authorize = createAuthorization({ provider: adopted, serverUrl, fetch: guarded });
  return (url, call) => {
    if (url.origin !== serverUrl.origin) return send(url, call);
    return authorize<HttpResponse>({ url, method: call.method }, ({ authorization, dpop }) => {
      if (call.isCanceled) return Promise.reject(new TypeError('fetch failed: the request was canceled'));
      if (authorization !== undefined) call.headers['authorization'] = authorization;
      if (dpop === undefined) delete call.headers['dpop'];
      else call.headers['dpop'] = dpop;
      return send(url, call);
    });
  };
}

/** Returns a `fetch` over a {@link Send}, for the small texts of metadata endpoints. */
function toFetch(send: Send): Fetch {
  return async (url, { method = 'GET', headers, body, signal } = {}) => {
    const call = new HttpCall(
      method === 'POST' ? 'POST' : 'GET',
      Object.fromEntries(new Headers(headers)),
      body === undefined || body === null ? undefined : String(body as string | URLSearchParams),
    );
    const cancel = (): void => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const response = await send(new URL(url), call);
      let text = '';
      await response.read((part) => {
        text += part;
        if (text.length > maxResponseBytes) throw responseTooLarge(maxResponseBytes);
      });
      const { status } = response;
      return new Response(status === 204 || status === 205 || status === 304 ? null : text, { status });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  };
}
