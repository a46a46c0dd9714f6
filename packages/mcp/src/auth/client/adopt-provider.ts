import { getDefaultLogger } from '@quiver/core';
import { anyValue, functionValue, objectWith, type OptionChecks } from '@quiver/core/internal';
import { defined } from '../../defined.js';
import type { Fetch } from '../../http/send.js';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { MCPOAuthClientProvider, requireClientMetadataUrl, signInOf } from './oauth-client-provider.js';
import { InMemoryOAuthStorage, StoredValues } from './oauth-storage.js';
import { SignIn, type AuthorizationTarget, type SignInPolicy, type TokenRequestContext } from './sign-in-state.js';

/** Options of `createOAuthFetch()`. */
export interface OAuthFetchOptions {
  /** An `MCPOAuthClientProvider`, or a provider for the official SDK. */
  provider: OAuthClientProvider;
  /** The MCP server. Its tokens are sent to its origin only. */
  serverUrl: string | URL;
  /** Sends all requests. Default: the global `fetch`; requests to authorization servers check the address that they connect to. */
  fetch?: Fetch | undefined;
  /** Sends the requests to the MCP server, where that differs. */
  serverFetch?: Fetch | undefined;
}

export const oauthFetchChecks: OptionChecks<OAuthFetchOptions> = {
  provider: objectWith('a provider of OAuth, such as createLoopbackProvider()', 'tokens', 'saveTokens'),
  serverUrl: anyValue,
  fetch: functionValue,
  serverFetch: functionValue,
};

export function toTarget(options: OAuthFetchOptions): AuthorizationTarget & { readonly serverFetch: Fetch } {
  const { fetch, serverFetch = fetch ?? globalThis.fetch } = options;
  const serverUrl = new URL(options.serverUrl);
  const signIn = adoptProvider(options.provider);
  signIn.bind(serverUrl);
  const guarded = createGuardedFetch({ fetch, serverFetch, serverUrl });
  return { signIn, policy: signIn.policy, serverUrl, serverFetch, fetch: guarded };
}

/** Sign-ins of providers for the official SDK, so that all uses of one share its pending page. An entry dies with its key. */
const adopted = new WeakMap<OAuthClientProvider, SignIn>();

/** Returns the sign-in of a provider. One for the official SDK keeps tokens, registration and verifier; the rest is kept in memory. */
export function adoptProvider(provider: OAuthClientProvider): SignIn {
  if (provider instanceof MCPOAuthClientProvider) return signInOf(provider);
  const signIn = adopted.get(provider) ?? createSignIn(provider);
  adopted.set(provider, signIn);
  return signIn;
}

function createSignIn(provider: OAuthClientProvider): SignIn {
  const { redirectUrl, clientMetadata, clientMetadataUrl } = provider;
  const policy: SignInPolicy = defined({
    isAdopted: true,
    clientMetadata,
    redirectUrl,
    clientMetadataUrl: clientMetadataUrl === undefined ? undefined : requireClientMetadataUrl(clientMetadataUrl),
    // The methods are those of the time of the call, and a provider without a user may have none for a page.
    onRedirectToAuthorization: (page: URL) => provider.redirectToAuthorization(page),
    stateGenerator: provider.state && (() => provider.state?.() ?? ''),
    addClientAuthentication: provider.addClientAuthentication?.bind(provider),
    tokenRequest:
      provider.prepareTokenRequest &&
      (async ({ scope }: TokenRequestContext) =>
        (await provider.prepareTokenRequest?.(scope)) ?? new URLSearchParams()),
  });
  return new SignIn(policy, provider, new StoredValues(new InMemoryOAuthStorage(), getDefaultLogger()));
}
