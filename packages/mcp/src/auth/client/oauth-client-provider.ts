import { randomUUID } from 'node:crypto';
import { getDefaultLogger, QuiverError, type Logger } from '@quiver/core';
import {
  anyValue,
  booleanValue,
  checkOptions,
  functionValue,
  loggerValue,
  type OptionChecks,
  invalidOptions,
} from '@quiver/core/internal';
import type { DPoPHandle } from 'oauth4webapi';
import type {
  AddClientAuthentication,
  OAuthClientInformationContext as Context,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '../../protocol/oauth-types.js';
import { requireSecureUrl, withoutQuery } from '../secure-url.js';
import { issuerOf, requireUsableServer, type DiscoverOptions } from './discover.js';
import { openDPoPHandle, supportsDPoP } from './dpop-key.js';
import { reasonOf } from './oauth-error.js';
import { InMemoryOAuthStorage, storageValue, StoredValues, type OAuthStorage } from './oauth-storage.js';

/** Options of `MCPOAuthClientProvider`. */
export interface MCPOAuthClientProviderOptions {
  /** Redirect URL of the authorization response. Absent only for clients without a user. */
  redirectUrl?: string | URL;
  /** Description of the client for registration. */
  clientMetadata: OAuthClientMetadata;
  /** An existing registration. It is sent to its `issuer` only; without one, to the first authorization server that it is used at. */
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
  /** Accepts metadata of another issuer: only for a trusted server, because it weakens the protection against mix-up attacks. */
  skipIssuerMetadataValidation?: boolean;
  /** Binds tokens to a key in the storage, if the authorization server supports DPoP with ES256. Default `false`. */
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

/** Milliseconds until the response of a sign-in must arrive. */
const signInLifetime = 10 * 60_000;

/** Milliseconds in which calls show no other page than the one that awaits its user. */
const pagePause = 30_000;

/** Stored tokens: with the time at which they expire, in seconds since 1970, and the requested scope. */
export type KeptTokens = StoredOAuthTokens & { expires_at?: number; requested_scope?: string };

/** A provider at the server that it signs in to. */
export interface AuthorizationTarget extends DiscoverOptions {
  readonly provider: MCPOAuthClientProvider;
}

/** A sign-in whose page was shown and whose response is pending. */
export interface PendingSignIn {
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly expires_at: number;
  readonly shown_at: number;
  /** Authorization server of the page. It and the scope are unknown to transports of the SDK. */
  readonly issuer?: string;
  readonly scope?: string;
}

/** Stored values that an invalidation deletes. `all` includes every scope. */
const namesByScope: Readonly<Record<CredentialScope, readonly string[]>> = {
  client: ['client_info'],
  verifier: ['code_verifier', 'state'],
  tokens: ['tokens'],
  discovery: ['discovery'],
  all: ['client_issuer', 'dpop_key'],
};

export type CredentialScope = 'client' | 'verifier' | 'tokens' | 'discovery' | 'all';

export const providerChecks: OptionChecks<MCPOAuthClientProviderOptions> = {
  redirectUrl: anyValue,
  clientMetadata: anyValue,
  clientInformation: anyValue,
  clientMetadataUrl: anyValue,
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
  readonly skipIssuerMetadataValidation: boolean;
  /** Whether only `authenticate()` shows the sign-in page, because nothing else listens on the redirect URL. */
  readonly isPageLeftToAuthenticate: boolean = false;
  /** Whether it has no user and a given registration, which is for one authorization server only. */
  readonly isFixedClient: boolean;
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly clientMetadataUrl?: string;
  /** The token request of a client without users. */
  readonly prepareTokenRequest?: (scope?: string) => Promise<URLSearchParams>;
  readonly #options: MCPOAuthClientProviderOptions;
  readonly #values: StoredValues;
  readonly #now: () => number;
  #dpopHandle: Promise<DPoPHandle> | undefined;

  /** @throws `OPTIONS_INVALID` */
  constructor(options: MCPOAuthClientProviderOptions) {
    checkOptions('MCPOAuthClientProvider', options, providerChecks);
    const { storage = new InMemoryOAuthStorage(), logger = getDefaultLogger(), now = Date.now } = options;
    const { clientMetadataUrl, redirectUrl, tokenRequest = clientCredentialsRequest } = options;
    this.redirectUrl = redirectUrl;
    this.clientMetadata = options.clientMetadata;
    this.skipIssuerMetadataValidation = options.skipIssuerMetadataValidation ?? false;
    this.isFixedClient = redirectUrl === undefined && options.clientInformation !== undefined;
    this.#options = options;
    this.#values = new StoredValues(storage, logger);
    this.#now = now;
    // Present only when given: their presence disables the SDK's own behavior.
    if (options.addClientAuthentication) this.addClientAuthentication = options.addClientAuthentication;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = requireClientMetadataUrl(clientMetadataUrl);
    if (redirectUrl !== undefined) return;
    this.prepareTokenRequest = async (scope) => {
      const found = await this.discoveryState();
      return tokenRequest({
        issuer: found ? issuerOf(found) : '',
        resource: found?.resourceMetadata?.resource,
        scope: scope === '' ? undefined : scope,
      });
    };
  }

  /** Identity of the tokens. Refreshes are shared among all providers with the same one. */
  get identity(): { readonly storage: OAuthStorage; readonly key: string } {
    return { storage: this.#values.storage, key: this.#values.keyOf('tokens') };
  }

  /** Binds the provider to a server, so that its tokens are sent to no other. @throws `OAUTH_PROVIDER_SHARED` */
  bind(serverUrl: string | URL): void {
    const { href } = new URL(serverUrl);
    const bound = this.#values.serverUrl ?? href;
    if (bound !== href) {
      throw new QuiverError(
        'OAUTH_PROVIDER_SHARED',
        `One OAuth provider serves one MCP server, and this one serves ${withoutQuery(bound)}. Create another for ${withoutQuery(href)}; they may share a storage.`,
      );
    }
    this.#values.serverUrl = href;
  }

  /** Binds the provider, unless a sign-in is pending that began before the server was known, as in the SDK. */
  async bindForAnswer(serverUrl: string | URL): Promise<void> {
    if (this.#values.serverUrl === undefined && (await this.pendingSignIn())) return;
    this.bind(serverUrl);
  }

  /** Returns the key of this client; for a token request, only if the discovered server and the client use DPoP. */
  async dpopHandle(discovered?: OAuthDiscoveryState): Promise<DPoPHandle | undefined> {
    if (discovered && !(this.#options.dpop && supportsDPoP(discovered))) return undefined;
    this.#dpopHandle ??= openDPoPHandle(this.#values).catch((error: unknown) => {
      this.#dpopHandle = undefined;
      throw error;
    });
    return this.#dpopHandle;
  }

  /** Begins a sign-in. The code is sent to no other authorization server than that of the page. */
  async state(page: Pick<PendingSignIn, 'issuer' | 'scope'> = {}): Promise<string> {
    const { stateGenerator = randomUUID } = this.#options;
    const state = await stateGenerator();
    const now = this.#now();
    const pending: PendingSignIn = { ...page, state, expires_at: now + signInLifetime, shown_at: now };
    await this.#values.write('state', pending);
    return state;
  }

  /**
   * Ends the pending sign-in. A state is accepted once, for ten minutes.
   *
   * @throws `OAUTH_STATE_INVALID`
   * @see [RFC 9700, section 4.7 – Cross-Site Request Forgery](https://www.rfc-editor.org/rfc/rfc9700.html#section-4.7)
   */
  async redeemState(received: string | undefined): Promise<PendingSignIn> {
    const pending = await this.pendingSignIn();
    await this.#values.write('state', undefined);
    if (received && pending?.state === received) return pending;
    await this.invalidateCredentials('verifier');
    throw new QuiverError(
      'OAUTH_STATE_INVALID',
      'The response does not belong to a sign-in that this client began in the last ten minutes. Sign in again.',
    );
  }

  async pendingSignIn(): Promise<PendingSignIn | undefined> {
    // Safe: only `state()` writes it, and a damaged one matches no response.
    const stored = (await this.#values.read('state')) as PendingSignIn | undefined;
    return stored && stored.expires_at > this.#now() ? stored : undefined;
  }

  /** Whether a page was shown a moment ago and awaits its user. */
  async isPageShown(): Promise<boolean> {
    const pending = await this.pendingSignIn();
    return pending !== undefined && pending.shown_at + pagePause > this.#now();
  }

  /** @throws `OAUTH_URL_INSECURE` without opening anything; `OAUTH_SIGN_IN_FAILED` when `onRedirectToAuthorization` fails */
  async redirectToAuthorization(url: URL): Promise<void> {
    const { onRedirectToAuthorization, logger = getDefaultLogger() } = this.#options;
    const page = requireSecureUrl(url, 'the sign-in page');
    if (!onRedirectToAuthorization) return logger.warn(`An MCP server requires you to sign in. Open ${page.href}`);
    try {
      await onRedirectToAuthorization(page);
    } catch (error) {
      // Frameworks redirect by an error, so that a response may still arrive.
      await this.#values.write('state', { ...(await this.pendingSignIn()), shown_at: 0 });
      throw new QuiverError(
        'OAUTH_SIGN_IN_FAILED',
        `The callback \`onRedirectToAuthorization\` failed to show the sign-in page of ${page.origin} (${reasonOf(error)}). Correct it, then sign in again.`,
        { cause: error },
      );
    }
  }

  async saveCodeVerifier(codeVerifier: string): Promise<void> {
    await this.#values.write('code_verifier', { codeVerifier });
  }

  /** @throws `OAUTH_VERIFIER_MISSING` when no sign-in has begun */
  async codeVerifier(): Promise<string> {
    const verifier = (await this.#values.read('code_verifier'))?.['codeVerifier'];
    if (typeof verifier === 'string') return verifier;
    throw new QuiverError(
      'OAUTH_VERIFIER_MISSING',
      'No sign-in has begun with this storage. Begin one, then finish it.',
    );
  }

  /** Returns the registration at an authorization server. Without `context`, it is the newest one. */
  async clientInformation(context?: Context): Promise<StoredOAuthClientInformation | undefined> {
    const { clientInformation: given } = this.#options;
    if (given && !context) return given;
    if (given && context) {
      const issuer = given.issuer ?? (await this.#issuerOfGiven(context.issuer));
      if (issuer === context.issuer) return { ...given, issuer };
      // Its secret, key or JWT must not accompany a registration that another client has stored for another server.
      if (this.isFixedClient) return undefined;
    }
    const stored = await this.#values.read('client_info', context?.issuer);
    return typeof stored?.['client_id'] === 'string' ? (stored as StoredOAuthClientInformation) : undefined;
  }

  /** Returns the first authorization server that the given registration was used at. */
  async #issuerOfGiven(issuer: string): Promise<string> {
    const bound = (await this.#values.read('client_issuer'))?.['issuer'];
    if (typeof bound === 'string') return bound;
    await this.#values.write('client_issuer', { issuer });
    return issuer;
  }

  async saveClientInformation(information: StoredOAuthClientInformation, context?: Context): Promise<void> {
    if (context) await this.#values.write('client_info', information, context.issuer);
    await this.#values.write('client_info', information);
  }

  async tokens(context?: Context): Promise<KeptTokens | undefined> {
    const stored = await this.#values.read('tokens');
    if (typeof stored?.['access_token'] !== 'string' || typeof stored['token_type'] !== 'string') return undefined;
    const tokens = stored as unknown as KeptTokens;
    return context && (tokens.issuer ?? context.issuer) !== context.issuer ? undefined : tokens;
  }

  /** @throws `OAUTH_TOKEN_TYPE_UNSUPPORTED` for tokens that are neither Bearer nor DPoP tokens */
  async saveTokens(tokens: KeptTokens, _context?: Context): Promise<void> {
    await this.#values.write('tokens', this.withExpiry(tokens));
  }

  /** Returns tokens with the time at which they expire. @throws `OAUTH_TOKEN_TYPE_UNSUPPORTED` */
  protected withExpiry(tokens: KeptTokens): KeptTokens {
    requireTokenType(tokens.token_type);
    const { expires_in: lifetime } = tokens;
    return lifetime === undefined ? tokens : { ...tokens, expires_at: Math.floor(this.#now() / 1000) + lifetime };
  }

  /** Whether there is an access token that has not expired. */
  async hasValidTokens(): Promise<boolean> {
    const tokens = await this.tokens();
    return tokens !== undefined && !this.isExpired(tokens);
  }

  isExpired({ expires_at: end }: KeptTokens): boolean {
    return end !== undefined && end <= this.#now() / 1000;
  }

  /** @throws `OAUTH_PKCE_UNSUPPORTED`, `OAUTH_URL_INSECURE` for a server that could not be used safely */
  async saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    const { authorizationServerMetadata: metadata } = state;
    if (metadata) requireUsableServer(metadata, this.redirectUrl !== undefined);
    await this.#values.write('discovery', state);
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    const stored = await this.#values.read('discovery');
    return typeof stored?.['authorizationServerUrl'] === 'string'
      ? (stored as unknown as OAuthDiscoveryState)
      : undefined;
  }

  async invalidateCredentials(scope: CredentialScope): Promise<void> {
    const found = scope === 'all' || scope === 'client' ? await this.discoveryState() : undefined;
    if (found) await this.#values.write('client_info', undefined, issuerOf(found));
    for (const [part, names] of Object.entries(namesByScope)) {
      if (scope !== 'all' && scope !== part) continue;
      for (const name of names) await this.#values.write(name, undefined);
    }
    if (scope === 'all') this.#dpopHandle = undefined;
  }

  /** Signs out locally: deletes tokens, registration and a pending sign-in. */
  clear(): Promise<void> {
    return this.invalidateCredentials('all');
  }

  /** Runs a function exclusively among all that share the storage, if the storage supports it. */
  exclusive<Result>(run: () => Promise<Result>): Promise<Result> {
    return this.#values.exclusive(run);
  }
}

/** @throws `OAUTH_TOKEN_TYPE_UNSUPPORTED` unless it is `Bearer` or `DPoP` */
export function requireTokenType(type: unknown): void {
  if (/^(bearer|dpop)$/i.test(String(type))) return;
  throw new QuiverError(
    'OAUTH_TOKEN_TYPE_UNSUPPORTED',
    `The authorization server issued a token of type '${String(type).slice(0, 40)}'. Only Bearer and DPoP tokens are supported.`,
  );
}

function clientCredentialsRequest({ scope }: TokenRequestContext): URLSearchParams {
  return new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) });
}

/** @see [OAuth Client ID Metadata Document, section 3](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-3) */
function requireClientMetadataUrl(url: string): string {
  const { protocol, pathname, username, hash } = URL.canParse(url) ? new URL(url) : ({} as Partial<URL>);
  if (protocol === 'https:' && pathname !== '/' && username === '' && hash === '') return url;
  throw invalidOptions(
    'clientMetadataUrl must be an https URL with a path and without a fragment, such as https://app.example.com/client.json.',
  );
}
