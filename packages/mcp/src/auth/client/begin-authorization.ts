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
  const { auth } = await import('../../protocol/sdk-auth.js');
  // What was discovered earlier may be what is wrong.
  await provider.invalidateCredentials('discovery');
  try {
    const result = await auth(provider, {
      serverUrl,
      fetchFn: fetch,
      forceReauthorization: true,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    });
    return result === 'AUTHORIZED';
  } catch (error) {
    throw explainAuthError(error, 'OAUTH_SIGN_IN_FAILED', `Signing in to MCP server ${serverUrl.origin} failed`);
  }
}
