import { QuiverError } from '@quiver/core';
import type { Fetch } from '../../fetch.js';
import { isLoopbackHost } from '../secure-url.js';
import { beginAuthorization } from './begin-authorization.js';
import type { KeptTokens, MCPOAuthClientProvider } from './oauth-client-provider.js';
import type { OAuthStorage } from './oauth-storage.js';
import { parseChallenge, type Challenge } from './parse-challenge.js';
import { refreshTokens } from './refresh-tokens.js';
import { sendWithToken, type AuthorizedTarget, type ResponseHead, type SendWithHeaders } from './send-with-token.js';

export interface AuthorizationOptions {
  readonly provider: MCPOAuthClientProvider;
  readonly serverUrl: URL;
  /** For URLs that servers name. */
  readonly fetch: Fetch;
}

/** Sends a request with the tokens of a provider. */
export type Authorization = <Head extends ResponseHead>(
  target: AuthorizedTarget,
  send: SendWithHeaders<Head>,
) => Promise<Head>;

/**
 * Returns a function that sends requests with the tokens of a provider. It replaces a token that has expired or is rejected, requests
 * more scopes when the server requires them (once per request, and not for scopes that the last sign-in requested), and repeats the
 * rejected request. Any number of requests with an expired token cause one refresh, for all that share the storage.
 *
 * @throws `OAUTH_AUTHORIZATION_REQUIRED` when the user has to sign in; the page has been shown through the provider
 * @throws `OAUTH_TOKEN_INVALID` for a token that no header can carry
 * @throws `OAUTH_UNAVAILABLE` while the authorization server is unavailable; the sign-in is kept
 */
export function createAuthorization(options: AuthorizationOptions): Authorization {
  const { provider, serverUrl } = options;
  return async (target, send) => {
    const started = performance.now();
    const renew = (used: KeptTokens | undefined, challenge: Challenge, mode: RenewalMode): Promise<KeptTokens> =>
      sharedRenewal({ ...options, used, challenge, mode }, started);
    const challengeOf = (response: ResponseHead): Challenge =>
      parseChallenge(response.header('www-authenticate'), serverUrl);
    let tokens = await provider.tokens();
    if (tokens?.refresh_token !== undefined && provider.isExpired(tokens)) tokens = await renew(tokens, {}, 'refresh');
    let response = await sendWithToken(provider, tokens, target, send);
    if (response.status === 401) {
      response.discard();
      tokens = await renew(tokens, challengeOf(response), 'refresh');
      response = await sendWithToken(provider, tokens, target, send);
    }
    const challenge = response.status === 403 ? challengeOf(response) : {};
    if (challenge.error !== 'insufficient_scope' || wasRequested(tokens, challenge.scope)) return response;
    response.discard();
    const scope = unionOf(tokens?.scope, challenge.scope);
    tokens = await renew(tokens, { ...challenge, ...(scope !== '' && { scope }) }, 'step-up');
    return sendWithToken(provider, tokens, target, send);
  };
}

/** `refresh`: any valid token suffices. `step-up`: more scopes are needed, which a refresh cannot grant. */
type RenewalMode = 'refresh' | 'step-up';

interface Renewal extends AuthorizationOptions {
  /** The tokens that did not suffice. */
  readonly used: KeptTokens | undefined;
  readonly challenge: Challenge;
  readonly mode: RenewalMode;
}

/** Returns the stored tokens if they differ from those that did not suffice: another request, or another process, was faster. */
async function newerTokens({ provider, used }: Renewal): Promise<KeptTokens | undefined> {
  const stored = await provider.tokens();
  return stored && stored.access_token !== used?.access_token && !provider.isExpired(stored) ? stored : undefined;
}

async function renewTokens(renewal: Renewal): Promise<KeptTokens> {
  const { provider, serverUrl, fetch, used, challenge, mode } = renewal;
  const { resourceMetadataUrl, scope } = challenge;
  const renewed = await provider.exclusive(async () => {
    const newest = await newerTokens(renewal);
    if (newest) return newest;
    const stored = await provider.tokens();
    if (mode === 'step-up' || stored?.refresh_token === undefined) return undefined;
    const fresh = await refreshTokens({ provider, serverUrl, tokens: stored, fetch, resourceMetadataUrl });
    if (fresh) return fresh;
    // A process that shares the storage without a lock may have used the refresh token first.
    const newer = await provider.tokens();
    return newer?.access_token === stored.access_token ? undefined : newer;
  });
  if (renewed) return renewed;
  const isDone = await beginAuthorization({ provider, serverUrl, fetch, resourceMetadataUrl, scope }).catch(
    (error: unknown) => {
      throw used && mode === 'refresh' ? toTokenRejected(error, serverUrl) : error;
    },
  );
  const tokens = isDone ? await provider.tokens() : undefined;
  if (tokens) return tokens;
  throw await signInRequired(renewal);
}

