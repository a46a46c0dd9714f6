import { QuiverError } from '@quiver/core';
import type { Fetch } from '../../fetch.js';
import type {
  OAuthClientMetadata,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '../../protocol/oauth-types.js';
import { isLoopbackHost, requireSecureUrl } from '../secure-url.js';
import { issuerOf, parseJsonObject, toAuthorizationServer } from './discover.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';

/**
 * Returns the registration for an authorization server: given or stored; otherwise the client's own document; otherwise a new one.
 *
 * @throws `OAUTH_ISSUER_UNEXPECTED`, `OAUTH_SIGN_IN_FAILED`
 */
export async function identifyClient(
  provider: MCPOAuthClientProvider,
  discovered: OAuthDiscoveryState,
  fetch: Fetch,
): Promise<StoredOAuthClientInformation> {
  const issuer = issuerOf(discovered);
  const known = await provider.clientInformation({ issuer });
  if (known) return known;
  if (provider.isFixedClient) {
    throw new QuiverError(
      'OAUTH_ISSUER_UNEXPECTED',
      `The MCP server names the authorization server ${issuer}, but the client is registered at another one, and its credentials are sent to that one only. If the server has moved, pass the new \`issuer\`.`,
    );
  }
  const { clientMetadataUrl } = provider;
  const acceptsDocuments = discovered.authorizationServerMetadata?.client_id_metadata_document_supported === true;
  const information =
    clientMetadataUrl !== undefined && acceptsDocuments
      ? { client_id: clientMetadataUrl, issuer }
      : { ...(await register(provider, discovered, fetch)), issuer };
  await provider.saveClientInformation(information, { issuer });
  return information;
}

/**
 * Registers the client. Omits a scope that the application did not choose: a client that is registered for the scopes of its first
 * request may never request more.
 *
 * @see [RFC 7591 – Dynamic Client Registration](https://www.rfc-editor.org/rfc/rfc7591.html)
 */
async function register(
  provider: MCPOAuthClientProvider,
  discovered: OAuthDiscoveryState,
  fetch: Fetch,
): Promise<StoredOAuthClientInformation> {
  const { issuer, registration_endpoint: endpoint } = toAuthorizationServer(discovered);
  if (endpoint === undefined) {
    throw new QuiverError(
      'OAUTH_SIGN_IN_FAILED',
      `The authorization server ${issuer} does not support dynamic client registration. Pass \`clientInformation\` of a registered client, or \`clientMetadataUrl\` if the server supports it.`,
    );
  }
  const { clientMetadata, redirectUrl } = provider;
  const defaultGrants = redirectUrl === undefined ? undefined : ['authorization_code', 'refresh_token'];
  const response = await fetch(requireSecureUrl(endpoint, 'the registration endpoint'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      ...clientMetadata,
      grant_types: clientMetadata.grant_types ?? defaultGrants,
      application_type: clientMetadata.application_type ?? applicationTypeOf(clientMetadata),
      ...((await provider.dpopHandle(discovered)) && { dpop_bound_access_tokens: true }),
    }),
  });
  // RFC 7591 requires 201 and an expiry next to a secret. Servers that send 200, or no expiry, are common.
  const { client_id: id, client_secret: secret, error, ...others } = parseJsonObject(await response.text()) ?? {};
  if (response.ok && typeof id === 'string') {
    return { ...others, client_id: id, ...(typeof secret === 'string' && { client_secret: secret }) };
  }
  const reason = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : `status ${response.status}`;
  throw new QuiverError(
    'OAUTH_SIGN_IN_FAILED',
    `The authorization server ${issuer} did not register the client (${reason}). Check \`clientMetadata\`.`,
    { details: { error: reason } },
  );
}

/** @see [OpenID Connect Dynamic Client Registration, section 2](https://openid.net/specs/openid-connect-registration-1_0.html#ClientMetadata) */
function applicationTypeOf({ redirect_uris: redirectUris }: OAuthClientMetadata): 'native' | 'web' {
  const isNative = redirectUris.some((uri) => {
    if (!URL.canParse(uri)) return false;
    const { protocol, hostname } = new URL(uri);
    return !/^https?:$/.test(protocol) || isLoopbackHost(hostname);
  });
  return isNative ? 'native' : 'web';
}
