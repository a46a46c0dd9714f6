import { QuiverError } from '@quiver/core';
import { beginAuthorization } from './begin-authorization.js';
import { challengeOf, type Challenge } from './challenge-of.js';
import type { Fetch } from '../../fetch.js';
import { isLoopbackHost } from '../secure-url.js';
import { createGuardedFetch } from './guarded-fetch.js';
import type { KeptTokens, MCPOAuthClientProvider } from './oauth-client-provider.js';
import type { OAuthStorage } from './oauth-storage.js';
import { refreshTokens } from './refresh-tokens.js';

export interface OAuthFetchOptions {
  provider: MCPOAuthClientProvider;
  /** The MCP server. Its tokens go to its origin only. */
  serverUrl: string | URL;
  /** How everything is asked. Default: the global one; authorization servers in a way that looks at the address it connects to. */
  fetch?: Fetch;
  /** How the MCP server is asked, where that differs. */
  serverFetch?: Fetch;
}

/**
 * A `fetch` that signs in. It sends the token of the provider, replaces it when it has expired or is refused, asks for more scopes when
 * the server wants more (once per request, and not for what the last sign-in asked for already), and repeats the refused request.
 * However many requests run into an expired token: one refresh, for all who share the storage.
 *
 * @throws `OAUTH_AUTHORIZATION_REQUIRED` when the user has to sign in; the page has been shown through the provider
 * @throws `OAUTH_TOKEN_INVALID` for a token that no header can carry
 * @throws `OAUTH_UNAVAILABLE` while the authorization server is out of order; the sign-in is kept
 */
export function createOAuthFetch({
  provider,
  serverUrl,
  fetch: ownFetch,
  serverFetch: fetch = ownFetch ?? globalThis.fetch,
}: OAuthFetchOptions): Fetch {
  const server = new URL(serverUrl);
  provider.bind(server);
  const guarded = createGuardedFetch({ fetch: ownFetch, serverFetch: fetch, serverUrl: server });

  return async (url, init) => {
    if (new URL(url).origin !== server.origin) return fetch(url, init);
    const begun = performance.now();
    const renew = (used: KeptTokens | undefined, challenge: Challenge, mode: RenewMode): Promise<KeptTokens> =>
      sharedRenewal({ provider, server, guarded, used, challenge, mode }, begun);
    let tokens = await provider.tokens();
    if (tokens?.refresh_token !== undefined && provider.isExpired(tokens)) tokens = await renew(tokens, {}, 'refresh');
    let response = await send(fetch, url, init, tokens);
    if (response.status === 401) {
      await response.body?.cancel();
      tokens = await renew(tokens, challengeOf(response, server), 'refresh');
      response = await send(fetch, url, init, tokens);
    }
    const challenge = response.status === 403 ? challengeOf(response, server) : {};
    if (challenge.error !== 'insufficient_scope' || wasAskedFor(tokens, challenge.scope)) return response;
    await response.body?.cancel();
    const scope = unionOf(tokens?.scope, challenge.scope);
    return send(fetch, url, init, await renew(tokens, { ...challenge, ...(scope !== '' && { scope }) }, 'widen'));
  };
}

/** `refresh`: any good token will do. `widen`: it needs more scopes, which a refresh cannot give. */
type RenewMode = 'refresh' | 'widen';

