import { QuiverError } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import type {
  OAuthClientMetadata,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';
import { isLoopbackHost, requireSecureUrl } from '../secure-url.js';
import { discover, issuerOf } from './discover.js';
import { supportsDPoP } from './dpop-key.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';
import { toOAuthError } from './oauth-error.js';
import { requestTokens, toAuthorizationServer } from './request-tokens.js';

export interface BeginAuthorizationOptions {
  readonly provider: MCPOAuthClientProvider;
  readonly serverUrl: URL;
  /** For URLs that servers name. */
  readonly fetch: Fetch;
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
}

/**
 * Finds the authorization server, registers where needed, and shows the sign-in page. A client without a user receives its tokens at
 * once.
 *
 * @returns whether tokens are stored now
 * @throws `OAUTH_ISSUER_UNEXPECTED` for a client without a user that is registered at another authorization server
 * @throws `OAUTH_SIGN_IN_FAILED` with the reason, and what {@link discover} throws
 */
export async function beginAuthorization(options: BeginAuthorizationOptions): Promise<boolean> {
  const { provider, serverUrl, fetch, resourceMetadataUrl } = options;
  try {
    // Runs discovery again: the cached metadata may have caused the failure.
    const { skipIssuerMetadataValidation } = provider;
    const discovered = await discover({ serverUrl, fetch, resourceMetadataUrl, skipIssuerMetadataValidation });
    await provider.saveDiscoveryState(discovered);
    const clientInformation = await identify(provider, discovered, fetch);
    const scope = chooseScope(options, discovered);
    if (provider.redirectUrl !== undefined) {
      await showSignInPage(provider, discovered, clientInformation, scope);
      return false;
    }
    const parameters = await provider.prepareTokenRequest?.(scope);
    if (!parameters) return false;
    const request = { provider, discovered, clientInformation, fetch };
    const tokens = await requestTokens(request, { type: 'direct', parameters });
    const issuer = issuerOf(discovered);
    await provider.saveTokens(
      { ...(scope !== undefined && { scope, requested_scope: scope }), ...tokens, issuer },
      { issuer },
    );
    return true;
  } catch (error) {
    throw toOAuthError(error, 'OAUTH_SIGN_IN_FAILED', `Signing in to MCP server ${serverUrl.origin} failed`);
  }
}

/** @see [OAuth 2.1, section 4.1.1 – Authorization Request](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1#section-4.1.1) */
async function showSignInPage(
  provider: MCPOAuthClientProvider,
  discovered: OAuthDiscoveryState,
  { client_id }: StoredOAuthClientInformation,
  scope: string | undefined,
): Promise<void> {
  const { calculatePKCECodeChallenge, generateRandomCodeVerifier } = await import('oauth4webapi');
  const codeVerifier = generateRandomCodeVerifier();
  const { resource } = discovered.resourceMetadata ?? {};
  const parameters = {
    response_type: 'code',
    client_id,
    redirect_uri: String(provider.redirectUrl ?? ''),
    state: await provider.state(issuerOf(discovered)),
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(scope !== undefined && { scope }),
    // OpenID Connect Core, section 11: offline access requires consent.
    ...(scope?.split(' ').includes('offline_access') && { prompt: 'consent' }),
    ...(resource !== undefined && { resource }),
  };
  const page = new URL(toAuthorizationServer(discovered).authorization_endpoint ?? '');
  for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value);
  await provider.saveCodeVerifier(codeVerifier);
  await provider.redirectToAuthorization(page);
}

/**
 * Returns the scopes to request: from the challenge; otherwise from the metadata; otherwise from the client. A client that keeps
 * refresh tokens adds `offline_access` where the server requires it.
 *
 * @see [MCP 2025-11-25, Scope Selection Strategy](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy)
 */
function chooseScope(
  { provider, scope }: BeginAuthorizationOptions,
  { authorizationServerMetadata, resourceMetadata }: OAuthDiscoveryState,
): string | undefined {
  const { clientMetadata } = provider;
  const wanted = [scope, resourceMetadata?.scopes_supported?.join(' '), clientMetadata.scope].find(
    (candidate) => candidate !== undefined && candidate !== '',
  );
  const isOffered = authorizationServerMetadata?.scopes_supported?.includes('offline_access') === true;
  const keepsRefreshTokens = clientMetadata.grant_types?.includes('refresh_token') === true;
  if (wanted === undefined || !isOffered || !keepsRefreshTokens || wanted.split(' ').includes('offline_access')) {
    return wanted;
  }
  return `${wanted} offline_access`;
}

/** Returns the registration for an authorization server: given or stored; otherwise the client's own document; otherwise a new one. */
async function identify(
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
  const response = await fetch(requireSecureUrl(endpoint, 'the registration endpoint'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      ...clientMetadata,
      grant_types:
        clientMetadata.grant_types ?? (redirectUrl === undefined ? undefined : ['authorization_code', 'refresh_token']),
      application_type: clientMetadata.application_type ?? applicationTypeOf(clientMetadata),
      ...(provider.usesDPoP && supportsDPoP(discovered) && { dpop_bound_access_tokens: true }),
    }),
  });
  // RFC 7591 requires 201 and an expiry next to a secret. Servers that send 200, or no expiry, are common.
  const registration = parseObject(await response.text());
  const { client_id: id, client_secret: secret, error, ...others } = registration;
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

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
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
