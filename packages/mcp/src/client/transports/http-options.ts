import type { AgentOptions } from 'node:https';
import type { OAuthFetchOptions } from '../../auth/client/adopt-provider.js';
import { createDefaultSend, createNodeSend } from '../../http/node-send.js';
import { fromFetch, toFetch, type Fetch, type Send } from '../../http/send.js';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import type { DefinitionHeaders, HttpServerDefinition } from '../config/server-definition.js';

/** A server, and how requests reach it. */
export interface HttpOptions {
  readonly url: URL;
  readonly send: Send;
  /** Headers of the definition. */
  readonly headers?: DefinitionHeaders | undefined;
  /** Headers of `requestInit`, by lower-case name. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /** Whether to follow redirects within the origin. Default `false`. */
  readonly followsRedirects?: boolean | undefined;
}

/** Returns how the requests of a definition are sent, authorized if it signs in. */
export async function resolveHttpOptions(definition: HttpServerDefinition, url: URL): Promise<HttpOptions> {
  const { headers, requestInit: { headers: requestHeaders, redirect } = {} } = definition;
  const send = createPlainSend(definition, url);
  const oauth = await resolveOAuthOptions(definition, url);
  return {
    url,
    send: oauth ? (await import('../../auth/client/with-authorization.js')).withAuthorization(send, oauth) : send,
    headers,
    requestHeaders: requestHeaders && Object.fromEntries(new Headers(requestHeaders)),
    followsRedirects: redirect !== 'manual' && redirect !== 'error',
  };
}

function createPlainSend({ fetch, requestInit = {}, tls }: HttpServerDefinition, url: URL): Send {
  // Node.js accepts any `Uint8Array`, although its types name `Buffer`.
  if (tls) return createNodeSend(tls as AgentOptions);
  const { headers: _, redirect, ...others } = requestInit;
  const init: RequestInit = { ...others, redirect: redirect === 'error' ? redirect : 'manual' };
  if (fetch) return fromFetch(fetch, init);
  const viaFetch = fromFetch((to, toInit) => globalThis.fetch(to, toInit), init);
  const hasCredentials = url.username !== '' || url.password !== '';
  // Only `fetch` knows these settings, and how to reject credentials in an address. Bun and Deno pass for Node.
  if (Object.keys(others).length > 0 || hasCredentials) return viaFetch;
  if (typeof process === 'undefined' || process.versions?.node === undefined) return viaFetch;
  return createDefaultSend(viaFetch);
}

/** Providers by definition with `auth: 'oauth'`, so that a connection, HTTP+SSE and a sign-in share one. An entry dies with its key. */
const userProviders = new WeakMap<HttpServerDefinition, OAuthClientProvider>();

async function providerOf(definition: HttpServerDefinition, serverUrl: URL): Promise<OAuthClientProvider | undefined> {
  if (definition.auth === undefined) return definition.authProvider;
  const { createUserProvider } = await import('../../auth/client/loopback-provider.js');
  const provider = userProviders.get(definition) ?? createUserProvider(serverUrl);
  userProviders.set(definition, provider);
  return provider;
}

/** Returns how a definition signs in; `undefined` without `authProvider` and `auth`. */
export async function resolveOAuthOptions(
  definition: HttpServerDefinition,
  serverUrl: URL,
): Promise<OAuthFetchOptions | undefined> {
  const provider = await providerOf(definition, serverUrl);
  if (!provider) return undefined;
  const serverFetch = createServerFetch(definition, serverUrl);
  return { provider, serverUrl, serverFetch, fetch: definition.fetch && serverFetch };
}

/** Returns the `fetch` for the metadata of one server. The headers of the definition go to its origin only. Metadata has no request context. */
function createServerFetch(definition: HttpServerDefinition, serverUrl: URL): Fetch {
  const { fetch, headers, tls } = definition;
  const plain: Fetch = tls
    ? toFetch(createPlainSend(definition, serverUrl))
    : (url, init) => globalThis.fetch(url, init);
  const base: Fetch = fetch ? (url, init) => fetch(url, init) : plain;
  if (!headers) return base;
  return async (url, init) => {
    if (new URL(url).origin !== serverUrl.origin) return base(url, init);
    const added = typeof headers === 'function' ? await headers({ requestContext: undefined }) : headers;
    const merged = new Headers(init?.headers);
    for (const [name, value] of Object.entries(added)) merged.set(name, value);
    return base(url, { ...init, headers: merged });
  };
}
