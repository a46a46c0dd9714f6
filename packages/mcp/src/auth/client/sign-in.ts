import { QuiverError } from '@quiver/core';
import { checkOptions, type OptionChecks, unchecked } from '@quiver/core/internal';
import { defined } from '../../defined.js';
import type {
  OAuthClientMetadata,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '../../protocol/oauth-types.js';
import { parseJsonObject } from '../../protocol/json-rpc.js';
import { isLoopbackHost } from '../secure-url.js';
import { adoptProvider, type OAuthFetchOptions } from './adopt-provider.js';
import { discover, issuerOf, toAuthorizationServer } from './discover.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { oauthErrorCodeOf, toOAuthError } from './oauth-error.js';
import { requestTokens } from './request-tokens.js';
import { verifierMissing, type AuthorizationTarget, type KeptTokens } from './sign-in-state.js';

/**
 * Finds the authorization server, registers where needed, and prepares the sign-in page.
 *
 * @returns the sign-in page, or the new tokens of a client without a user
 * @throws `OAUTH_ISSUER_UNEXPECTED`; `OAUTH_SIGN_IN_FAILED` with the reason, and what {@link discover} throws
 */
export async function beginAuthorization(
  target: AuthorizationTarget,
  wantedScope: string | undefined,
): Promise<URL | KeptTokens> {
  const { signIn, policy, serverUrl } = target;
  try {
    // Runs discovery again: the cached metadata may have caused the failure.
    const discovered = await discover(target);
    await signIn.saveDiscoveryState(discovered);
    const clientInformation = await identifyClient(target, discovered);
    const scope = chooseScope(target, wantedScope, discovered);
    if (policy.redirectUrl !== undefined)
      return await createSignInPage(target, discovered, clientInformation.client_id, scope);
    const parameters = await signIn.tokenRequest(discovered, scope);
    const defaults = { scope, requested_scope: scope };
    return await requestTokens(target, { discovered, clientInformation, parameters, defaults });
  } catch (error) {
    throw toOAuthError(error, 'OAUTH_SIGN_IN_FAILED', `Signing in to MCP server ${serverUrl.origin} failed`);
  }
}

/** Returns all scopes of several lists, separated by spaces. */
export function unionOf(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(' ') ?? []))].filter((scope) => scope !== '').join(' ');
}

/** @see [OAuth 2.1, section 4.1.1 – Authorization Request](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1#section-4.1.1) */
async function createSignInPage(
  { signIn, policy }: AuthorizationTarget,
  discovered: OAuthDiscoveryState,
  clientId: string,
  scope: string | undefined,
): Promise<URL> {
  const { calculatePKCECodeChallenge, generateRandomCodeVerifier } = await import('oauth4webapi');
  const codeVerifier = generateRandomCodeVerifier();
  const { resource } = discovered.resourceMetadata ?? {};
  const parameters = defined({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: String(policy.redirectUrl),
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    scope,
    // OpenID Connect Core, section 11: offline access requires consent.
    prompt: scope?.split(' ').includes('offline_access') ? 'consent' : undefined,
    resource,
  });
  const page = new URL(toAuthorizationServer(discovered).authorization_endpoint ?? '');
  for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value);
  await signIn.provider.saveCodeVerifier(codeVerifier);
  // Last: calls that find a state take the page for shown.
  page.searchParams.set('state', await signIn.begin(defined({ issuer: issuerOf(discovered), scope })));
  return page;
}

/**
 * Returns the scopes to request. A client that keeps refresh tokens adds `offline_access` where the server offers it.
 *
 * @see [MCP 2025-11-25, Scope Selection Strategy](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy)
 */
function chooseScope(
  { policy: { clientMetadata } }: AuthorizationTarget,
  challenged: string | undefined,
  { authorizationServerMetadata, resourceMetadata }: OAuthDiscoveryState,
): string | undefined {
  const scope = challenged || resourceMetadata?.scopes_supported?.join(' ') || clientMetadata.scope || undefined;
  const isOffered = authorizationServerMetadata?.scopes_supported?.includes('offline_access');
  const keepsRefreshTokens = clientMetadata.grant_types?.includes('refresh_token');
  return scope && isOffered && keepsRefreshTokens ? unionOf(scope, 'offline_access') : scope;
}

/** Returns the registration for an authorization server: given, stored, the client's own document, or a new one. */
async function identifyClient(
  target: AuthorizationTarget,
  discovered: OAuthDiscoveryState,
): Promise<StoredOAuthClientInformation> {
  const { signIn, policy } = target;
  const issuer = issuerOf(discovered);
  const known = await signIn.clientInformation(issuer);
  if (known) return known;
  if (policy.redirectUrl === undefined && policy.clientInformation) {
    throw new QuiverError(
      'OAUTH_ISSUER_UNEXPECTED',
      `The MCP server names the authorization server ${issuer}, but the client is registered at another one, and its credentials are sent to that one only. If the server has moved, pass the new \`issuer\`.`,
    );
  }
  const { client_id_metadata_document_supported: acceptsDocuments } = discovered.authorizationServerMetadata ?? {};
  const document = acceptsDocuments === true ? policy.clientMetadataUrl : undefined;
  const registration = document === undefined ? await register(target, discovered) : { client_id: document };
  const information = { ...registration, issuer };
  await signIn.provider.saveClientInformation?.(information, { issuer });
  return information;
}