/** Which remedy works depends on the program: nothing listens on a loopback redirect URL by itself. */
async function signInRequired({ provider, serverUrl, mode }: Renewal): Promise<QuiverError> {
  const scope = await provider.requestedScope();
  const isStepUp = mode === 'step-up';
  const argument = isStepUp && scope !== undefined ? `, { scope: '${printable(scope)}' }` : '';
  const remedy = isLoopbackHost(new URL(provider.redirectUrl ?? serverUrl).hostname)
    ? `In a terminal program, call \`mcp.authenticate(serverName${argument})\`, which waits for the redirect; an application that serves the redirect URL itself calls finishAuthorization().`
    : 'The sign-in page has been shown; call finishAuthorization() in the route of the redirect URL.';
  return new QuiverError(
    'OAUTH_AUTHORIZATION_REQUIRED',
    `MCP server ${serverUrl.origin} requires the user to sign in${isStepUp ? ' for more scopes' : ''}. ${remedy} Then repeat the call.`,
    { details: { server: serverUrl.href, ...(scope !== undefined && { scope }) } },
  );
}

function printable(scope: string): string {
  return scope.slice(0, 200).replaceAll(/[^\x20-\x7E]|['\\`]/g, '');
}

/** The message names the rejected token as well: a user who passed it would otherwise see only the failed sign-in. */
function toTokenRejected(error: unknown, { origin }: URL): unknown {
  if (!(error instanceof QuiverError)) return error;
  const { code, details } = error;
  return new QuiverError(code, `The token for MCP server ${origin} was refused or has expired. ${error.message}`, {
    cause: error,
    ...(details && { details }),
  });
}

interface SharedRenewal {
  readonly tokens: Promise<KeptTokens>;
  /** When it failed, on the clock of `performance.now()`. */
  failedAt: number | undefined;
}

/**
 * Renewals that are in progress or have failed, by storage and by kind, server and mode. An entry is removed when its renewal
 * succeeds; all of them live as long as their storage.
 */
const renewals = new WeakMap<OAuthStorage, Map<string, SharedRenewal>>();

/** Milliseconds in which a sign-in page that awaits its user is not shown again. */
const pagePause = 30_000;

/**
 * Shares one renewal among all requests with the same tokens. A request that was sent before a renewal failed shares the failure, and
 * so does every request while a page that was just shown awaits its user: one sign-in page, not one per request.
 */
async function sharedRenewal(renewal: Renewal, started: number): Promise<KeptTokens> {
  const { provider, challenge, mode } = renewal;
  const newest = await newerTokens(renewal);
  if (newest) return newest;
  const isPending = await provider.isSignInPending();
  const { storage, key } = provider.identity;
  const known = renewals.get(storage) ?? new Map<string, SharedRenewal>();
  renewals.set(storage, known);
  const name = `${mode} ${key}`;
  const last = known.get(name);
  if (last && (last.failedAt === undefined || started < last.failedAt + (isPending ? pagePause : 0))) {
    const tokens = await last.tokens;
    const { scope } = challenge;
    if (mode === 'refresh' || scope === undefined || wasRequested(tokens, scope)) return tokens;
    // Another request needed other scopes at the same time, and got them without a page.
    const union = { ...challenge, scope: unionOf(tokens.scope, scope) };
    return sharedRenewal({ ...renewal, used: tokens, challenge: union }, started);
  }
  const next: SharedRenewal = { tokens: renewTokens(renewal), failedAt: undefined };
  known.set(name, next);
  next.tokens.then(
    () => known.delete(name),
    () => {
      next.failedAt = performance.now();
    },
  );
  return next.tokens;
}

/** Whether the sign-in that granted the tokens requested these scopes: requesting them again would not help. */
function wasRequested(tokens: KeptTokens | undefined, scope: string | undefined): boolean {
  const requested = new Set(tokens?.requested_scope?.split(' '));
  return scope !== undefined && scope.split(' ').every((wanted) => requested.has(wanted));
}

function unionOf(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(' ') ?? []))].filter((scope) => scope !== '').join(' ');
}
