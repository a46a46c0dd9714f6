import { setTimeout as sleep } from 'node:timers/promises';
import { QuiverError } from '@quiver/core';
import type { Fetch } from '../../fetch.js';
import { discover, issuerOf } from './discover.js';
import type { KeptTokens, MCPOAuthClientProvider } from './oauth-client-provider.js';
import { oauthErrorCodeOf, reasonOf } from './oauth-error.js';
import { requestTokens } from './request-tokens.js';

export interface RefreshOptions {
  readonly provider: MCPOAuthClientProvider;
  readonly serverUrl: URL;
  readonly tokens: KeptTokens;
  readonly fetch: Fetch;
  readonly resourceMetadataUrl?: URL | undefined;
}

/** Milliseconds before each further attempt while the authorization server is unavailable. */
const pauses = [100, 400];

/**
 * Exchanges a refresh token at the authorization server that issued it and nowhere else.
 *
 * @returns the new tokens, stored; `undefined` when the old ones are useless and the user has to sign in
 * @throws `OAUTH_UNAVAILABLE` while the authorization server is unavailable: the tokens are kept
 */
export async function refreshTokens(options: RefreshOptions): Promise<KeptTokens | undefined> {
  for (const pause of [...pauses, undefined]) {
    try {
      return await attempt(options);
    } catch (error) {
      // Another attempt does not change a rejection of the guard or the provider.
      if (error instanceof QuiverError && error.code !== 'OAUTH_UNAVAILABLE') throw error;
      if (pause === undefined) {
        throw new QuiverError(
          'OAUTH_UNAVAILABLE',
          `The authorization server of ${options.serverUrl.origin} did not refresh the token (${reasonOf(error)}). The sign-in is kept; try again later.`,
        );
      }
      await sleep(pause);
    }
  }
  return undefined;
}

async function attempt({
  provider,
  serverUrl,
  tokens,
  fetch,
  resourceMetadataUrl,
}: RefreshOptions): Promise<KeptTokens | undefined> {
  const known = await provider.discoveryState();
  const { skipIssuerMetadataValidation } = provider;
  const discovered = known ?? (await discover({ serverUrl, fetch, resourceMetadataUrl, skipIssuerMetadataValidation }));
  if (!known) await provider.saveDiscoveryState(discovered);
  const issuer = issuerOf(discovered);
  const { refresh_token: refreshToken } = tokens;
  if (refreshToken === undefined || (tokens.issuer !== undefined && tokens.issuer !== issuer)) return undefined;
  const clientInformation = await provider.clientInformation({ issuer });
  if (!clientInformation) return undefined;
  try {
    const request = { provider, discovered, clientInformation, fetch };
    const fresh = await requestTokens(request, { type: 'refresh', refreshToken });
    const { scope } = tokens;
    await provider.saveTokens(
      {
        // RFC 6749, section 6: without a new refresh token or scope, the old ones remain valid.
        refresh_token: refreshToken,
        ...(scope !== undefined && { scope }),
        ...fresh,
        issuer,
      },
      { issuer },
    );
    return await provider.tokens();
  } catch (error) {
    const code = oauthErrorCodeOf(error);
    if (code === undefined || isOutage(code)) throw error;
    // invalid_grant, invalid_client and the like: this token will not work again.
    await provider.forgetTokens(tokens);
    if (code === 'invalid_client' || code === 'unauthorized_client') await provider.invalidateCredentials('client');
    return undefined;
  }
}

function isOutage(code: string): boolean {
  return code === 'server_error' || code === 'temporarily_unavailable' || code === 'too_many_requests';
}
