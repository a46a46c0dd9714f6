import { QuiverError } from '@quiver/core';
import type { AuthorizationServer } from 'oauth4webapi';
import { LEGACY_VERSIONS } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import type {
  AuthorizationServerMetadata,
  OAuthDiscoveryState,
  ProtectedResourceMetadata,
} from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';
import { requireSecureUrl } from '../secure-url.js';
import { reasonOf } from './oauth-error.js';

export interface DiscoverOptions {
  /** The MCP server. */
  readonly serverUrl: URL;
  /** For URLs that servers name. */
  readonly fetch: Fetch;
  /** URL of the resource metadata, from the challenge of the server. */
  readonly resourceMetadataUrl?: URL | undefined;
  readonly provider: { readonly skipIssuerMetadataValidation: boolean };
}

/**
 * Finds the authorization server of an MCP server. Tries the resource metadata at the URL of the challenge, at the path form and at
 * the root; a server without resource metadata is its own authorization server, as in protocol version 2025-03-26. Treats a response
 * that is not a JSON object as missing, because many websites serve HTML for every path.
 *
 * @throws `OAUTH_RESOURCE_MISMATCH` when the metadata describes another resource
 * @throws `OAUTH_METADATA_INVALID` when it exists but cannot be used; `OAUTH_UNAVAILABLE` for an unavailable server
 * @see [RFC 9728, section 3 – Obtaining Protected Resource Metadata](https://www.rfc-editor.org/rfc/rfc9728.html#section-3)
 * @see [RFC 8414, section 3 – Obtaining Authorization Server Metadata](https://www.rfc-editor.org/rfc/rfc8414.html#section-3)
 */
export async function discover(options: DiscoverOptions): Promise<OAuthDiscoveryState> {
  const { serverUrl } = options;
  const resourceMetadata = await findResourceMetadata(options);
  const authorizationServerUrl = resourceMetadata?.authorization_servers?.[0] ?? `${serverUrl.origin}/`;
  const authorizationServerMetadata = await findServerMetadata(authorizationServerUrl, options);
  return {
    authorizationServerUrl,
    ...(resourceMetadata && { resourceMetadata }),
    ...(authorizationServerMetadata && { authorizationServerMetadata }),
  };
}

/** Returns the identity of an authorization server: its issuer, or its URL without metadata. */
export function issuerOf({ authorizationServerMetadata, authorizationServerUrl }: OAuthDiscoveryState): string {
  return authorizationServerMetadata?.issuer ?? authorizationServerUrl;
}

/** Returns the metadata of a server; without metadata, the default endpoints of protocol version 2025-03-26. */
export function toAuthorizationServer(discovered: OAuthDiscoveryState): AuthorizationServer {
  const { authorizationServerUrl, authorizationServerMetadata } = discovered;
  // Safe: both describe RFC 8414; discovery has checked the members that are read.
  if (authorizationServerMetadata) return authorizationServerMetadata as AuthorizationServer;
  const endpoint = (path: string): string => new URL(path, authorizationServerUrl).href;
  return {
    issuer: issuerOf(discovered),
    authorization_endpoint: endpoint('/authorize'),
    token_endpoint: endpoint('/token'),
    registration_endpoint: endpoint('/register'),
  };
}

/**
 * Rejects an authorization server that cannot be used safely.
 *
 * @param hasUser - whether a user signs in, which requires a page and PKCE
 * @throws `OAUTH_PKCE_UNSUPPORTED` unless it declares support for S256
 * @throws `OAUTH_URL_INSECURE` when an endpoint is neither https nor a loopback address
 * @see [RFC 9700, section 2.1.1 – Authorization Code Grant](https://www.rfc-editor.org/rfc/rfc9700.html#section-2.1.1)
 */
export function requireUsableServer(metadata: AuthorizationServerMetadata, hasUser: boolean): void {
  requireSecureUrl(metadata.token_endpoint, 'the token endpoint');
  if (metadata.registration_endpoint) requireSecureUrl(metadata.registration_endpoint, 'the registration endpoint');
  if (!hasUser) return;
  requireSecureUrl(metadata.authorization_endpoint, 'the sign-in page');
  if (metadata.code_challenge_methods_supported?.includes('S256')) return;
  throw new QuiverError(
    'OAUTH_PKCE_UNSUPPORTED',
    `The authorization server ${metadata.issuer} does not support PKCE with S256, without which a code can be stolen.`,
  );
}

