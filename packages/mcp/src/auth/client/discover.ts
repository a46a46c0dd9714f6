import { QuiverError } from '@quiver/core';
import type { AuthorizationServer } from 'oauth4webapi';
import { defined } from '../../defined.js';
import { LEGACY_VERSIONS } from '../../protocol/constants.js';
import { parseJsonObject } from '../../protocol/json-rpc.js';
import type {
  AuthorizationServerMetadata,
  OAuthDiscoveryState,
  ProtectedResourceMetadata,
} from '../../protocol/oauth-types.js';
import type { Fetch } from '../../http/send.js';
import { requireSecureUrl, withoutQuery } from '../secure-url.js';
import { reasonOf } from './oauth-error.js';

export interface DiscoverOptions {
  readonly policy: { readonly skipIssuerMetadataValidation?: boolean };
  /** The MCP server. */
  readonly serverUrl: URL;
  /** For URLs that servers name. */
  readonly fetch: Fetch;
  /** URL of the resource metadata, from the challenge of the server. */
  readonly resourceMetadataUrl?: URL | undefined;
}

/**
 * Finds the authorization server of an MCP server. Tries the resource metadata at the URL of the challenge, at the path form and at
 * the root; a server without resource metadata is its own authorization server, as in protocol version 2025-03-26.
 *
 * @throws `OAUTH_RESOURCE_MISMATCH`, `OAUTH_METADATA_INVALID`, `OAUTH_UNAVAILABLE`
 * @see [RFC 9728, section 3 – Obtaining Protected Resource Metadata](https://www.rfc-editor.org/rfc/rfc9728.html#section-3)
 * @see [RFC 8414, section 3 – Obtaining Authorization Server Metadata](https://www.rfc-editor.org/rfc/rfc8414.html#section-3)
 */
export async function discover(options: DiscoverOptions): Promise<OAuthDiscoveryState> {
  const { serverUrl } = options;
  const resourceMetadata = await findResourceMetadata(options);
  const authorizationServerUrl = resourceMetadata?.authorization_servers?.[0] ?? `${serverUrl.origin}/`;
  const authorizationServerMetadata = await findServerMetadata(authorizationServerUrl, options);
  return defined({ authorizationServerUrl, resourceMetadata, authorizationServerMetadata });
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
 * Rejects an authorization server that cannot be used safely. A user requires a page and PKCE with S256.
 *
 * @throws `OAUTH_PKCE_UNSUPPORTED`, `OAUTH_URL_INSECURE`
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

async function findResourceMetadata(options: DiscoverOptions): Promise<ProtectedResourceMetadata | undefined> {
  const { serverUrl, resourceMetadataUrl, fetch } = options;
  const wellKnown = `${serverUrl.origin}/.well-known/oauth-protected-resource`;
  const path = serverUrl.pathname.replace(/\/$/, '');
  const ofPath = `${wellKnown}${path}${serverUrl.search}`;
  for (const url of new Set([resourceMetadataUrl?.href ?? ofPath, ofPath, wellKnown])) {
    const metadata = await fetchMetadata(url, fetch);
    if (!metadata) continue;
    requireMembers(url, metadata, ['resource'], ['authorization_servers', 'scopes_supported']);
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
 * @see [RFC 8707, section 2 – Resource Parameter](https://www.rfc-editor.org/rfc/rfc8707.html#section-2): no fragment
 */
function requireSameResource({ resource }: ProtectedResourceMetadata, serverUrl: URL): void {
  const url = URL.canParse(resource) ? new URL(resource) : undefined;
  const withSlash = (path = ''): string => (path.endsWith('/') ? path : `${path}/`);
  const isParent =
    url?.origin === serverUrl.origin && withSlash(serverUrl.pathname).startsWith(withSlash(url.pathname));
  // The query may distinguish the tenants of a host.
  const isSameQuery = url?.search === '' || url?.search === serverUrl.search;
  if (isParent && isSameQuery && `${url.username}${url.password}` === '' && !resource.includes('#')) return;
  throw new QuiverError(
    'OAUTH_RESOURCE_MISMATCH',
    `The metadata of MCP server ${withoutQuery(serverUrl)} describes another resource, ${quote(resource)}. No token is requested for it.`,
  );
}

async function findServerMetadata(
  authorizationServerUrl: string,
  { fetch, policy }: DiscoverOptions,
): Promise<AuthorizationServerMetadata | undefined> {
  for (const url of metadataUrlsOf(requireSecureUrl(authorizationServerUrl, 'the authorization server'))) {
    const metadata = await fetchMetadata(url, fetch);
    if (!metadata) continue;
    const lists = ['scopes_supported', 'code_challenge_methods_supported', 'token_endpoint_auth_methods_supported'];
    requireMembers(url, metadata, ['issuer', 'token_endpoint'], lists);
    // Safe: these are the members that are read; the other endpoints are checked before their use.
    const checked = metadata as AuthorizationServerMetadata;
    // Resource metadata often adds a slash to an issuer without a path.
    const isExpected = [checked.issuer, `${checked.issuer}/`].includes(authorizationServerUrl);
    if (isExpected || policy.skipIssuerMetadataValidation) return checked;
    throw new QuiverError(
      'OAUTH_METADATA_INVALID',
      `${url} names the issuer ${quote(checked.issuer)} instead of ${authorizationServerUrl}. Its owner has to correct it; see \`skipIssuerMetadataValidation\`.`,
    );
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

/** Returns the JSON object behind a URL, or `undefined`: many websites serve HTML for every path. */
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

function requireMembers(url: string, metadata: Record<string, unknown>, texts: string[], lists: string[]): void {
  const isText = (value: unknown): boolean => typeof value === 'string';
  const isList = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.every(isText));
  if (texts.every((name) => isText(metadata[name])) && lists.every((name) => isList(metadata[name]))) return;
  throw new QuiverError(
    'OAUTH_METADATA_INVALID',
    `The metadata at ${withoutQuery(url)} is not valid: it requires the texts ${texts.join(', ')}, and lists of texts as ${lists.join(', ')}. Its owner has to correct it.`,
  );
}

/** Returns text of a server for an error message, without control characters. */
function quote(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
