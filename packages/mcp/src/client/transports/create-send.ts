import process from 'node:process';
import type { Fetch } from '../../fetch.js';
import { followWithinOrigin } from '../../http/redirects.js';
import { fromFetch, type Send } from '../../http/send.js';
import { isFetchReplaced } from '../../is-fetch-replaced.js';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import type { HttpServerDefinition } from '../definition/server-definition.js';

/** Returns how the requests of a definition are sent: authorized, and redirected within the origin of the server only. */
export async function createSend(definition: HttpServerDefinition, url: URL): Promise<Send> {
  const { requestInit, authProvider } = definition;
  const send = authProvider
    ? await createAuthorizedSend(definition, authProvider, url)
    : await createPlainSend(definition, url);
  const { redirect } = requestInit ?? {};
  return redirect === 'manual' || redirect === 'error' ? send : followWithinOrigin(send);
}

async function createPlainSend({ fetch, requestInit = {} }: HttpServerDefinition, url: URL): Promise<Send> {
  const { headers: _, redirect, ...others } = requestInit;
  const init: RequestInit = { ...others, redirect: redirect === 'error' ? redirect : 'manual' };
  if (fetch) return fromFetch(fetch, init);
  const viaFetch = fromFetch((to, toInit) => globalThis.fetch(to, toInit), init);
  const hasCredentials = url.username !== '' || url.password !== '';
  // Only `fetch` knows these settings, and how to reject credentials in an address. Bun and Deno pass for Node.
  if (Object.keys(others).length > 0 || hasCredentials) return viaFetch;
  if (typeof process === 'undefined' || process.versions?.node === undefined) return viaFetch;
  const { nodeSend } = await import('../../http/node-send.js');
  return (to, call) => (isFetchReplaced() ? viaFetch : nodeSend)(to, call);
}

async function createAuthorizedSend(
  definition: HttpServerDefinition,
  provider: OAuthClientProvider,
  serverUrl: URL,
): Promise<Send> {
  const { withAuthorization } = await import('../../auth/client/with-authorization.js');
  const serverFetch = createServerFetch(definition, serverUrl);
  const fetch = definition.fetch && serverFetch;
  const send = await createPlainSend(definition, serverUrl);
  return withAuthorization(send, { provider, serverUrl, serverFetch, fetch });
}

/**
 * Returns the `fetch` for the metadata of one server: the user's or the built-in one, with the headers of the definition. The headers
 * go to the server's own origin only, never to an authorization server. Metadata belongs to no call, and has no request context.
 */
export function createServerFetch({ fetch, headers }: HttpServerDefinition, serverUrl: URL): Fetch {
  const base: Fetch = fetch ? (url, init) => fetch(url, init) : (url, init) => globalThis.fetch(url, init);
  if (!headers) return base;
  return async (url, init) => {
    if (new URL(url).origin !== serverUrl.origin) return base(url, init);
    const added = typeof headers === 'function' ? await headers({ requestContext: undefined }) : headers;
    const merged = new Headers(init?.headers);
    for (const [name, value] of Object.entries(added)) merged.set(name, value);
    return base(url, { ...init, headers: merged });
  };
}
