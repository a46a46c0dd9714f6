import { QuiverError } from '@quiver/core';
import type { OAuthDiscoveryState, StoredOAuthClientInformation } from '../../protocol/oauth-types.js';
import { discover } from './discover.js';
import { explainAuthError } from './explain-auth-error.js';
import type { Fetch } from '../../fetch.js';
import { issuerOf } from './issuer-of.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';

export interface BeginAuthorizationOptions {
  readonly provider: MCPOAuthClientProvider;
  readonly serverUrl: URL;
  /** For URLs that servers name. */
  readonly fetch: Fetch;
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
}

/**
 * Finds the authorization server, registers where needed, and shows the sign-in page; a client without users gets its tokens at once.
 *
 * @returns whether there are tokens now
 * @throws `OAUTH_ISSUER_UNEXPECTED` for a client without users that another authorization server knows
 * @throws `OAUTH_SIGN_IN_FAILED` with what went wrong on the way to the page, and what `discover` throws
 */
export async function beginAuthorization(options: BeginAuthorizationOptions): Promise<boolean> {
  const { provider, serverUrl, fetch, resourceMetadataUrl } = options;
  try {
    // Anew every time: what was discovered earlier may be what is wrong.
    const { skipIssuerMetadataValidation } = provider;
    const found = await discover({ serverUrl, fetch, resourceMetadataUrl, skipIssuerMetadataValidation });
    await provider.saveDiscoveryState(found);
    const clientInformation = await identify(provider, found, fetch);
    const scope = scopeToAskFor(options, found);
    if (provider.redirectUrl !== undefined) {
      await showSignInPage(provider, found, clientInformation, scope);
      return false;
    }
    await fetchTokens(provider, found, scope, fetch);
    return true;
  } catch (error) {
    throw explainAuthError(error, 'OAUTH_SIGN_IN_FAILED', `Signing in to MCP server ${serverUrl.origin} failed`);
  }
}

async function showSignInPage(
  provider: MCPOAuthClientProvider,
  found: OAuthDiscoveryState,
  clientInformation: StoredOAuthClientInformation,
  scope: string | undefined,
): Promise<void> {
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  const { startAuthorization } = await import('../../protocol/sdk-auth.js');
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServerUrl, {
    ...(metadata && { metadata }),
    clientInformation,
    state: await provider.state(issuerOf(found)),
    redirectUrl: provider.redirectUrl ?? '',
    ...(scope !== undefined && { scope }),
    ...(resourceMetadata && { resource: resourceMetadata.resource }),
  });
  await provider.saveCodeVerifier(codeVerifier);
  await provider.redirectToAuthorization(authorizationUrl);
}

async function fetchTokens(
  provider: MCPOAuthClientProvider,
  found: OAuthDiscoveryState,
  scope: string | undefined,
  fetch: Fetch,
): Promise<void> {
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  const { fetchToken } = await import('../../protocol/sdk-auth.js');
  const tokens = await fetchToken(provider, authorizationServerUrl, {
    ...(metadata && { metadata }),
    ...(resourceMetadata && { resource: resourceMetadata.resource }),
    ...(scope !== undefined && { scope }),
    fetchFn: fetch,
  });
  const issuer = issuerOf(found);
  await provider.saveTokens(
    { ...(scope !== undefined && { scope, requested_scope: scope }), ...tokens, issuer },
    { issuer },
  );
}

/**
 * What the server asked for, else what it knows, else what the client wants. Who keeps refresh tokens asks for them where they must
 * be asked for.
 *
 * @see [MCP 2025-11-25, Scope Selection Strategy](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy)
 */
function scopeToAskFor(
  { provider, scope }: BeginAuthorizationOptions,
  { authorizationServerMetadata, resourceMetadata }: OAuthDiscoveryState,
): string | undefined {
  const { clientMetadata } = provider;
  const wanted = [scope, resourceMetadata?.scopes_supported?.join(' '), clientMetadata.scope].find(
    (candidate) => candidate !== undefined && candidate !== '',
  );
  const isOffered = authorizationServerMetadata?.scopes_supported?.includes('offline_access') === true;
  const isKept = clientMetadata.grant_types?.includes('refresh_token') === true;
  if (wanted === undefined || !isOffered || !isKept || wanted.split(' ').includes('offline_access')) return wanted;
  return `${wanted} offline_access`;
}

/**
 * Who the client is for an authorization server: registered by hand or before, described by its own document, or registered now. A
 * registration does without a list of scopes: a client that is registered for the scopes of its first request may never ask for more.
 *
 * @see [RFC 7591 – Dynamic Client Registration](https://www.rfc-editor.org/rfc/rfc7591.html)
 */
async function identify(
  provider: MCPOAuthClientProvider,
  found: OAuthDiscoveryState,
  fetch: Fetch,
): Promise<StoredOAuthClientInformation> {
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = found;
  const issuer = issuerOf(found);
  const known = await provider.clientInformation({ issuer });
  if (known) return known;
  if (provider.isFixedClient) {
    throw new QuiverError(
      'OAUTH_ISSUER_UNEXPECTED',
      `The MCP server names ${issuer} as its authorization server, but the client is known to another, and shows its credentials to that one only. If the server has moved, give the new issuer.`,
    );
  }
  const { clientMetadataUrl } = provider;
  if (clientMetadataUrl !== undefined && metadata?.client_id_metadata_document_supported === true) {
    const described = { client_id: clientMetadataUrl, issuer };
    await provider.saveClientInformation(described, { issuer });
    return described;
  }
  const { registerClient, resolveClientMetadata } = await import('../../protocol/sdk-auth.js');
  const registered = await registerClient(authorizationServerUrl, {
    ...(metadata && { metadata }),
    clientMetadata: resolveClientMetadata(provider),
    fetchFn: fetch,
  });
  await provider.saveClientInformation({ ...registered, issuer }, { issuer });
  return { ...registered, issuer };
}
