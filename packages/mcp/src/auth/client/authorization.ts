import { QuiverError } from '@quiver/core';
import { repeats } from '../../repeats.js';
import { isLoopbackHost, withoutQuery } from '../secure-url.js';
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
import { beginAuthorization, unionOf } from './sign-in.js';
import type { AuthorizationTarget, KeptTokens } from './sign-in-state.js';

/**
 * Sends a request with the tokens of a provider. Replaces a token that has expired or is rejected, requests more scopes when the
 * server requires them (once per request), and repeats the rejected request. Requests that share a storage share one refresh.
 *
 * @throws as `createOAuthFetch`
 */
export async function sendAuthorized<Head extends ResponseHead>(
  target: AuthorizationTarget,
  request: AuthorizedRequest,
  send: SendWithHeaders<Head>,
): Promise<Head> {
  const { signIn, serverUrl } = target;
  const started = performance.now();
  const replace = (mode: Replacement['mode'], challenge?: Challenge): Promise<KeptTokens> =>
    replaceInTurn({ ...target, ...challenge, scope: challenge?.scope, used: tokens, mode, started });
  let tokens = await signIn.tokens();
  if (tokens?.refresh_token !== undefined && signIn.isExpired(tokens)) tokens = await replace('refresh');
  let response = await sendWithToken(signIn, tokens, request, send);
  if (repeats.rejectedToken.isCause(response.status)) {
    response.discard();
    tokens = await replace('refresh', parseChallenge(response, serverUrl));
    response = await sendWithToken(signIn, tokens, request, send);
  }
  if (response.status < 400) return response;
  const challenge = parseChallenge(response, serverUrl);
  if (!repeats.missingScope.isCause(response.status, challenge.error)) return response;
  // Requesting the scopes of the last sign-in again would not help.
  if (includesScope(tokens?.requested_scope, challenge.scope)) return response;
  response.discard();
  tokens = await replace('step-up', challenge);
  return sendWithToken(signIn, tokens, request, send);
}

function includesScope(scopes: string | undefined, wanted: string | undefined): boolean {
  const known = scopes?.split(' ') ?? [];
  return wanted !== undefined && wanted.split(' ').every((scope) => known.includes(scope));
}

interface Replacement extends AuthorizationTarget {
  /** The tokens that did not suffice. */
  readonly used: KeptTokens | undefined;
  readonly scope: string | undefined;
  /** `refresh`: any valid token suffices. `step-up`: more scopes are needed, which a refresh cannot grant. */
  readonly mode: 'refresh' | 'step-up';
  /** When the request began, on the clock of `performance.now()`. */
  readonly started: number;
}

interface ReplacementQueue {
  last: Promise<unknown>;
  failure?: { readonly error: unknown; readonly at: number } | undefined;
}

/** Queues by storage and by mode and server. A queue lives as long as its storage. */
const queues = new WeakMap<OAuthStorage, Map<string, ReplacementQueue>>();

/** Serves the needs of one sign-in in turn: each finds the tokens of the one before. A request that began before a failure shares it. */
function replaceInTurn(replacement: Replacement): Promise<KeptTokens> {
  const { signIn, mode, started } = replacement;
  const { storage } = signIn.values;
  const key = `${mode} ${signIn.values.keyOf('tokens')}`;
  const byKey = queues.get(storage) ?? new Map<string, ReplacementQueue>();
  const queue = byKey.get(key) ?? { last: Promise.resolve() };
  queues.set(storage, byKey.set(key, queue));
  const replaced = queue.last.then(async () => {
    const stored = await signIn.tokens();
    if (stored && suffices(stored, replacement)) return stored;
    if (queue.failure && started < queue.failure.at) throw queue.failure.error;
    queue.failure = undefined;
    return replaceTokens(replacement).catch((error: unknown) => {
      queue.failure = { error, at: performance.now() };
      throw error;
    });
  });
  queue.last = replaced.catch(() => {});
  return replaced;
}

/** Whether tokens that another request, or another process, has stored may do. */
function suffices(stored: KeptTokens, { signIn, used, mode, scope }: Replacement): boolean {
  if (stored.access_token === used?.access_token || signIn.isExpired(stored)) return false;
  return (
    mode === 'refresh' || scope === undefined || includesScope(unionOf(stored.scope, stored.requested_scope), scope)
  );
}

async function replaceTokens(replacement: Replacement): Promise<KeptTokens> {
  const { signIn, policy, serverUrl, used, mode, scope: challenged } = replacement;
  if (mode === 'refresh') {
    const refreshed = await refreshTokens(replacement, (stored) => suffices(stored, replacement));
    if (refreshed) return refreshed;
  }
  const granted = mode === 'step-up' ? (await signIn.tokens())?.scope : undefined;
  let scope: string | null = unionOf(granted, challenged);
  // One page, not one per request or process; and never instead of the page that `authenticate()` waits for.
  if (!policy.isPageLeftToAuthenticate && !(await signIn.isPageShown())) {
    try {
      const result = await beginAuthorization(replacement, scope);
      if (!(result instanceof URL)) return result;
      await signIn.show(result);
      scope = result.searchParams.get('scope');
    } catch (error) {
      throw used && mode === 'refresh' ? toTokenRejected(error, serverUrl) : error;
    }
  }
  throw signInRequired(replacement, scope || undefined);
}

/** Which remedy works depends on the program: nothing listens on a loopback redirect URL by itself. */
function signInRequired({ policy, serverUrl, mode }: Replacement, scope: string | undefined): QuiverError {
  const isStepUp = mode === 'step-up';
  const printable = scope?.slice(0, 200).replaceAll(/[^\x20-\x7E]|['\\`]/g, '');
  const argument = isStepUp && printable !== undefined ? `, { scope: '${printable}' }` : '';
  const remedy = isLoopbackHost(new URL(policy.redirectUrl ?? serverUrl).hostname)
    ? `In a terminal program, call \`mcp.authenticate(serverName${argument})\`, which shows the sign-in page and waits for the redirect; an application that serves the redirect URL itself calls finishAuthorization().`
    : 'The sign-in page has been shown; call finishAuthorization() in the route of the redirect URL.';
  return new QuiverError(
    'OAUTH_AUTHORIZATION_REQUIRED',
    `MCP server ${serverUrl.origin} requires the user to sign in${isStepUp ? ' for more scopes' : ''}. ${remedy} Then repeat the call.`,
    { details: { server: withoutQuery(serverUrl), ...(scope !== undefined && { scope }) } },
  );
}

/** The message names the rejected token as well: a user who passed it would otherwise see only the failed sign-in. */
function toTokenRejected(error: unknown, { origin }: URL): unknown {
  if (!(error instanceof QuiverError)) return error;
  const message = `The token for MCP server ${origin} was refused or has expired. ${error.message}`;
  return new QuiverError(error.code, message, { cause: error, ...(error.details && { details: error.details }) });
}
