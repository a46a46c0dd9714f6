import { checkOptions, type OptionChecks, unchecked } from '@quiver/core/internal';
import type { OAuthClientMetadata, StoredOAuthClientInformation } from '../../protocol/oauth-types.js';
import { MCPOAuthClientProvider } from './oauth-client-provider.js';
import type { OAuthStorage } from './oauth-storage.js';

/** Options of `createSimpleTokenProvider()`. */
export interface SimpleTokenProviderOptions {
  /** Redirect URI of the registration. */
  redirectUrl: string | URL;
  /** Metadata of the client, for a refresh. */
  clientMetadata: OAuthClientMetadata;
  /** Registration of the client, for a refresh. */
  clientInformation?: StoredOAuthClientInformation;
  /** Default `Bearer`. */
  tokenType?: string;
  /** Refresh token that replaces an expired access token. */
  refreshToken?: string;
  /** Seconds until the token expires. */
  expiresIn?: number;
  /** Scopes of the token, separated by spaces. */
  scope?: string;
}

const checks: OptionChecks<SimpleTokenProviderOptions> = {
  ...unchecked<SimpleTokenProviderOptions>()('redirectUrl', 'clientMetadata', 'clientInformation'),
  ...unchecked<SimpleTokenProviderOptions>()('tokenType', 'refreshToken', 'expiresIn', 'scope'),
};

/** Returns a provider with a given token: for tests, and for tokens from other sources. */
export function createSimpleTokenProvider(
  accessToken: string,
  given: SimpleTokenProviderOptions,
): MCPOAuthClientProvider {
  checkOptions('createSimpleTokenProvider', given, checks);
  const { tokenType = 'Bearer', refreshToken, expiresIn, scope, ...options } = given;
  const tokens = JSON.stringify({
    access_token: accessToken,
    token_type: tokenType,
    refresh_token: refreshToken,
    expires_in: expiresIn,
    expires_at: expiresIn && Math.floor(Date.now() / 1000) + expiresIn,
    scope,
    // The refresh token is sent to this server only.
    issuer: options.clientInformation?.issuer,
  });
  // Under one key for every server, because the tokens are given before the server is known.
  const values = new Map([['tokens', tokens]]);
  const keyOf = (key: string): string => (key.startsWith('tokens:') ? 'tokens' : key);
  const storage: OAuthStorage = {
    get: (key) => values.get(keyOf(key)),
    set: (key, value) => void values.set(keyOf(key), value),
    delete: (key) => void values.delete(keyOf(key)),
  };
  return new MCPOAuthClientProvider({ ...options, storage });
}
