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
  const first = JSON.stringify({
    access_token: accessToken,
    token_type: tokenType,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    ...(expiresIn !== undefined && { expires_in: expiresIn, expires_at: Math.floor(Date.now() / 1000) + expiresIn }),
    ...(scope !== undefined && { scope }),
  });
  return new MCPOAuthClientProvider({ ...options, storage: new FirstTokenStorage(first) });
}

/** Contains tokens before the provider is bound to a server. */
class FirstTokenStorage extends InMemoryOAuthStorage {
  #first: string | undefined;

  constructor(first: string) {
    super();
    this.#first = first;
  }

  override get(key: string): string | undefined {
    return super.get(key) ?? (key.startsWith('tokens') ? this.#first : undefined);
  }

  override set(key: string, value: string): void {
    if (key.startsWith('tokens')) this.#first = undefined;
    super.set(key, value);
  }

  override delete(key: string): void {
    if (key.startsWith('tokens')) this.#first = undefined;
    super.delete(key);
  }
}
