import { anyValue, functionValue, objectWith, type OptionChecks } from '@quiver/core/internal';
import type { Fetch } from '../../http/send.js';
import type {
  OAuthClientInformationContext as Context,
  OAuthClientProvider,
  StoredOAuthClientInformation,
} from '../../protocol/oauth-types.js';
import { createGuardedFetch } from './guarded-fetch.js';
import {
  MCPOAuthClientProvider,
  type AuthorizationTarget,
  type CredentialScope,
  type KeptTokens,
} from './oauth-client-provider.js';

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
  const provider = adoptProvider(options.provider);
  provider.bind(serverUrl);
  return { provider, serverUrl, serverFetch, fetch: createGuardedFetch({ fetch, serverFetch, serverUrl }) };
}

/** Adopted providers by the provider of the application, so that all uses of one share its pending sign-in. An entry dies with its key. */
const adopted = new WeakMap<OAuthClientProvider, AdoptedProvider>();

/** Returns a provider for the official SDK as one of ours. It keeps tokens, registration and verifier; the rest is kept in memory. */
export function adoptProvider(provider: OAuthClientProvider): MCPOAuthClientProvider {
  if (provider instanceof MCPOAuthClientProvider) return provider;
  const known = adopted.get(provider);
  if (known) return known;
  const adoptedProvider = new AdoptedProvider(provider);
  adopted.set(provider, adoptedProvider);
  return adoptedProvider;
}

class AdoptedProvider extends MCPOAuthClientProvider {
  readonly #inner: OAuthClientProvider;
  /** Issuer of the tokens, for providers that do not store it: no other server receives the refresh token. */
  #tokenIssuer: string | undefined;

  constructor(inner: OAuthClientProvider) {
    const { redirectUrl, clientMetadata, clientMetadataUrl } = inner;
    super({
      clientMetadata,
      onRedirectToAuthorization: (url) => inner.redirectToAuthorization(url),
      ...(redirectUrl !== undefined && { redirectUrl }),
      ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
      ...(inner.state && { stateGenerator: () => inner.state?.() ?? '' }),
      ...(inner.addClientAuthentication && { addClientAuthentication: inner.addClientAuthentication.bind(inner) }),
      ...(inner.prepareTokenRequest && {
        tokenRequest: async ({ scope }) => (await inner.prepareTokenRequest?.(scope)) ?? new URLSearchParams(),
      }),
    });
    this.#inner = inner;
  }

  /** A registration without an issuer is used at every server, as in the SDK. */
  override async clientInformation(context?: Context): Promise<StoredOAuthClientInformation | undefined> {
    const information = await this.#inner.clientInformation(context);
    const isForeign = context !== undefined && (information?.issuer ?? context.issuer) !== context.issuer;
    return isForeign ? undefined : information;
  }

  override async saveClientInformation(information: StoredOAuthClientInformation, context?: Context): Promise<void> {
    await this.#inner.saveClientInformation?.(information, context);
  }

  override async tokens(context?: Context): Promise<KeptTokens | undefined> {
    const tokens = await this.#inner.tokens(context);
    const issuer = tokens?.issuer ?? this.#tokenIssuer;
    return tokens && { ...tokens, ...(issuer !== undefined && { issuer }) };
  }

  override async saveTokens(tokens: KeptTokens, context?: Context): Promise<void> {
    await this.#inner.saveTokens(this.withExpiry(tokens), context);
    this.#tokenIssuer = tokens.issuer;
  }

  override async saveCodeVerifier(codeVerifier: string): Promise<void> {
    await this.#inner.saveCodeVerifier(codeVerifier);
  }

  override async codeVerifier(): Promise<string> {
    return this.#inner.codeVerifier();
  }

  override async invalidateCredentials(scope: CredentialScope): Promise<void> {
    await super.invalidateCredentials(scope);
    await this.#inner.invalidateCredentials?.(scope);
  }
}
