import { explainAuthError } from './explain-auth-error.js';
import { createGuardedFetch, type Fetch } from './guarded-fetch.js';
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
 * @see [RFC 9207 – Authorization Server Issuer Identification](https://www.rfc-editor.org/rfc/rfc9207.html)
 */
export async function finishAuthorization({
  provider,
  serverUrl,
  callback,
  fetch = globalThis.fetch,
}: FinishAuthorizationOptions): Promise<void> {
  provider.bind(serverUrl);
  await provider.redeemState(callback.state);
  const { auth } = await import('../../protocol/sdk-auth.js');
  try {
    await auth(provider, {
      serverUrl,
      authorizationCode: callback.code,
      fetchFn: createGuardedFetch({ fetch, serverUrl: new URL(serverUrl) }),
      ...(callback.iss !== undefined && { iss: callback.iss }),
    });
  } catch (error) {
    throw explainAuthError(
      error,
      'OAUTH_EXCHANGE_FAILED',
      `The sign-in at the authorization server of ${new URL(serverUrl).origin} could not be finished; sign in again`,
    );
  } finally {
    await provider.invalidateCredentials('verifier');
  }
}
