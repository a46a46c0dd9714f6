import { randomUUID } from 'node:crypto';
import { getDefaultLogger, QuiverError, type Logger } from '@quiver/core';
import type { DPoPHandle } from 'oauth4webapi';
import type {
  AddClientAuthentication,
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '../../protocol/oauth-types.js';
import { requireSecureUrl } from '../secure-url.js';
import { ClientRegistrations } from './client-registrations.js';
import { issuerOf, requireUsableServer } from './discover.js';
import { DPoPKey, supportsDPoP } from './dpop-key.js';
import { InMemoryOAuthStorage, type OAuthStorage } from './oauth-storage.js';
import { PendingSignIn } from './pending-sign-in.js';
import { StoredValues } from './stored-values.js';

export interface MCPOAuthClientProviderOptions {
  /** Redirect URL of the authorization response. Absent only for clients without a user. */
  redirectUrl?: string | URL;
  /** Description of the client for registration. */
  clientMetadata: OAuthClientMetadata;
  /**
   * Registration of a client that is registered already. It is sent to its `issuer` only; without one, to the first authorization
   * server that it is used at.
   */
  clientInformation?: StoredOAuthClientInformation;
  /** URL (https) of the client's published description. Used instead of registration, where a server supports it. */
  clientMetadataUrl?: string;
  /** Default: memory. */
  storage?: OAuthStorage;
  /** Shows the sign-in page to the user. Default: the URL is logged. */
  onRedirectToAuthorization?: (url: URL) => void | Promise<void>;
  /** Creates the value that binds the authorization response to the request. Default: a random UUID. */
  stateGenerator?: () => string | Promise<string>;
  /** Creates the token request of a client without a user. Default: the client credentials grant. */
  tokenRequest?: (context: TokenRequestContext) => URLSearchParams | Promise<URLSearchParams>;
  /** Replaces the client authentication at the token endpoint. */
  addClientAuthentication?: AddClientAuthentication;
  /**
   * Accepts an authorization server whose metadata names another issuer than expected. It weakens the protection against mix-up
   * attacks: use it only for a server that you trust and that is configured wrongly. Default `false`.
   */
  skipIssuerMetadataValidation?: boolean;
  /**
   * Binds tokens to a key of this client, if the authorization server supports DPoP with ES256. A stolen token is then useless without
   * the key, which is kept in the storage. Default `false`.
   */
  dpop?: boolean;
  logger?: Logger;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Context of a token request. */
export interface TokenRequestContext {
  /** The authorization server. */
  readonly issuer: string;
  /** Resource identifier of the MCP server. */
  readonly resource: string | undefined;
  readonly scope: string | undefined;
}

/** Stored tokens: with the time at which they expire, in seconds since 1970, and the requested scope. */
export type KeptTokens = StoredOAuthTokens & { expires_at?: number; requested_scope?: string };

export type CredentialScope = 'all' | 'client' | 'tokens' | 'verifier' | 'discovery';

/**
 * Signs a client in to one MCP server: stores its tokens and registration, and shows the sign-in page. Pass it as `authProvider`.
 *
 * Registrations are stored per authorization server and never sent to another. Neither tokens nor secrets appear when the object is
 * printed.
 *
 * @example
 * const authProvider = new MCPOAuthClientProvider({
 *   redirectUrl: 'http://localhost:3000/oauth/callback',
 *   clientMetadata: { redirect_uris: ['http://localhost:3000/oauth/callback'], client_name: 'My client' },
 *   onRedirectToAuthorization: (url) => console.log(`Please visit: ${url}`),
 * });
 */
export class MCPOAuthClientProvider implements OAuthClientProvider {
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly clientMetadataUrl?: string;
  /** The token request of a client without users. */
  readonly prepareTokenRequest?: (scope?: string) => Promise<URLSearchParams>;
  readonly #options: MCPOAuthClientProviderOptions;
  readonly #values: StoredValues;
  readonly #storage: OAuthStorage;
  readonly #now: () => number;
  readonly #signIn: PendingSignIn;
  readonly #registrations: ClientRegistrations;
  readonly #dpopKey: DPoPKey;
  #serverUrl: string | undefined;

  /** @throws `OAUTH_CLIENT_METADATA_URL_INVALID` */
  constructor(options: MCPOAuthClientProviderOptions) {
    const { storage = new InMemoryOAuthStorage(), logger = getDefaultLogger(), now = Date.now } = options;
    this.#options = options;
    this.#storage = storage;
    this.#values = new StoredValues(storage, logger);
    this.#now = now;
    const keyOf = (name: string): string => this.#key(name);
    this.#signIn = new PendingSignIn(this.#values, keyOf, now);
    this.#registrations = new ClientRegistrations(this.#values, keyOf, options.clientInformation);
    this.#dpopKey = new DPoPKey(this.#values, keyOf);
    // Present only when given: their presence disables the SDK's own behavior.
    if (options.addClientAuthentication) this.addClientAuthentication = options.addClientAuthentication;
    const { clientMetadataUrl, redirectUrl, tokenRequest = clientCredentialsRequest } = options;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = requireClientMetadataUrl(clientMetadataUrl);
    if (redirectUrl === undefined) {
      this.prepareTokenRequest = async (scope) => {
        const found = await this.discoveryState();
        return tokenRequest({
          issuer: found ? issuerOf(found) : '',
          resource: found?.resourceMetadata?.resource,
          scope: scope === '' ? undefined : scope,
        });
      };
    }
  }

  get redirectUrl(): string | URL | undefined {
    return this.#options.redirectUrl;
  }

  get skipIssuerMetadataValidation(): boolean {
    return this.#options.skipIssuerMetadataValidation ?? false;
  }

  get usesDPoP(): boolean {
    return this.#options.dpop ?? false;
  }

  /**
   * Returns what creates the proofs of this client.
   *
   * @param discovered - the server of a token request: `undefined` is returned unless it and the client use DPoP
   */
  async dpopHandle(discovered?: OAuthDiscoveryState): Promise<DPoPHandle | undefined> {
    if (discovered && !(this.usesDPoP && supportsDPoP(discovered))) return undefined;
    return this.#dpopKey.handle();
  }

  /** Whether it is a client without a user and with a given registration, which is for one authorization server only. */
  get isFixedClient(): boolean {
    return this.redirectUrl === undefined && this.#registrations.isGiven;
  }

  get clientMetadata(): OAuthClientMetadata {
    return this.#options.clientMetadata;
  }

  /**
   * Binds the provider to a server, so that its tokens are sent to no other. Every use binds it.
   *
   * @throws `OAUTH_PROVIDER_SHARED` when it is bound to another server
   */
  bind(serverUrl: string | URL): void {
    const { href } = new URL(serverUrl);
    if (this.#serverUrl !== undefined && this.#serverUrl !== href) {
      throw new QuiverError(
        'OAUTH_PROVIDER_SHARED',
        `One OAuth provider serves one MCP server, and this one serves ${this.#serverUrl}. Create another for ${href}; they may share a storage.`,
      );
    }
    this.#serverUrl = href;
  }

  /** Does the same as {@link bind}, unless a sign-in is pending that began before the server was known, as in the SDK. */
  async bindForAnswer(serverUrl: string | URL): Promise<void> {
    if (this.#serverUrl === undefined && (await this.isSignInPending())) return;
    this.bind(serverUrl);
  }

  /** Identity of the tokens. Renewals are shared among all providers with the same one. */
  get identity(): { readonly storage: OAuthStorage; readonly key: string } {
    return { storage: this.#storage, key: this.#key('tokens') };
  }

  /** @param issuer - the authorization server whose page will be shown; the code is sent to no other */
  async state(issuer?: string): Promise<string> {
    const { stateGenerator = randomUUID } = this.#options;
    const state = await stateGenerator();
    await this.#signIn.begin(state, issuer);
    return state;
  }

  /**
   * @returns the authorization server whose page was shown, if {@link state} received it
   * @throws `OAUTH_STATE_INVALID` unless the value belongs to a sign-in of the last ten minutes and was not used
   */
  redeemState(received: string | undefined): Promise<string | undefined> {
    return this.#signIn.redeem(received);
  }

  /** Whether the value is the state of the pending sign-in. Redeeming it is left to {@link redeemState}. */
  expectsState(received: string): Promise<boolean> {
    return this.#signIn.expects(received);
  }

  /** Whether a sign-in page was shown and its response is pending. */
  isSignInPending(): Promise<boolean> {
    return this.#signIn.isAwaited();
  }

  clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    return this.#registrations.find(context);
  }

  saveClientInformation(
    information: StoredOAuthClientInformation,
    context?: OAuthClientInformationContext,
  ): Promise<void> {
    return this.#registrations.save(information, context);
  }

  async tokens(context?: OAuthClientInformationContext): Promise<KeptTokens | undefined> {
    const stored = await this.#values.read(this.#key('tokens'));
    if (typeof stored?.['access_token'] !== 'string' || typeof stored['token_type'] !== 'string') return undefined;
    const tokens = stored as unknown as KeptTokens;
    const isForeign = context !== undefined && tokens.issuer !== undefined && tokens.issuer !== context.issuer;
    return isForeign ? undefined : tokens;
  }

  /** @throws `OAUTH_TOKEN_TYPE_UNSUPPORTED` for tokens that are neither Bearer nor DPoP tokens */
  async saveTokens(tokens: KeptTokens, _context?: OAuthClientInformationContext): Promise<void> {
    await this.#values.write(this.#key('tokens'), this.withExpiry(tokens));
  }

  /**
   * Returns tokens with the time at which they expire.
   *
   * @throws `OAUTH_TOKEN_TYPE_UNSUPPORTED` for tokens that are neither Bearer nor DPoP tokens
   */
  protected withExpiry(tokens: KeptTokens): KeptTokens {
    if (!/^(bearer|dpop)$/i.test(tokens.token_type)) {
      throw new QuiverError(
        'OAUTH_TOKEN_TYPE_UNSUPPORTED',
        `The authorization server issued a token of type '${tokens.token_type}'. Only Bearer and DPoP tokens are supported.`,
      );
    }
    const { expires_in: lifetime } = tokens;
    return {
      ...tokens,
      ...(lifetime !== undefined && { expires_at: Math.floor(this.#now() / 1000) + lifetime }),
    };
  }

  /** Deletes tokens only if they are still the given ones: newer tokens of another process remain. */
  async forgetTokens(used: KeptTokens): Promise<void> {
    const stored = await this.tokens();
    if (stored?.access_token === used.access_token && stored.refresh_token === used.refresh_token) {
      await this.invalidateCredentials('tokens');
    }
  }

  /** @throws `OAUTH_URL_INSECURE` for a page that is neither https nor a loopback address; nothing is opened then */
  async redirectToAuthorization(url: URL): Promise<void> {
    const { onRedirectToAuthorization, logger = getDefaultLogger() } = this.#options;
    const page = requireSecureUrl(url, 'the sign-in page');
    await this.#signIn.keepRequest(page);
    if (onRedirectToAuthorization) await onRedirectToAuthorization(page);
    else logger.warn(`An MCP server requires you to sign in. Open ${page.href}`);
  }

  /** Returns the scope that the last sign-in page requested. */
  requestedScope(): Promise<string | undefined> {
    return this.#signIn.requestedScope();
  }

  saveCodeVerifier(codeVerifier: string): Promise<void> {
    return this.#signIn.keepVerifier(codeVerifier);
  }

  /** @throws `OAUTH_VERIFIER_MISSING` when no sign-in has begun */
  codeVerifier(): Promise<string> {
    return this.#signIn.verifier();
  }

  /** @throws `OAUTH_PKCE_UNSUPPORTED`, `OAUTH_URL_INSECURE` for a server that could not be used safely */
  async saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    const { authorizationServerMetadata: metadata } = state;
    if (metadata) requireUsableServer(metadata, this.redirectUrl !== undefined);
    await this.#values.write(this.#key('discovery'), state);
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    const stored = await this.#values.read(this.#key('discovery'));
    if (typeof stored?.['authorizationServerUrl'] !== 'string') return undefined;
    return stored as unknown as OAuthDiscoveryState;
  }

  async invalidateCredentials(scope: CredentialScope): Promise<void> {
    const isMeant = (part: CredentialScope): boolean => scope === 'all' || scope === part;
    if (isMeant('client')) {
      await this.#registrations.forget((await this.discoveryState())?.authorizationServerMetadata?.issuer);
    }
    if (isMeant('verifier')) await this.#signIn.end();
    if (isMeant('tokens')) await this.#values.write(this.#key('tokens'), undefined);
    if (isMeant('discovery')) await this.#values.write(this.#key('discovery'), undefined);
    if (scope !== 'all') return;
    await this.#values.write(this.#key('client_issuer'), undefined);
    await this.#dpopKey.forget();
  }

  /** Signs out locally: deletes tokens, registration and a pending sign-in. */
  clear(): Promise<void> {
    return this.invalidateCredentials('all');
  }

  /** Whether there is an access token that has not expired. */
  async hasValidTokens(): Promise<boolean> {
    const tokens = await this.tokens();
    return tokens !== undefined && !this.isExpired(tokens);
  }

  isExpired({ expires_at: end }: KeptTokens): boolean {
    return end !== undefined && end <= this.#now() / 1000;
  }

  /** Runs a function exclusively among all that share the storage, if the storage supports it. */
  exclusive<Result>(run: () => Promise<Result>): Promise<Result> {
    return this.#values.exclusive(run);
  }

  /** Providers of several servers may share a storage. */
  #key(name: string): string {
    return this.#serverUrl === undefined ? name : `${name}:${this.#serverUrl}`;
  }
}

function clientCredentialsRequest({ scope }: TokenRequestContext): URLSearchParams {
  return new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) });
}

/**
 * Returns the address of a client's own description, which is its id as well.
 *
 * @see [OAuth Client ID Metadata Document, section 3](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-3)
 */
function requireClientMetadataUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const { protocol, pathname, username, hash } = parsed ?? {};
  if (protocol === 'https:' && pathname !== '/' && username === '' && hash === '') return url;
  throw new QuiverError(
    'OAUTH_CLIENT_METADATA_URL_INVALID',
    'clientMetadataUrl must be an https URL with a path and without a fragment, such as https://app.example.com/client.json.',
  );
}
