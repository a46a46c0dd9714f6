import { QuiverError } from '@quiver/core';
import { isLoopbackHost } from '../secure-url.js';
import type { AuthorizationTarget, KeptTokens } from './oauth-client-provider.js';
import type { OAuthStorage } from './oauth-storage.js';
import { refreshTokens } from './request-tokens.js';
import {
  parseChallenge,
  sendWithToken,
  type AuthorizedRequest,
  type Challenge,
  type ResponseHead,
  type SendWithHeaders,
} from './send-with-token.js';
import { beginAuthorization } from './sign-in.js';

/** Sends a request with the tokens of a provider. */
export type Authorization = <Head extends ResponseHead>(
  request: AuthorizedRequest,
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
export function createAuthorization(target: AuthorizationTarget): Authorization {
  const { provider, serverUrl } = target;
  return async (request, send) => {
    const started = performance.now();
    const renew = (mode: Renewal['mode'], challenge?: Challenge): Promise<KeptTokens> =>
      renewInTurn({ ...target, ...challenge, scope: challenge?.scope, used: tokens, mode, started });
    let tokens = await provider.tokens();
    if (tokens?.refresh_token !== undefined && provider.isExpired(tokens)) tokens = await renew('refresh');
    let response = await sendWithToken(provider, tokens, request, send);
    if (response.status === 401) {
      response.discard();
      tokens = await renew('refresh', parseChallenge(response, serverUrl));
      response = await sendWithToken(provider, tokens, request, send);
    }
    if (response.status !== 403) return response;
    const challenge = parseChallenge(response, serverUrl);
    // Requesting the scopes of the last sign-in again would not help.
    if (challenge.error !== 'insufficient_scope' || includesScope(tokens?.requested_scope, challenge.scope)) {
      return response;
    }
    response.discard();
    tokens = await renew('step-up', challenge);
    return sendWithToken(provider, tokens, request, send);
  };
}

/** Whether a list of scopes contains the wanted ones. */
function includesScope(scopes: string | undefined, wanted: string | undefined): boolean {
  const known = scopes?.split(' ') ?? [];
  return wanted !== undefined && wanted.split(' ').every((scope) => known.includes(scope));
}

function unionOf(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(' ') ?? []))].filter((scope) => scope !== '').join(' ');
}

interface Renewal extends AuthorizationTarget {
  /** The tokens that did not suffice. */
  readonly used: KeptTokens | undefined;
  /** Scope from the challenge. */
  readonly scope: string | undefined;
  /** `refresh`: any valid token suffices. `step-up`: more scopes are needed, which a refresh cannot grant. */
  readonly mode: 'refresh' | 'step-up';
  /** When the request began, on the clock of `performance.now()`. */
  readonly started: number;
}

interface RenewalQueue {
  last: Promise<unknown>;
  failure?: { readonly error: unknown; readonly at: number } | undefined;
}

/** Renewals by storage and by mode and server. A queue lives as long as its storage. */
const queues = new WeakMap<OAuthStorage, Map<string, RenewalQueue>>();

/** Milliseconds in which a sign-in page that awaits its user is not shown again. */
const pagePause = 30_000;

/**
 * Runs the renewals of one sign-in one after the other, so that each finds the tokens of the one before. A request that was sent
 * before a renewal failed shares the failure, and so does every request while a page that was just shown awaits its user: one sign-in
 * page, not one per request.
 */
function renewInTurn(renewal: Renewal): Promise<KeptTokens> {
  const { provider, mode, started } = renewal;
  const { storage, key } = provider.identity;
  const byKey = queues.get(storage) ?? new Map<string, RenewalQueue>();
  queues.set(storage, byKey);
  const queue = byKey.get(`${mode} ${key}`) ?? { last: Promise.resolve() };
  byKey.set(`${mode} ${key}`, queue);
  const renewed = queue.last.then(async () => {
    const newer = await newerTokens(renewal);
    if (newer) return newer;
    const pause = (await provider.pendingSignIn()) ? pagePause : 0;
    if (queue.failure && started < queue.failure.at + pause) throw queue.failure.error;
    queue.failure = undefined;
    return renewTokens(renewal).catch((error: unknown) => {
      queue.failure = { error, at: performance.now() };
      throw error;
    });
  });
  queue.last = renewed.catch(() => {});
  return renewed;
}

/** Returns the stored tokens if they may suffice: another request, or another process, was faster. */
async function newerTokens({ provider, used, mode, scope }: Renewal): Promise<KeptTokens | undefined> {
  const stored = await provider.tokens();
  if (!stored || stored.access_token === used?.access_token || provider.isExpired(stored)) return undefined;
  const isEnough = mode === 'refresh' || scope === undefined;
  return isEnough || includesScope(unionOf(stored.scope, stored.requested_scope), scope) ? stored : undefined;
}

async function renewTokens(renewal: Renewal): Promise<KeptTokens> {
  const { provider, serverUrl, used, mode } = renewal;
  const renewed = await provider.exclusive(async () => {
    const newer = await newerTokens(renewal);
    const stored = await provider.tokens();
    if (newer || mode === 'step-up' || stored?.refresh_token === undefined) return newer;
    // A process that shares the storage without a lock may have used the refresh token first.
    return (await refreshTokens(renewal, stored)) ?? newerTokens({ ...renewal, used: stored });
  });
  if (renewed) return renewed;
  const granted = mode === 'step-up' ? (await provider.tokens())?.scope : undefined;
  const tokens = await beginAuthorization(renewal, unionOf(granted, renewal.scope)).catch((error: unknown) => {
    throw used && mode === 'refresh' ? toTokenRejected(error, serverUrl) : error;
  });
  if (tokens) return tokens;
  throw await signInRequired(renewal);
}

/** Which remedy works depends on the program: nothing listens on a loopback redirect URL by itself. */
async function signInRequired({ provider, serverUrl, mode }: Renewal): Promise<QuiverError> {
  const scope = await provider.requestedScope();
  const isStepUp = mode === 'step-up';
  const printable = scope?.slice(0, 200).replaceAll(/[^\x20-\x7E]|['\\`]/g, '');
  const argument = isStepUp && printable !== undefined ? `, { scope: '${printable}' }` : '';
  const remedy = isLoopbackHost(new URL(provider.redirectUrl ?? serverUrl).hostname)
    ? `In a terminal program, call \`mcp.authenticate(serverName${argument})\`, which waits for the redirect; an application that serves the redirect URL itself calls finishAuthorization().`
    : 'The sign-in page has been shown; call finishAuthorization() in the route of the redirect URL.';
  return new QuiverError(
    'OAUTH_AUTHORIZATION_REQUIRED',
    `MCP server ${serverUrl.origin} requires the user to sign in${isStepUp ? ' for more scopes' : ''}. ${remedy} Then repeat the call.`,
    { details: { server: serverUrl.href, ...(scope !== undefined && { scope }) } },
  );
}

/** The message names the rejected token as well: a user who passed it would otherwise see only the failed sign-in. */
function toTokenRejected(error: unknown, { origin }: URL): unknown {
  if (!(error instanceof QuiverError)) return error;
  const message = `The token for MCP server ${origin} was refused or has expired. ${error.message}`;
  return new QuiverError(error.code, message, { cause: error, ...(error.details && { details: error.details }) });
}