/**
 * Registers the client, for no scopes of the first request: it might never be allowed to request more.
 *
 * @see [RFC 7591 – Dynamic Client Registration](https://www.rfc-editor.org/rfc/rfc7591.html)
 */
async function register(
  target: AuthorizationTarget,
  discovered: OAuthDiscoveryState,
): Promise<StoredOAuthClientInformation> {
  const { signIn, policy, fetch } = target;
  const { issuer, registration_endpoint: endpoint } = toAuthorizationServer(discovered);
  if (endpoint === undefined) {
    throw new QuiverError(
      'OAUTH_SIGN_IN_FAILED',
      `The authorization server ${issuer} does not support dynamic client registration. Pass \`clientInformation\` of a registered client, or \`clientMetadataUrl\` if the server supports it.`,
    );
  }
  const { clientMetadata, redirectUrl } = policy;
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      ...clientMetadata,
      grant_types: clientMetadata.grant_types ?? (redirectUrl && ['authorization_code', 'refresh_token']),
      application_type: clientMetadata.application_type ?? applicationTypeOf(clientMetadata),
      ...((await signIn.dpopHandle(discovered)) && { dpop_bound_access_tokens: true }),
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
  const urls = redirectUris.flatMap((uri) => (URL.canParse(uri) ? new URL(uri) : []));
  return urls.some(({ protocol, hostname }) => !/^https?:$/.test(protocol) || isLoopbackHost(hostname))
    ? 'native'
    : 'web';
}

/** Parameters of the authorization response. */
export interface AuthorizationCallback {
  code: string;
  state: string | undefined;
  /** Issuer of the response, where the server sends it. */
  iss?: string;
}

/** Options of `finishAuthorization()`. */
export interface FinishAuthorizationOptions extends Pick<OAuthFetchOptions, 'provider' | 'serverUrl' | 'fetch'> {
  /** Authorization response, as the callback received it. */
  callback: AuthorizationCallback;
}

const checks: OptionChecks<FinishAuthorizationOptions> = {
  ...unchecked<FinishAuthorizationOptions>()('provider', 'serverUrl', 'fetch', 'callback'),
};

/**
 * Exchanges the code of a sign-in for tokens. A state is accepted once, and the issuer must be the one that the page belongs to.
 *
 * @throws `OAUTH_STATE_INVALID`; `OAUTH_EXCHANGE_FAILED` when the authorization server rejects the code
 * @see [RFC 9700, section 4.4 – Mix-Up Attacks](https://www.rfc-editor.org/rfc/rfc9700.html#section-4.4)
 * @see [RFC 9207 – Authorization Server Issuer Identification](https://www.rfc-editor.org/rfc/rfc9207.html)
 *
 * @example
 * // The route of the redirect URL
 * const { code, state, iss } = req.query;
 * await finishAuthorization({ provider: authProvider, serverUrl: 'https://mcp.example.com/mcp', callback: { code, state, iss } });
 */
export async function finishAuthorization(options: FinishAuthorizationOptions): Promise<void> {
  checkOptions('finishAuthorization', options, checks);
  const { code, state, iss } = options.callback;
  const signIn = adoptProvider(options.provider);
  const { provider, policy } = signIn;
  const serverUrl = new URL(options.serverUrl);
  // As in the SDK, a sign-in may have begun before the server was known.
  if (signIn.values.serverUrl !== undefined || !(await signIn.pendingSignIn())) signIn.bind(serverUrl);
  const pending = await signIn.redeemState(state);
  try {
    const codeVerifier = await provider.codeVerifier();
    // The server whose page was shown, even if the MCP server names another one by now.
    const discovered = await signIn.discoveryState();
    const issuer = discovered && issuerOf(discovered);
    const clientInformation = issuer === undefined ? undefined : await signIn.clientInformation(issuer);
    if (!discovered || !clientInformation) throw verifierMissing();
    if (pending.issuer !== undefined && pending.issuer !== issuer) {
      // Another sign-in has begun meanwhile, elsewhere: its server must not get the code of this one.
      throw new QuiverError(
        'OAUTH_STATE_INVALID',
        `The sign-in began at ${pending.issuer}, but the MCP server has named ${issuer} since. Sign in again.`,
      );
    }
    const library = await import('oauth4webapi');
    const response = new URLSearchParams({ code, ...(iss !== undefined && { iss }) });
    // redeemState() has compared the state.
    const client = { client_id: clientInformation.client_id };
    library.validateAuthResponse(toAuthorizationServer(discovered), client, response, library.skipStateCheck);
    const parameters = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: String(policy.redirectUrl),
      code_verifier: codeVerifier,
    };
    const target = { signIn, policy, fetch: createGuardedFetch({ fetch: options.fetch, serverUrl }) };
    const defaults = { scope: pending.scope, requested_scope: pending.scope };
    await requestTokens(target, { discovered, clientInformation, parameters, defaults });
  } catch (error) {
    // The server no longer knows the client, which registers again at the next sign-in.
    if (oauthErrorCodeOf(error) === 'invalid_client') await signIn.invalidate('client');
    throw toOAuthError(
      error,
      'OAUTH_EXCHANGE_FAILED',
      `The sign-in at the authorization server of ${serverUrl.origin} could not be finished; sign in again`,
    );
  } finally {
    await signIn.invalidate('verifier');
  }
}
