import { randomUUID } from 'node:crypto';
import { getDefaultLogger, QuiverError, type Logger } from '@quiver/core';
import type { DPoPHandle } from 'oauth4webapi';
import type {
  AddClientAuthentication,
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
import type { OAuthStorage, StoredValues } from './oauth-storage.js';

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
  /** Receives warnings and errors. Default: the default logger. */
  logger?: Logger;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Decisions of a client that the steps of a sign-in follow. */
export type SignInPolicy = Omit<MCPOAuthClientProviderOptions, 'storage'> & {
  /** Whether only `authenticate()` shows the sign-in page, because nothing else listens on the redirect URL. */
  readonly isPageLeftToAuthenticate?: boolean;
  /** Whether the provider is one for the official SDK, which keeps tokens, registration and verifier only. */
  readonly isAdopted?: boolean;
};

/** Context of a token request. */
export interface TokenRequestContext {
  /** The authorization server. */
  readonly issuer: string;
  /** Resource identifier of the MCP server. */
  readonly resource: string | undefined;
  readonly scope: string | undefined;
}

/** A sign-in at its server, for the steps. */
export interface AuthorizationTarget extends DiscoverOptions {
  readonly signIn: SignIn;
  readonly policy: SignInPolicy;
}

/** Tokens as providers for the SDK store them, with the time at which they expire, in seconds since 1970, and the requested scope. */
export type KeptTokens = StoredOAuthTokens & { expires_at?: number; requested_scope?: string };

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

/** Milliseconds until the response of a sign-in must arrive. */
const signInLifetime = 10 * 60_000;

/** Milliseconds in which calls show no other page than the one that awaits its user. */
const pagePause = 30_000;

/** Stored values that an invalidation deletes. `all` includes every scope. */
const namesByScope: Readonly<Record<CredentialScope, readonly string[]>> = {
  client: ['client_info'],
  verifier: ['code_verifier', 'state'],
  tokens: ['tokens'],
  discovery: ['discovery'],
  all: ['client_issuer', 'dpop_key'],
};

export type CredentialScope = 'client' | 'verifier' | 'tokens' | 'discovery' | 'all';

/** State of a client's sign-in at a server: pending page, discovery, key. The provider keeps tokens, registrations and the verifier. */
export class SignIn {
  readonly policy: SignInPolicy;
  readonly provider: OAuthClientProvider;
  readonly values: StoredValues;
  readonly now: () => number;
  /** Issuer of the tokens, for providers that do not store it: no other server receives the refresh token. */
  #tokenIssuer: string | undefined;
  #dpopHandle: Promise<DPoPHandle> | undefined;

  constructor(policy: SignInPolicy, provider: OAuthClientProvider, values: StoredValues) {
    this.policy = policy;
    this.provider = provider;
    this.values = values;
    this.now = policy.now ?? Date.now;
  }

  /** Binds the sign-in to a server, so that its tokens are sent to no other. @throws `OAUTH_PROVIDER_SHARED` */
  bind(serverUrl: string | URL): void {
    const { href } = new URL(serverUrl);
    const bound = this.values.serverUrl ?? href;
    if (bound !== href) {
      throw new QuiverError(
        'OAUTH_PROVIDER_SHARED',
        `One OAuth provider serves one MCP server, and this one serves ${withoutQuery(bound)}. Create another for ${withoutQuery(href)}; they may share a storage.`,
      );
    }
    this.values.serverUrl = href;
  }

  /** Returns the key of this client; for a token request, only if the discovered server and the client use DPoP. */
  async dpopHandle(discovered?: OAuthDiscoveryState): Promise<DPoPHandle | undefined> {
    if (discovered && !(this.policy.dpop && supportsDPoP(discovered))) return undefined;
    this.#dpopHandle ??= openDPoPHandle(this.values).catch((error: unknown) => {
      this.#dpopHandle = undefined;
      throw error;
    });
    return this.#dpopHandle;
  }

  /** Begins a sign-in. The code is sent to no other authorization server than that of the page. @returns the state of its page */
  async begin(page: Pick<PendingSignIn, 'issuer' | 'scope'> = {}): Promise<string> {
    const { stateGenerator = randomUUID } = this.policy;
    const state = await stateGenerator();
    const now = this.now();
    const pending: PendingSignIn = { ...page, state, expires_at: now + signInLifetime, shown_at: now };
    await this.values.write('state', pending);
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
    await this.values.write('state', undefined);
    if (received && pending?.state === received) return pending;
    await this.invalidate('verifier');
    throw new QuiverError(
      'OAUTH_STATE_INVALID',
      'The response does not belong to a sign-in that this client began in the last ten minutes. Sign in again.',
    );
  }

  async pendingSignIn(): Promise<PendingSignIn | undefined> {
    // Safe: only `begin()` writes it, and a damaged one matches no response.
    const stored = (await this.values.read('state')) as PendingSignIn | undefined;
    return stored && stored.expires_at > this.now() ? stored : undefined;
  }

  /** Whether a page was shown a moment ago and awaits its user. */
  async isPageShown(): Promise<boolean> {
    const pending = await this.pendingSignIn();
    return pending !== undefined && pending.shown_at + pagePause > this.now();
  }

  /** @throws `OAUTH_URL_INSECURE` without opening anything; `OAUTH_SIGN_IN_FAILED` when `onRedirectToAuthorization` fails */
  async showPage(url: URL): Promise<void> {
    const { onRedirectToAuthorization, logger = getDefaultLogger() } = this.policy;
    const page = requireSecureUrl(url, 'the sign-in page');
    if (!onRedirectToAuthorization) return logger.warn(`An MCP server requires you to sign in. Open ${page.href}`);
    try {
      await onRedirectToAuthorization(page);
    } catch (error) {
      // Frameworks redirect by an error, so that a response may still arrive.
      await this.values.write('state', { ...(await this.pendingSignIn()), shown_at: 0 });
      throw new QuiverError(
        'OAUTH_SIGN_IN_FAILED',
        `The callback \`onRedirectToAuthorization\` failed to show the sign-in page of ${page.origin} (${reasonOf(error)}). Correct it, then sign in again.`,
        { cause: error },
      );
    }
  }

  /** Returns the token request of a client without a user. */
  async tokenRequest(discovered: OAuthDiscoveryState | undefined, scope: string | undefined): Promise<URLSearchParams> {
    const issuer = discovered ? issuerOf(discovered) : '';
    const { resource } = discovered?.resourceMetadata ?? {};
    const given = await this.policy.tokenRequest?.({ issuer, resource, scope: scope || undefined });
    return given ?? new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) });
  }

  async show(page: URL): Promise<void> {
    await (this.policy.isAdopted ? this.showPage(page) : this.provider.redirectToAuthorization(page));
  }

  async tokens(): Promise<KeptTokens | undefined> {
    const tokens = await this.provider.tokens();
    const issuer = tokens?.issuer ?? this.#tokenIssuer;
    return tokens && { ...tokens, ...(issuer !== undefined && { issuer }) };
  }

  async saveTokens(tokens: KeptTokens, issuer: string): Promise<void> {
    await this.provider.saveTokens(withExpiry(tokens, this.now()), { issuer });
    this.#tokenIssuer = issuer;
  }

  /** Returns the registration at an authorization server. One without an issuer is used at every server, as in the SDK. */
  async clientInformation(issuer: string): Promise<StoredOAuthClientInformation | undefined> {
    const information = await this.provider.clientInformation({ issuer });
    return (information?.issuer ?? issuer) === issuer ? information : undefined;
  }

  /** Deletes what is stored of a scope, here and by the provider. */
  async invalidate(scope: CredentialScope): Promise<void> {
    if (this.policy.isAdopted) await this.deleteValues(scope);
    await this.provider.invalidateCredentials?.(scope);
  }

  async hasValidTokens(): Promise<boolean> {
    const tokens = await this.tokens();
    return tokens !== undefined && !this.isExpired(tokens);
  }

  isExpired({ expires_at: end }: KeptTokens): boolean {
    return end !== undefined && end <= this.now() / 1000;
  }

  /** @throws `OAUTH_PKCE_UNSUPPORTED`, `OAUTH_URL_INSECURE` for a server that could not be used safely */
  async saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    const { authorizationServerMetadata: metadata } = state;
    if (metadata) requireUsableServer(metadata, this.policy.redirectUrl !== undefined);
    await this.values.write('discovery', state);
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    const stored = await this.values.read('discovery');
    return typeof stored?.['authorizationServerUrl'] === 'string'
      ? (stored as unknown as OAuthDiscoveryState)
      : undefined;
  }

  async deleteValues(scope: CredentialScope): Promise<void> {
    const found = scope === 'all' || scope === 'client' ? await this.discoveryState() : undefined;
    if (found) await this.values.write('client_info', undefined, issuerOf(found));
    const names = scope === 'all' ? Object.values(namesByScope).flat() : namesByScope[scope];
    for (const name of names) await this.values.write(name, undefined);
    if (scope === 'all') this.#dpopHandle = undefined;
  }
}

/** Returns tokens with the time at which they expire. @param now - milliseconds since 1970. @throws `OAUTH_TOKEN_TYPE_UNSUPPORTED` */
export function withExpiry(tokens: KeptTokens, now: number): KeptTokens {
  requireTokenType(tokens.token_type);
  const { expires_in: lifetime } = tokens;
  return lifetime === undefined ? tokens : { ...tokens, expires_at: Math.floor(now / 1000) + lifetime };
}

export function verifierMissing(): QuiverError {
  return new QuiverError(
    'OAUTH_VERIFIER_MISSING',
    'No sign-in has begun with this storage. Begin one, then finish it.',
  );
}

/** @throws `OAUTH_TOKEN_TYPE_UNSUPPORTED` unless it is `Bearer` or `DPoP` */
export function requireTokenType(type: unknown): void {
  if (/^(bearer|dpop)$/i.test(String(type))) return;
  throw new QuiverError(
    'OAUTH_TOKEN_TYPE_UNSUPPORTED',
    `The authorization server issued a token of type '${String(type).slice(0, 40)}'. Only Bearer and DPoP tokens are supported.`,
  );
}
