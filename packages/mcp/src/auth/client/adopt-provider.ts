import { getDefaultLogger } from '@quiver/core';
import { anyValue, functionValue, objectWith, type OptionChecks } from '@quiver/core/internal';
import type { Fetch } from '../../http/send.js';
import type {
  OAuthClientInformationContext as Context,
  OAuthClientProvider,
  StoredOAuthClientInformation,
} from '../../protocol/oauth-types.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { MCPOAuthClientProvider, requireClientMetadataUrl, signInOf } from './oauth-client-provider.js';
import { InMemoryOAuthStorage, StoredValues } from './oauth-storage.js';
import {
  SignIn,
  withExpiry,
  type AuthorizationTarget,
  type CredentialScope,
  type KeptTokens,
  type SignInPolicy,
  type SignInProvider,
} from './sign-in-state.js';

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

/** Adopts a provider and binds it to its server. */
export function toTarget(options: OAuthFetchOptions): AuthorizationTarget & { readonly serverFetch: Fetch } {
  const { fetch, serverFetch = fetch ?? globalThis.fetch } = options;
  const serverUrl = new URL(options.serverUrl);
  const signIn = adoptProvider(options.provider);
  signIn.bind(serverUrl);
  const { policy, provider } = signIn;
  const guarded = createGuardedFetch({ fetch, serverFetch, serverUrl });
  return { signIn, policy, provider, serverUrl, serverFetch, fetch: guarded };
}

/** Sign-ins of providers for the official SDK, so that all uses of one share its pending page. An entry dies with its key. */
const adopted = new WeakMap<OAuthClientProvider, SignIn>();

/** Returns the sign-in of a provider. One for the official SDK keeps tokens, registration and verifier; the rest is kept in memory. */
export function adoptProvider(provider: OAuthClientProvider): SignIn {
  if (provider instanceof MCPOAuthClientProvider) return signInOf(provider);
  const signIn = adopted.get(provider) ?? new AdoptedProvider(provider).signIn;
  adopted.set(provider, signIn);
  return signIn;
}

/** A provider for the official SDK, as the steps of a sign-in need it. */
class AdoptedProvider implements SignInProvider {
  readonly signIn: SignIn;
  readonly #inner: OAuthClientProvider;
  /** Issuer of the tokens, for providers that do not store it: no other server receives the refresh token. */
  #tokenIssuer: string | undefined;

  constructor(inner: OAuthClientProvider) {
    const { redirectUrl, clientMetadata, clientMetadataUrl } = inner;
    const policy: SignInPolicy = {
      clientMetadata,
      onRedirectToAuthorization: (page) => inner.redirectToAuthorization(page),
      ...(redirectUrl !== undefined && { redirectUrl }),
      ...(clientMetadataUrl !== undefined && { clientMetadataUrl: requireClientMetadataUrl(clientMetadataUrl) }),
      ...(inner.state && { stateGenerator: () => inner.state?.() ?? '' }),
      ...(inner.addClientAuthentication && { addClientAuthentication: inner.addClientAuthentication.bind(inner) }),
      ...(inner.prepareTokenRequest && {
        tokenRequest: async ({ scope }) => (await inner.prepareTokenRequest?.(scope)) ?? new URLSearchParams(),
      }),
    };
    this.#inner = inner;
    this.signIn = new SignIn(policy, this, new StoredValues(new InMemoryOAuthStorage(), getDefaultLogger()));
  }

  /** A registration without an issuer is used at every server, as in the SDK. */
  async clientInformation(context?: Context): Promise<StoredOAuthClientInformation | undefined> {
    const information = await this.#inner.clientInformation(context);
    const isForeign = context !== undefined && (information?.issuer ?? context.issuer) !== context.issuer;
    return isForeign ? undefined : information;
  }

  async saveClientInformation(information: StoredOAuthClientInformation, context?: Context): Promise<void> {
    await this.#inner.saveClientInformation?.(information, context);
  }

  async tokens(context?: Context): Promise<KeptTokens | undefined> {
    const tokens = await this.#inner.tokens(context);
    const issuer = tokens?.issuer ?? this.#tokenIssuer;
    return tokens && { ...tokens, ...(issuer !== undefined && { issuer }) };
  }

  async saveTokens(tokens: KeptTokens, context?: Context): Promise<void> {
    await this.#inner.saveTokens(withExpiry(tokens, this.signIn.now()), context);
    this.#tokenIssuer = tokens.issuer;
  }

  async saveCodeVerifier(codeVerifier: string): Promise<void> {
    await this.#inner.saveCodeVerifier(codeVerifier);
  }

  async codeVerifier(): Promise<string> {
    return this.#inner.codeVerifier();
  }

  redirectToAuthorization(page: URL): Promise<void> {
    return this.signIn.showPage(page);
  }

  async invalidateCredentials(scope: CredentialScope): Promise<void> {
    await this.signIn.deleteValues(scope);
    await this.#inner.invalidateCredentials?.(scope);
  }
}
