import type { OAuthDiscoveryState } from '../../protocol/oauth-types.js';
import { explainAuthError } from './explain-auth-error.js';
import type { Fetch } from './guarded-fetch.js';
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
 * @throws `OAUTH_SIGN_IN_FAILED` with what went wrong on the way to the page
 */
export async function beginAuthorization({
  provider,
  serverUrl,
  fetch,
  resourceMetadataUrl,
  scope,
}: BeginAuthorizationOptions): Promise<boolean> {
  const { auth, discoverOAuthServerInfo } = await import('../../protocol/sdk-auth.js');
  try {
    // Anew every time: what was discovered earlier may be what is wrong.
    const found = await discoverOAuthServerInfo(serverUrl, {
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      fetchFn: fetch,
    });
    await provider.saveDiscoveryState(found);
    await register(provider, found, fetch);
    const result = await auth(provider, {
      serverUrl,
      fetchFn: fetch,
      forceReauthorization: true,
      ...(scope !== undefined && { scope }),
    });
    return result === 'AUTHORIZED';
  } catch (error) {
    throw explainAuthError(error, 'OAUTH_SIGN_IN_FAILED', `Signing in to MCP server ${serverUrl.origin} failed`);
  }
}

/**
 * Registers a client that the authorization server does not know, without a list of scopes: one that is registered for the scopes of
 * its first request may never ask for more.
 *
 * @see [RFC 7591 – Dynamic Client Registration](https://www.rfc-editor.org/rfc/rfc7591.html)
 */
async function register(provider: MCPOAuthClientProvider, found: OAuthDiscoveryState, fetch: Fetch): Promise<void> {
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = found;
  const issuer = metadata?.issuer ?? authorizationServerUrl;
  if (await provider.clientInformation({ issuer })) return;
  const publishesItself = provider.clientMetadataUrl !== undefined;
  if (publishesItself && metadata?.client_id_metadata_document_supported === true) return;
  const { registerClient, resolveClientMetadata } = await import('../../protocol/sdk-auth.js');
  const registered = await registerClient(authorizationServerUrl, {
    ...(metadata && { metadata }),
    clientMetadata: resolveClientMetadata(provider),
    fetchFn: fetch,
  });
  await provider.saveClientInformation({ ...registered, issuer }, { issuer });
}