function send(
  fetch: Fetch,
  url: string | URL,
  init: RequestInit | undefined,
  tokens: KeptTokens | undefined,
): Promise<Response> {
  if (!tokens) return fetch(url, init);
  if (!/^[\x20-\x7E]+$/.test(tokens.access_token.trim())) {
    // The platform would refuse it as well, and quote it.
    throw new QuiverError(
      'OAUTH_TOKEN_INVALID',
      `The access token for ${new URL(url).origin} has characters that no header can carry. Sign in again, or look where it comes from.`,
    );
  }
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${tokens.access_token}`);
  return fetch(url, { ...init, headers });
}

interface Renewal {
  readonly provider: MCPOAuthClientProvider;
  readonly server: URL;
  readonly guarded: Fetch;
  /** The tokens that were not good enough. */
  readonly used: KeptTokens | undefined;
  readonly challenge: Challenge;
  readonly mode: RenewMode;
}

/** The stored tokens, if they are other than those that were not good enough: another request, or another process, was faster. */
async function newerTokens({ provider, used }: Renewal): Promise<KeptTokens | undefined> {
  const stored = await provider.tokens();
  return stored && stored.access_token !== used?.access_token && !provider.isExpired(stored) ? stored : undefined;
}

async function renewTokens(renewal: Renewal): Promise<KeptTokens> {
  const { provider, server, guarded, used, challenge, mode } = renewal;
  const { resourceMetadataUrl, scope } = challenge;
  const renewed = await provider.exclusive(async () => {
    const newest = await newerTokens(renewal);
    if (newest) return newest;
    const stored = await provider.tokens();
    if (mode === 'widen' || stored?.refresh_token === undefined) return undefined;
    const fresh = await refreshTokens({
      provider,
      serverUrl: server,
      tokens: stored,
      fetch: guarded,
      resourceMetadataUrl,
    });
    if (fresh) return fresh;
    // Somebody who shares the storage without a lock may have used the refresh token first.
    const newer = await provider.tokens();
    return newer?.access_token === stored.access_token ? undefined : newer;
  });
  if (renewed) return renewed;
  const isDone = await beginAuthorization({
    provider,
    serverUrl: server,
    fetch: guarded,
    resourceMetadataUrl,
    scope,
  }).catch((error: unknown) => {
    throw used && mode === 'refresh' ? toTokenUseless(error, server) : error;
  });
  const tokens = isDone ? await provider.tokens() : undefined;
  if (tokens) return tokens;
  throw await signInRequired(renewal);
}

/** A page was shown. Who waits for its response depends on the program: nothing listens on a loopback redirect URL by itself. */
async function signInRequired({ provider, server, mode }: Renewal): Promise<QuiverError> {
  const scope = await provider.requestedScope();
  const argument = mode === 'widen' && scope !== undefined ? `, { scope: '${printable(scope)}' }` : '';
  const isLoopback = isLoopbackHost(new URL(provider.redirectUrl ?? server).hostname);
  const remedy = isLoopback
    ? `In a terminal program, call \`mcp.authenticate(serverName${argument})\`, which waits for the redirect; an application that serves the redirect URL itself calls finishAuthorization().`
    : 'The sign-in page has been shown; call finishAuthorization() in the route of the redirect URL.';
  return new QuiverError(
    'OAUTH_AUTHORIZATION_REQUIRED',
    `MCP server ${server.origin} requires the user to sign in${mode === 'widen' ? ' for more scopes' : ''}. ${remedy} Then repeat the call.`,
    { details: { server: server.href, ...(scope !== undefined && { scope }) } },
  );
}

function printable(scope: string): string {
  return scope.slice(0, 200).replaceAll(/[^\x20-\x7E]|['\\`]/g, '');
}

/** A user who brought the token has to hear of it, not only of the sign-in that came after. */
function toTokenUseless(error: unknown, { origin }: URL): unknown {
  if (!(error instanceof QuiverError)) return error;
  const { code, details } = error;
  return new QuiverError(code, `The token for MCP server ${origin} was refused or has expired. ${error.message}`, {
    cause: error,
    ...(details && { details }),
  });
}

interface Flight {
  readonly tokens: Promise<KeptTokens>;
  /** When the flight ended without tokens, on the clock of `performance.now()`. */
  failedAt: number | undefined;
}

const flights = new WeakMap<OAuthStorage, Map<string, Flight>>();

/** Milliseconds in which a sign-in page that waits for its user is not shown again. */
const pagePause = 30_000;

/**
 * One renewal for everyone who shares the tokens. A request that was under way already when a renewal failed shares its failure, and so
 * does every request while a page that was just shown waits for its user: one sign-in page, not one per request.
 */
async function sharedRenewal(renewal: Renewal, begun: number): Promise<KeptTokens> {
  const { provider, challenge, mode } = renewal;
  const newest = await newerTokens(renewal);
  if (newest) return newest;
  const isPending = await provider.isSignInPending();
  const { storage, key } = provider.identity;
  const known = flights.get(storage) ?? new Map<string, Flight>();
  flights.set(storage, known);
  const name = `${mode} ${key}`;
  const last = known.get(name);
  if (last && (last.failedAt === undefined || begun < last.failedAt + (isPending ? pagePause : 0))) {
    const tokens = await last.tokens;
    const { scope } = challenge;
    if (mode === 'refresh' || scope === undefined || wasAskedFor(tokens, scope)) return tokens;
    // Somebody needed other scopes at the same time, and got them without a page.
    const wanted = { ...challenge, scope: unionOf(tokens.scope, scope) };
    return sharedRenewal({ ...renewal, used: tokens, challenge: wanted }, begun);
  }
  const flight: Flight = { tokens: renewTokens(renewal), failedAt: undefined };
  known.set(name, flight);
  flight.tokens.then(
    () => known.delete(name),
    () => {
      flight.failedAt = performance.now();
    },
  );
  return flight.tokens;
}

/** Whether the sign-in that gave the tokens asked for these scopes already: asking again would not get them. */
function wasAskedFor(tokens: KeptTokens | undefined, scope: string | undefined): boolean {
  const asked = new Set(tokens?.requested_scope?.split(' '));
  return scope !== undefined && scope.split(' ').every((wanted) => asked.has(wanted));
}

function unionOf(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(' ') ?? []))].filter((scope) => scope !== '').join(' ');
}