async function findResourceMetadata({
  serverUrl,
  resourceMetadataUrl,
  fetch,
}: DiscoverOptions): Promise<ProtectedResourceMetadata | undefined> {
  const wellKnown = `${serverUrl.origin}/.well-known/oauth-protected-resource`;
  const path = serverUrl.pathname.replace(/\/$/, '');
  const urls = new Set([resourceMetadataUrl?.href, `${wellKnown}${path}${serverUrl.search}`, wellKnown]);
  for (const url of urls) {
    if (url === undefined) continue;
    const metadata = await fetchMetadata(url, fetch);
    if (!metadata) continue;
    if (
      typeof metadata['resource'] !== 'string' ||
      !areListsOfStrings(metadata, ['authorization_servers', 'scopes_supported'])
    ) {
      throw invalid(url, 'a protected resource: it requires the string `resource` and lists of strings');
    }
    // Safe: these are the members that are read.
    const checked = metadata as ProtectedResourceMetadata;
    requireSameResource(checked, serverUrl);
    return checked;
  }
  return undefined;
}

/**
 * A server may publish metadata for a parent path of its own.
 *
 * @see [RFC 9728, section 3.3 – Protected Resource Metadata Validation](https://www.rfc-editor.org/rfc/rfc9728.html#section-3.3)
 */
function requireSameResource({ resource }: ProtectedResourceMetadata, serverUrl: URL): void {
  const { origin, pathname } = URL.canParse(resource) ? new URL(resource) : { origin: '', pathname: '' };
  const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);
  if (origin === serverUrl.origin && withSlash(serverUrl.pathname).startsWith(withSlash(pathname))) return;
  throw new QuiverError(
    'OAUTH_RESOURCE_MISMATCH',
    `The metadata of MCP server ${serverUrl.href} describes another resource, ${resource.slice(0, 200)}. No token is requested for it.`,
  );
}

async function findServerMetadata(
  authorizationServerUrl: string,
  { fetch, provider }: DiscoverOptions,
): Promise<AuthorizationServerMetadata | undefined> {
  for (const url of metadataUrlsOf(requireSecureUrl(authorizationServerUrl, 'the authorization server'))) {
    const metadata = await fetchMetadata(url, fetch);
    if (!metadata) continue;
    const { issuer, token_endpoint: tokenEndpoint } = metadata;
    const lists = ['scopes_supported', 'code_challenge_methods_supported', 'token_endpoint_auth_methods_supported'];
    if (typeof issuer !== 'string' || typeof tokenEndpoint !== 'string' || !areListsOfStrings(metadata, lists)) {
      throw invalid(url, 'an authorization server: it requires `issuer`, `token_endpoint` and lists of strings');
    }
    // Resource metadata often adds a slash to an issuer without a path.
    if (
      !provider.skipIssuerMetadataValidation &&
      issuer !== authorizationServerUrl &&
      `${issuer}/` !== authorizationServerUrl
    ) {
      throw new QuiverError(
        'OAUTH_METADATA_INVALID',
        `${url} names the issuer ${issuer.slice(0, 200)} instead of ${authorizationServerUrl}. Its owner has to correct it; see \`skipIssuerMetadataValidation\`.`,
      );
    }
    // Safe: these are the members that are read; the other endpoints are checked before their use.
    return metadata as AuthorizationServerMetadata;
  }
  return undefined;
}

/** @see [MCP, Authorization Server Metadata Discovery](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#authorization-server-metadata-discovery) */
function metadataUrlsOf({ origin, pathname }: URL): string[] {
  const path = pathname.replace(/\/$/, '');
  const [oauth, openid] = [`/.well-known/oauth-authorization-server`, '/.well-known/openid-configuration'];
  const urls = [`${origin}${oauth}${path}`, `${origin}${openid}${path}`];
  return path === '' ? urls : [...urls, `${origin}${path}${openid}`];
}

/** Returns the JSON object behind a URL, `undefined` when there is none. */
async function fetchMetadata(url: string, fetch: Fetch): Promise<Record<string, unknown> | undefined> {
  const { origin } = new URL(url);
  const headers = { accept: 'application/json', 'mcp-protocol-version': LEGACY_VERSIONS[0] };
  const response = await fetch(url, { headers }).catch((error: unknown) => {
    if (error instanceof QuiverError) throw error;
    throw new QuiverError(
      'OAUTH_UNAVAILABLE',
      `Cannot fetch the OAuth metadata of ${origin} (${reasonOf(error)}). Check the address, or try again later.`,
      { cause: error },
    );
  });
  // Proxies respond with 502 for unknown paths.
  if (response.status >= 500 && response.status !== 502) {
    throw new QuiverError(
      'OAUTH_UNAVAILABLE',
      `${origin} responded with status ${response.status} instead of its OAuth metadata. Try again later.`,
    );
  }
  const text = await response.text();
  return response.ok ? parseJsonObject(text) : undefined;
}

/** Returns `undefined` for a text that is not a JSON object. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function areListsOfStrings(metadata: Record<string, unknown>, names: readonly string[]): boolean {
  return names.every((name) => {
    const value = metadata[name];
    return value === undefined || (Array.isArray(value) && value.every((entry) => typeof entry === 'string'));
  });
}

function invalid(url: string, what: string): QuiverError {
  return new QuiverError('OAUTH_METADATA_INVALID', `${url} does not describe ${what}. Its owner has to correct it.`);
}
