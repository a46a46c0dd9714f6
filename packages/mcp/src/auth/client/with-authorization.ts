import type { HttpResponse, Send } from '../../http/send.js';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';
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
  /** Sends the requests for metadata on the MCP server's own host. Default: `fetch`. */
  readonly serverFetch?: Fetch | undefined;
}

/**
 * Returns a {@link Send} that signs in: it sends the token of the provider, renews it, and repeats a rejected request. It passes on the
 * caller's `HttpCall`, so that `cancel` reaches the request that is on its way. A request that is canceled during a renewal is not
 * repeated.
 *
 * @throws as `createOAuthFetch`
 */
export function withAuthorization(send: Send, options: WithAuthorizationOptions): Send {
  const { serverUrl } = options;
  const provider = adoptProvider(options.provider);
  provider.bind(serverUrl);
  const authorize = createAuthorization({ provider, serverUrl, fetch: createGuardedFetch(options) });
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
