import { setTimeout as sleep } from 'node:timers/promises';
import { QuiverError } from '@quiver/core';
import { discover } from './discover.js';
import { reasonOf } from './explain-auth-error.js';
import type { Fetch } from '../../fetch.js';
import { issuerOf } from './issuer-of.js';
import type { KeptTokens, MCPOAuthClientProvider } from './oauth-client-provider.js';

export interface RefreshOptions {
  readonly provider: MCPOAuthClientProvider;
  readonly serverUrl: URL;
  readonly tokens: KeptTokens;
  readonly fetch: Fetch;
  readonly resourceMetadataUrl?: URL | undefined;
}

/** Milliseconds before each further attempt while the authorization server is out of order. */
const pauses = [100, 400];

/**
 * Exchanges a refresh token, at the authorization server that issued it and nowhere else.
 *
 * @returns the new tokens, stored; `undefined` when the old ones are of no use and the user has to sign in
 * @throws `OAUTH_UNAVAILABLE` while the authorization server is out of order: the tokens are kept
 */
export async function refreshTokens(options: RefreshOptions): Promise<KeptTokens | undefined> {
  for (const pause of [...pauses, undefined]) {
    try {
      return await attempt(options);
    } catch (error) {
      // What the guard or the provider refused does not get better by itself.
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
  const { OAuthError, refreshAuthorization } = await import('../../protocol/sdk-auth.js');
  const known = await provider.discoveryState();
  const { skipIssuerMetadataValidation } = provider;
  const info = known ?? (await discover({ serverUrl, fetch, resourceMetadataUrl, skipIssuerMetadataValidation }));
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (!known) await provider.saveDiscoveryState(info);
  const issuer = issuerOf(info);
  if (tokens.refresh_token === undefined || (tokens.issuer !== undefined && tokens.issuer !== issuer)) return undefined;
  const clientInformation = await provider.clientInformation({ issuer });
  if (!clientInformation) return undefined;
  try {
    const fresh = await refreshAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation,
      refreshToken: tokens.refresh_token,
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
      ...(provider.addClientAuthentication && { addClientAuthentication: provider.addClientAuthentication }),
      fetchFn: fetch,
    });
    await provider.saveTokens(
      { ...(tokens.scope !== undefined && { scope: tokens.scope }), ...fresh, issuer },
      { issuer },
    );
    return await provider.tokens();
  } catch (error) {
    if (!(error instanceof OAuthError) || isOutage(error.code)) throw error;
    // invalid_grant, invalid_client and the like: this token will not work again.
    await provider.forgetTokens(tokens);
    if (error.code === 'invalid_client' || error.code === 'unauthorized_client')
      await provider.invalidateCredentials('client');
    return undefined;
  }
}

function isOutage(code: string): boolean {
  return code === 'server_error' || code === 'temporarily_unavailable' || code === 'too_many_requests';
}
