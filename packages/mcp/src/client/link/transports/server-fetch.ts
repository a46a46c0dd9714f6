import process from 'node:process';
import { currentContext } from '../request-scope.js';
import type { OAuthClientProvider } from '../../../protocol/client-types.js';
import type { HttpServerDefinition } from '../../definition/server-definition.js';
import type { Fetch } from '../../../fetch.js';

/** How one server is reached: what goes to a transport of the SDK. */
export interface ServerAccess {
  readonly fetch: Fetch;
  /** Left to the transport, which signs in by the SDK's own rules. */
  readonly authProvider?: OAuthClientProvider;
}

/**
 * The way to a server. Our own providers sign in within `fetch`: parallel requests then share one refresh, and every address that a
 * server names is checked. Providers of other origin are the transport's business.
 */
export async function createServerAccess(definition: HttpServerDefinition, serverUrl: URL): Promise<ServerAccess> {
  const fetch = await createServerFetch(definition, serverUrl);
  const { authProvider } = definition;
  if (!authProvider) return { fetch };
  const { createOAuthFetch, MCPOAuthClientProvider } = await import('../../../auth/client/index.js');
  if (!(authProvider instanceof MCPOAuthClientProvider)) return { fetch, authProvider };
  const own = definition.fetch && { fetch };
  return { fetch: createOAuthFetch({ provider: authProvider, serverUrl, serverFetch: fetch, ...own }) };
}

/**
 * The `fetch` of one server: the user's or the default one, with the request context of the call, and with the definition's
 * headers. Those go to the server's own origin only, never to an authorization server.
 */
export async function createServerFetch(definition: HttpServerDefinition, serverUrl: URL): Promise<Fetch> {
  const { fetch, headers } = definition;
  const base: Fetch = fetch
    ? (url, init) => fetch(url, init && { ...init, headers: toSpreadable(init.headers) }, currentContext())
    : await defaultFetch();
  if (!headers) return base;
  return async (url, init) => {
    if (new URL(url).origin !== serverUrl.origin) return base(url, init);
    const added = typeof headers === 'function' ? await headers({ requestContext: currentContext() }) : headers;
    const merged = new Headers(init?.headers);
    for (const [name, value] of Object.entries(added)) merged.set(name, value);
    return base(url, { ...init, headers: merged });
  };
}

/**
 * Headers that an own `fetch` may ask with `get`, change with `set`, and also spread into an object, which gives nothing with the
 * platform's.
 */
function toSpreadable(headers: RequestInit['headers']): Headers {
  const complete = new Headers(headers);
  return Object.assign(complete, Object.fromEntries(complete));
}

/** Outside Node (and Bun and Deno, which pass for it) there is only the platform's own. */
async function defaultFetch(): Promise<Fetch> {
  if (typeof process === 'undefined' || process.versions?.node === undefined)
    return (url, init) => globalThis.fetch(url, init);
  return (await import('./node-fetch.js')).nodeFetch;
}
