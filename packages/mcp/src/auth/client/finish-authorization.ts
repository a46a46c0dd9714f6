import { QuiverError } from '@quiver/core';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import type { Fetch } from '../../fetch.js';
import { adoptProvider } from './adopt-provider.js';
import { issuerOf } from './discover.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { oauthErrorCodeOf, toOAuthError } from './oauth-error.js';
import { requestTokens, toAuthorizationServer } from './request-tokens.js';

/** Parameters of the authorization response. */
export interface AuthorizationCallback {
  code: string;
  state: string | undefined;
  /** Issuer of the response, where the server sends it. */
  iss?: string;
}

export interface FinishAuthorizationOptions {
  /** An `MCPOAuthClientProvider`, or a provider for the official SDK. */
  provider: OAuthClientProvider;
  serverUrl: string | URL;
  callback: AuthorizationCallback;
  fetch?: Fetch;
}

/**
 * Exchanges the code of a sign-in for tokens. A state is accepted once, and the issuer must be the one that the page belongs to.
 *
 * @throws `OAUTH_STATE_INVALID`; `OAUTH_EXCHANGE_FAILED` when the authorization server rejects the code
 * @see [RFC 9700, section 4.4 – Mix-Up Attacks](https://www.rfc-editor.org/rfc/rfc9700.html#section-4.4)
 * @see [RFC 9207 – Authorization Server Issuer Identification](https://www.rfc-editor.org/rfc/rfc9207.html)
 */
export async function finishAuthorization({
  provider: given,
  serverUrl,
  callback,
  fetch,
}: FinishAuthorizationOptions): Promise<void> {
  const provider = adoptProvider(given);
  await provider.bindForAnswer(serverUrl);
  const shownIssuer = await provider.redeemState(callback.state);
  try {
    // The server whose page was shown, even if the MCP server names another one by now.
    const discovered = await provider.discoveryState();
    const issuer = discovered && issuerOf(discovered);
    const clientInformation = issuer === undefined ? undefined : await provider.clientInformation({ issuer });
    if (!discovered || issuer === undefined || !clientInformation) {
      throw new QuiverError(
        'OAUTH_VERIFIER_MISSING',
        'No sign-in has begun with this storage. Begin one, then finish it.',
      );
    }
    if (shownIssuer !== undefined && shownIssuer !== issuer) {
      // Another sign-in has begun meanwhile, elsewhere: its server must not get the code of this one.
      throw new QuiverError(
        'OAUTH_STATE_INVALID',
        `The sign-in began at ${shownIssuer}, but the MCP server has named ${issuer} since. Sign in again.`,
      );
    }
    const library = await import('oauth4webapi');
    const { code, iss } = callback;
    // redeemState() has compared the state.
    const validated = library.validateAuthResponse(
      toAuthorizationServer(discovered),
      { client_id: clientInformation.client_id },
      new URLSearchParams({ code, ...(iss !== undefined && { iss }) }),
      library.skipStateCheck,
    );
    const tokens = await requestTokens(
      { provider, discovered, clientInformation, fetch: createGuardedFetch({ fetch, serverUrl: new URL(serverUrl) }) },
      { type: 'code', callback: validated, codeVerifier: await provider.codeVerifier() },
    );
    // RFC 6749, section 5.1: without a scope in the response, the requested one was granted.
    const scope = await provider.requestedScope();
    await provider.saveTokens(
      { ...(scope !== undefined && { scope, requested_scope: scope }), ...tokens, issuer },
      { issuer },
    );
  } catch (error) {
    // The server no longer knows the client, which registers again at the next sign-in.
    if (oauthErrorCodeOf(error) === 'invalid_client') await provider.invalidateCredentials('client');
    throw toOAuthError(
      error,
      'OAUTH_EXCHANGE_FAILED',
      `The sign-in at the authorization server of ${new URL(serverUrl).origin} could not be finished; sign in again`,
    );
  } finally {
    await provider.invalidateCredentials('verifier');
  }
}
