import { getDefaultLogger } from '@quiver/core';
import {
  booleanValue,
  checkOptions,
  functionValue,
  invalidOptions,
  loggerValue,
  type OptionChecks,
  unchecked,
} from '@quiver/core/internal';
import type {
  AddClientAuthentication,
  OAuthClientInformationContext as Context,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '../../protocol/oauth-types.js';
import { InMemoryOAuthStorage, storageValue, StoredValues } from './oauth-storage.js';
import {
  SignIn,
  verifierMissing,
  withExpiry,
  type CredentialScope,
  type KeptTokens,
  type MCPOAuthClientProviderOptions,
} from './sign-in-state.js';

export const providerChecks: OptionChecks<MCPOAuthClientProviderOptions> = {
  ...unchecked<MCPOAuthClientProviderOptions>()('redirectUrl', 'clientMetadata'),
  ...unchecked<MCPOAuthClientProviderOptions>()('clientInformation', 'clientMetadataUrl'),
  storage: storageValue,
  onRedirectToAuthorization: functionValue,
  stateGenerator: functionValue,
  tokenRequest: functionValue,
  addClientAuthentication: functionValue,
  skipIssuerMetadataValidation: booleanValue,
  dpop: booleanValue,
  logger: loggerValue,
  now: functionValue,
};

/** Returns the state of a provider, for the steps of a sign-in. Programs cannot reach it: only the class reads the private member. */
export let signInOf: (provider: MCPOAuthClientProvider) => SignIn;

/**
 * Signs a client in to one MCP server: stores its tokens and registration, and shows the sign-in page. Pass it as `authProvider`.
 * Registrations are stored per authorization server and never sent to another. Printing the object shows no secrets.
 *
 * @example
 * const authProvider = new MCPOAuthClientProvider({
 *   redirectUrl: 'http://localhost:3000/oauth/callback',
 *   clientMetadata: { redirect_uris: ['http://localhost:3000/oauth/callback'], client_name: 'My client' },
 *   onRedirectToAuthorization: (url) => console.log(`Please visit: ${url}`),
 * });
 */
export class MCPOAuthClientProvider implements OAuthClientProvider {
  readonly redirectUrl: string | URL | undefined;
  readonly clientMetadata: OAuthClientMetadata;
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly clientMetadataUrl?: string;
  /** The token request of a client without users, for transports of the SDK. */
  readonly prepareTokenRequest?: (scope?: string) => Promise<URLSearchParams>;
  readonly #signIn: SignIn;

  static {
    signInOf = (provider) => provider.#signIn;
  }

  /**
   * @param isPageLeftToAuthenticate - whether only `authenticate()` shows the sign-in page
   * @throws `OPTIONS_INVALID`
   */
  constructor(options: MCPOAuthClientProviderOptions, isPageLeftToAuthenticate: boolean = false) {
    checkOptions('MCPOAuthClientProvider', options, providerChecks);
    const { storage = new InMemoryOAuthStorage(), logger = getDefaultLogger() } = options;
    const { redirectUrl, clientMetadata, clientMetadataUrl, addClientAuthentication } = options;
    this.redirectUrl = redirectUrl;
    this.clientMetadata = clientMetadata;
    // Present only when given: their presence disables the SDK's own behavior.
    if (addClientAuthentication) this.addClientAuthentication = addClientAuthentication;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = requireClientMetadataUrl(clientMetadataUrl);
    this.#signIn = new SignIn({ ...options, isPageLeftToAuthenticate }, this, new StoredValues(storage, logger));
    if (redirectUrl !== undefined) return;
    this.prepareTokenRequest = async (scope) => this.#signIn.tokenRequest(await this.discoveryState(), scope);
  }

  /** Binds the provider to a server, so that its tokens are sent to no other. @throws `OAUTH_PROVIDER_SHARED` */
  bind(serverUrl: string | URL): void {
    this.#signIn.bind(serverUrl);
  }

  /** Begins a sign-in, for transports of the SDK. */
  state(): Promise<string> {
    return this.#signIn.begin();
  }

  /** @throws `OAUTH_URL_INSECURE` without opening anything; `OAUTH_SIGN_IN_FAILED` when `onRedirectToAuthorization` fails */
  redirectToAuthorization(url: URL): Promise<void> {
    return this.#signIn.showPage(url);
  }

  async saveCodeVerifier(codeVerifier: string): Promise<void> {
    await this.#signIn.values.write('code_verifier', { codeVerifier });
  }

  /** @throws `OAUTH_VERIFIER_MISSING` when no sign-in has begun */
  async codeVerifier(): Promise<string> {
    const verifier = (await this.#signIn.values.read('code_verifier'))?.['codeVerifier'];
    if (typeof verifier === 'string') return verifier;
    throw verifierMissing();
  }

  /** Returns the registration at an authorization server. Without `context`, it is the newest one. */
  async clientInformation(context?: Context): Promise<StoredOAuthClientInformation | undefined> {
    const { clientInformation: given } = this.#signIn.policy;
    if (given && !context) return given;
    if (given && context) {
      const issuer = given.issuer ?? (await this.#issuerOfGiven(context.issuer));
      if (issuer === context.issuer) return { ...given, issuer };
      // Its secret, key or JWT must not accompany a registration that another client has stored for another server.
      if (this.redirectUrl === undefined) return undefined;
    }
    const stored = await this.#signIn.values.read('client_info', context?.issuer);
    return typeof stored?.['client_id'] === 'string' ? (stored as StoredOAuthClientInformation) : undefined;
  }

  /** Returns the first authorization server that the given registration was used at. */
  async #issuerOfGiven(issuer: string): Promise<string> {
    const bound = (await this.#signIn.values.read('client_issuer'))?.['issuer'];
    if (typeof bound === 'string') return bound;
    await this.#signIn.values.write('client_issuer', { issuer });
    return issuer;
  }

  async saveClientInformation(information: StoredOAuthClientInformation, context?: Context): Promise<void> {
    if (context) await this.#signIn.values.write('client_info', information, context.issuer);
    await this.#signIn.values.write('client_info', information);
  }

  async tokens(context?: Context): Promise<KeptTokens | undefined> {
    const stored = await this.#signIn.values.read('tokens');
    if (typeof stored?.['access_token'] !== 'string' || typeof stored['token_type'] !== 'string') return undefined;
    const tokens = stored as unknown as KeptTokens;
    return context && (tokens.issuer ?? context.issuer) !== context.issuer ? undefined : tokens;
  }

  /** @throws `OAUTH_TOKEN_TYPE_UNSUPPORTED` for tokens that are neither Bearer nor DPoP tokens */
  async saveTokens(tokens: KeptTokens): Promise<void> {
    await this.#signIn.values.write('tokens', withExpiry(tokens, this.#signIn.now()));
  }

  /** Whether there is an access token that has not expired. */
  hasValidTokens(): Promise<boolean> {
    return this.#signIn.hasValidTokens();
  }

  /** @throws `OAUTH_PKCE_UNSUPPORTED`, `OAUTH_URL_INSECURE` for a server that could not be used safely */
  saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    return this.#signIn.saveDiscoveryState(state);
  }

  discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return this.#signIn.discoveryState();
  }

  invalidateCredentials(scope: CredentialScope): Promise<void> {
    return this.#signIn.deleteValues(scope);
  }

  /** Signs out locally: deletes tokens, registration and a pending sign-in. */
  clear(): Promise<void> {
    return this.invalidateCredentials('all');
  }
}

/** @see [OAuth Client ID Metadata Document, section 3](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-3) */
export function requireClientMetadataUrl(url: string): string {
  const { protocol, pathname, username, hash } = URL.canParse(url) ? new URL(url) : ({} as Partial<URL>);
  if (protocol === 'https:' && pathname !== '/' && username === '' && hash === '') return url;
  throw invalidOptions(
    'clientMetadataUrl must be an https URL with a path and without a fragment, such as https://app.example.com/client.json.',
  );
}
