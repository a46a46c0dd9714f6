import { anyValue, checkOptions, type OptionChecks, invalidOptions } from '@quiver/core/internal';
import { oauthFetchChecks, toTarget, type OAuthFetchOptions } from './adopt-provider.js';
import { createOAuthCallbackServer } from './callback-server.js';
import { refreshTokens } from './request-tokens.js';
import { parseChallenge, sendWithToken, type ResponseHead } from './send-with-token.js';
import { beginAuthorization, finishAuthorization } from './sign-in.js';
import { fetchHead } from './with-authorization.js';

/** Options of `authenticate()`. */
export interface AuthenticateOptions extends OAuthFetchOptions {
  /** Scopes to request, even when the stored tokens are valid. Default: the scopes that the server names. */
  scope?: string;
  /** Milliseconds until the authorization response must arrive. Default 300 000. */
  timeout?: number;
}

const checks: OptionChecks<AuthenticateOptions> = { ...oauthFetchChecks, scope: anyValue, timeout: anyValue };

/**
 * Signs the user in, for terminal programs: listens on the provider's loopback redirect URL, shows the sign-in page, and stores the
 * tokens. Shows nothing while the server accepts the stored tokens, or they can be refreshed.
 *
 * @throws what {@link createOAuthCallbackServer} and {@link finishAuthorization} throw; `OAUTH_UNAVAILABLE`
 *
 * @example
 * const provider = createLoopbackProvider({ onRedirectToAuthorization: (page) => console.log(`Please visit ${page}`) });
 * await authenticate({ provider, serverUrl: 'https://mcp.example.com/mcp' });
 */
export async function authenticate(given: AuthenticateOptions): Promise<void> {
  checkOptions('authenticate', given, checks);
  const { scope, timeout, ...options } = given;
  const target = toTarget(options);
  const { signIn, policy, serverUrl } = target;
  const tokens = await signIn.tokens();
  if (scope === undefined && tokens?.refresh_token !== undefined && signIn.isExpired(tokens)) {
    if (await refreshTokens(target, (stored) => !signIn.isExpired(stored))) return;
  }
  const response = await probe(target);
  const challenge = response?.status === 401 ? parseChallenge(response, serverUrl) : undefined;
  if (scope === undefined && response && !challenge && (await signIn.hasValidTokens())) return;
  if (policy.redirectUrl === undefined) {
    throw invalidOptions('A provider without redirectUrl signs in without a user. Call the server instead.');
  }
  let page: URL | undefined;
  const callbackServer = await createOAuthCallbackServer({
    redirectUrl: policy.redirectUrl,
    // Until the page exists, a pending state is that of an earlier page, which this one is about to replace.
    state: async (received) => page !== undefined && (await signIn.pendingSignIn())?.state === received,
    ...(timeout !== undefined && { timeout }),
  });
  try {
    const { resourceMetadataUrl } = challenge ?? {};
    // Safe: a provider with a redirect URL signs in with a page.
    page = (await beginAuthorization({ ...target, resourceMetadataUrl }, scope ?? challenge?.scope)) as URL;
    await signIn.show(page);
    const callback = await callbackServer.waitForCode();
    await finishAuthorization({ provider: options.provider, serverUrl, callback, fetch: options.fetch });
  } catch (error) {
    // Otherwise calls would wait for the response of this sign-in for another half minute.
    await signIn.invalidate('verifier');
    throw error;
  } finally {
    await callbackServer.close();
  }
}

/** Sends a ping with the token. Only 401 counts: without a handshake some servers respond with 400. `undefined`: the server is unavailable. */
async function probe(target: ReturnType<typeof toTarget>): Promise<ResponseHead | undefined> {
  const { signIn, serverUrl: url, serverFetch } = target;
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    signal: AbortSignal.timeout(10_000),
  };
  const response = await sendWithToken<ResponseHead>(
    signIn,
    await signIn.tokens(),
    { url, method: 'POST' },
    (headers) => fetchHead(serverFetch, url, init, headers),
  ).catch(() => undefined);
  response?.discard();
  return response;
}
