import type { OAuthClientMetadata, StoredOAuthClientInformation } from '../../protocol/oauth-types.js';
import { MCPOAuthClientProvider } from './oauth-client-provider.js';
import { InMemoryOAuthStorage } from './oauth-storage.js';

export interface SimpleTokenProviderOptions {
  redirectUrl: string | URL;
  clientMetadata: OAuthClientMetadata;
  clientInformation?: StoredOAuthClientInformation;
  /** Default `Bearer`. */
  tokenType?: string;
  refreshToken?: string;
  /** Seconds until the token expires. */
  expiresIn?: number;
  scope?: string;
}

/** Returns a provider with a given token: for tests, and for tokens from other sources. */
export function createSimpleTokenProvider(
  accessToken: string,
  { tokenType = 'Bearer', refreshToken, expiresIn, scope, ...options }: SimpleTokenProviderOptions,
): MCPOAuthClientProvider {
  const tokens = JSON.stringify({
    access_token: accessToken,
    token_type: tokenType,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    ...(expiresIn !== undefined && { expires_in: expiresIn, expires_at: Math.floor(Date.now() / 1000) + expiresIn }),
    ...(scope !== undefined && { scope }),
  });
  const storage = new SingleTokenStorage();
  storage.set('tokens', tokens);
  return new MCPOAuthClientProvider({ ...options, storage });
}

/** Keeps the tokens under one key, because they are given before the server is known. */
class SingleTokenStorage extends InMemoryOAuthStorage {
  override get(key: string): string | undefined {
    return super.get(toSingleKey(key));
  }

  override set(key: string, value: string): void {
    super.set(toSingleKey(key), value);
  }

  override delete(key: string): void {
    super.delete(toSingleKey(key));
  }
}

function toSingleKey(key: string): string {
  return key.startsWith('tokens:') ? 'tokens' : key;
}
