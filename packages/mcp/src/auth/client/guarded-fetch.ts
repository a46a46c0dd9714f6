import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { QuiverError } from '@quiver/core';
import { isFetchReplaced } from '../../is-fetch-replaced.js';
import { readLimitedText } from '../read-limited-text.js';
import { isLoopbackHost, requireSecureUrl } from '../secure-url.js';
import { createCheckedFetch, type Resolve } from './checked-fetch.js';
import type { Fetch } from '../../fetch.js';
import { isLoopbackAddress, isPrivateAddress } from './private-address.js';

export interface GuardedFetchOptions {
  /** How endpoints are asked. Default: in a way that looks at the address it connects to. */
  readonly fetch?: Fetch | undefined;
  /** How the MCP server itself is asked. Default: as the endpoints. */
  readonly serverFetch?: Fetch | undefined;
  /** The MCP server that named the URLs. One on this machine may name others on this machine. */
  readonly serverUrl: URL;
  /** Milliseconds one request may take. Default 10 000. */
  readonly timeout?: number;
  /** How names become addresses. Default: `dns.lookup`. */
  readonly resolve?: Resolve;
}

const maxAnswerBytes = 1024 * 1024;

/**
 * `fetch` for URLs that a server chose: encrypted, to public addresses only, without redirects, with a limit on time and size.
 * A name that resolves to a private address is refused like the address itself; with a `fetch` of the application's own, which may
 * resolve it once more, that is as good as it gets.
 *
 * @throws `OAUTH_URL_INSECURE`, `OAUTH_URL_PRIVATE`, `OAUTH_REDIRECT_REFUSED`, `OAUTH_ANSWER_TOO_LARGE`
 * @see [MCP, Server-Side Request Forgery](https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices)
 */
export function createGuardedFetch({
  fetch,
  serverFetch = fetch ?? globalThis.fetch,
  serverUrl,
  timeout = 10_000,
  resolve,
}: GuardedFetchOptions): Fetch {
  const allowsLoopback = isLoopbackHost(serverUrl.hostname);
  const requirePublic = (address: string, hostname: string): void => {
    const isAllowed = isLoopbackHost(hostname)
      ? allowsLoopback && isLoopbackAddress(address)
      : !isPrivateAddress(address);
    if (!isAllowed) throw refused(hostname);
  };
  const checkedFetch = createCheckedFetch(requirePublic, resolve);

  const send: Fetch = async (url, init) => {
    const { host, hostname } = new URL(url);
    if (host === serverUrl.host) return serverFetch(url, init);
    const literal = hostname.replace(/^\[|\]$/g, '');
    if (isLoopbackHost(hostname) && !allowsLoopback) throw refused(hostname);
    if (isIP(literal) > 0) requirePublic(literal, hostname);
    const own = fetch ?? (isFetchReplaced() ? globalThis.fetch : undefined);
    if (!own) return checkedFetch(url, init);
    for (const address of await addressesOf(hostname)) requirePublic(address, hostname);
    return own(url, init);
  };

  return async (url, init = {}) => {
    const target = requireSecureUrl(url, 'an OAuth endpoint');
    const response = await send(target, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeout) });
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel();
      throw new QuiverError(
        'OAUTH_REDIRECT_REFUSED',
        `${target.origin} answered an OAuth request with a redirect, which is not followed.`,
      );
    }
    const text = await readLimitedText(response, maxAnswerBytes);
    const { status, statusText, headers } = response;
    return new Response(status === 204 || status === 205 ? null : text, { status, statusText, headers: [...headers] });
  };
}

/** A name that does not resolve is left to `fetch`, whose error says so; behind a proxy it may even be reachable. */
async function addressesOf(hostname: string): Promise<string[]> {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) > 0) return [];
  return lookup(hostname, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  );
}

function refused(hostname: string): QuiverError {
  return new QuiverError(
    'OAUTH_URL_PRIVATE',
    `An MCP server sent its client to ${hostname}, which is a private address. Tokens are not fetched from there.`,
  );
}
