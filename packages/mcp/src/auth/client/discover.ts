import { QuiverError } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import type { OAuthDiscoveryState } from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';

export interface DiscoverOptions {
  /** The MCP server. */
  readonly serverUrl: URL;
  /** For URLs that servers name. */
  readonly fetch: Fetch;
  /** Where the server said its metadata is. */
  readonly resourceMetadataUrl?: URL | undefined;
  /** Accepts metadata of another issuer than the one that was asked. */
  readonly skipIssuerMetadataValidation?: boolean;
}

/**
 * Finds the authorization server of an MCP server. Its resource metadata is looked for where the server said, at the path form and at
 * the root; a server without any is its own authorization server, as in the revision of 2025-03-26. Answers that are no JSON object
 * count as absent: many a website answers every path with a page.
 *
 * @throws `OAUTH_RESOURCE_MISMATCH` when the metadata is about another resource
 * @throws `OAUTH_METADATA_INVALID` when it is there but cannot be used; `OAUTH_UNAVAILABLE` for a server that is out of order
 * @see [RFC 9728, section 3 – Obtaining Protected Resource Metadata](https://www.rfc-editor.org/rfc/rfc9728.html#section-3)
 * @see [RFC 8414, section 3 – Obtaining Authorization Server Metadata](https://www.rfc-editor.org/rfc/rfc8414.html#section-3)
 */
export async function discover(options: DiscoverOptions): Promise<OAuthDiscoveryState> {
  const { serverUrl, skipIssuerMetadataValidation = false } = options;
  const { discoverAuthorizationServerMetadata } = await import('../../protocol/sdk-auth.js');
  const fetchFn = fetchMetadata(options.fetch);
  const resourceMetadata = await findResourceMetadata(options, fetchFn);
  const authorizationServerUrl = resourceMetadata?.authorization_servers?.[0] ?? `${serverUrl.origin}/`;
  const authorizationServerMetadata = await discoverAuthorizationServerMetadata(authorizationServerUrl, {
    fetchFn,
    skipIssuerValidation: skipIssuerMetadataValidation,
  });
  return {
    authorizationServerUrl,
    ...(resourceMetadata && { resourceMetadata }),
    ...(authorizationServerMetadata && { authorizationServerMetadata }),
  };
}

type ResourceMetadata = NonNullable<OAuthDiscoveryState['resourceMetadata']>;

async function findResourceMetadata(
  { serverUrl, resourceMetadataUrl }: DiscoverOptions,
  fetch: Fetch,
): Promise<ResourceMetadata | undefined> {
  const wellKnown = `${serverUrl.origin}/.well-known/oauth-protected-resource`;
  const path = serverUrl.pathname.replace(/\/$/, '');
  const places = new Set([resourceMetadataUrl?.href, `${wellKnown}${path}${serverUrl.search}`, wellKnown]);
  for (const place of places) {
    if (place === undefined) continue;
    const response = await fetch(place, { headers: { accept: 'application/json' } });
    if (!response.ok) continue;
    const metadata = parseResourceMetadata(await response.json(), place);
    await requireSameResource(metadata, serverUrl);
    return metadata;
  }
  return undefined;
}

function parseResourceMetadata(value: unknown, place: string): ResourceMetadata {
  const {
    resource,
    authorization_servers: servers,
    scopes_supported: scopes,
  } = isObject(value) ? value : ({} as Record<string, unknown>);
  if (typeof resource === 'string' && isListOfStrings(servers) && isListOfStrings(scopes)) {
    return value as ResourceMetadata;
  }
  throw new QuiverError(
    'OAUTH_METADATA_INVALID',
    `${place} does not describe a protected resource: it needs the string resource and lists of strings. Its owner has to repair it.`,
  );
}

function isListOfStrings(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((entry) => typeof entry === 'string'));
}

/** @see [RFC 9728, section 3.3 – Protected Resource Metadata Validation](https://www.rfc-editor.org/rfc/rfc9728.html#section-3.3) */
async function requireSameResource({ resource }: ResourceMetadata, serverUrl: URL): Promise<void> {
  const { checkResourceAllowed, resourceUrlFromServerUrl } = await import('../../protocol/sdk-auth.js');
  const requestedResource = resourceUrlFromServerUrl(serverUrl);
  if (URL.canParse(resource) && checkResourceAllowed({ requestedResource, configuredResource: resource })) return;
  throw new QuiverError(
    'OAUTH_RESOURCE_MISMATCH',
    `The metadata of MCP server ${serverUrl.href} is about another resource, ${resource.slice(0, 200)}. A token for that one is not asked for.`,
  );
}

/** Nothing there, for whatever reason, is a 404; a server that is out of order is an error. */
function fetchMetadata(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init).catch((error: unknown) => {
      throw toUnreachable(error, new URL(url));
    });
    // Proxies answer 502 for paths that nobody serves.
    if (response.status >= 500 && response.status !== 502) {
      const { origin } = new URL(url);
      throw new QuiverError(
        'OAUTH_UNAVAILABLE',
        `${origin} answered ${response.status} instead of its OAuth metadata. Try again later.`,
      );
    }
    if (!response.ok) return response;
    const text = await response.text();
    return isJsonObject(text) ? new Response(text, response) : new Response(null, { status: 404 });
  };
}

/** Names the host that did not answer. A browser's `TypeError` stays: it may mean CORS, which the SDK tries to get round. */
function toUnreachable(error: unknown, { origin }: URL): unknown {
  const { code } = (error ?? {}) as { code?: unknown };
  if (error instanceof QuiverError || error instanceof TypeError || typeof code !== 'string') return error;
  return new QuiverError(
    'OAUTH_UNAVAILABLE',
    `${origin} could not be asked for its OAuth metadata (${code}). Check the address, or try again later.`,
    { cause: error },
  );
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
