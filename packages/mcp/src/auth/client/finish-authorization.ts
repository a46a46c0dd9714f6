import { QuiverError } from '@quiver/core';
import { explainAuthError } from './explain-auth-error.js';
import type { Fetch } from '../../fetch.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { issuerOf } from './issuer-of.js';
import type { MCPOAuthClientProvider } from './oauth-client-provider.js';

/** What the authorization server sent the user back with. */
export interface AuthorizationCallback {
  code: string;
  state: string | undefined;
  /** Who answered, where the server says it. */
  iss?: string;
}

export interface FinishAuthorizationOptions {
  provider: MCPOAuthClientProvider;
  serverUrl: string | URL;
  callback: AuthorizationCallback;
  fetch?: Fetch;
}

/**
 * Exchanges the code of a sign-in for tokens. The state is accepted once, the issuer must be the one that was asked.
 *
 * @throws `OAUTH_STATE_INVALID`; `OAUTH_EXCHANGE_FAILED` when the authorization server refuses the code
 * @see [RFC 9700, section 4.4 – Mix-Up Attacks](https://www.rfc-editor.org/rfc/rfc9700.html#section-4.4)
 * @see [RFC 9207 – Authorization Server Issuer Identification](https://www.rfc-editor.org/rfc/rfc9207.html)
 */
export async function finishAuthorization({
  provider,
  serverUrl,
  callback,
  fetch,
}: FinishAuthorizationOptions): Promise<void> {
  await provider.bindForAnswer(serverUrl);
  const shown = await provider.redeemState(callback.state);
  const { exchangeAuthorization, OAuthError } = await import('../../protocol/sdk-auth.js');
  try {
    // The server that was asked, whatever the MCP server says by now.
    const asked = await provider.discoveryState();
    const issuer = asked && issuerOf(asked);
    const clientInformation = issuer === undefined ? undefined : await provider.clientInformation({ issuer });
    if (!asked || issuer === undefined || !clientInformation) {
      throw new QuiverError(
        'OAUTH_VERIFIER_MISSING',
        'No sign-in has begun with this storage. Begin one, then finish it.',
      );
    }
    if (shown !== undefined && shown !== issuer) {
      // Another sign-in has begun meanwhile, elsewhere: its server must not get the code of this one.
      throw new QuiverError(
        'OAUTH_STATE_INVALID',
        `The sign-in began at ${shown}, but the MCP server has named ${issuer} since. Sign in again.`,
      );
    }
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = asked;
    const tokens = await exchangeAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation,
      authorizationCode: callback.code,
      codeVerifier: await provider.codeVerifier(),
      redirectUri: provider.redirectUrl ?? '',
      ...(callback.iss !== undefined && { iss: callback.iss }),
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
      ...(provider.addClientAuthentication && { addClientAuthentication: provider.addClientAuthentication }),
      fetchFn: createGuardedFetch({ fetch, serverUrl: new URL(serverUrl) }),
    });
    // Without a scope in the answer, what was asked for was granted (RFC 6749, section 5.1).
    const scope = await provider.requestedScope();
    await provider.saveTokens(
      { ...(scope !== undefined && { scope, requested_scope: scope }), ...tokens, issuer },
      { issuer },
    );
  } catch (error) {
    // The server has forgotten the client, which registers again when the user tries again.
    if (error instanceof OAuthError && error.code === 'invalid_client') await provider.invalidateCredentials('client');
    throw explainAuthError(
      error,
      'OAUTH_EXCHANGE_FAILED',
      `The sign-in at the authorization server of ${new URL(serverUrl).origin} could not be finished; sign in again`,
    );
  } finally {
    await provider.invalidateCredentials('verifier');
  }
}
