import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { QuiverError } from '@quiver/core';
import { readLimitedText } from '../read-limited-text.js';
import { isLoopbackHost, requireSecureUrl } from '../secure-url.js';

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface GuardedFetchOptions {
  readonly fetch: Fetch;
  /** The MCP server that named the URLs. One on this machine may name others on this machine. */
  readonly serverUrl: URL;
  /** Milliseconds one request may take. Default 10 000. */
  readonly timeout?: number;
}

const maxAnswerBytes = 1024 * 1024;

/**
 * `fetch` for URLs that a server chose: encrypted, to public addresses only, without redirects, with a limit on time and size.
 * A name that resolves to a private address is refused like the address itself.
 *
 * @throws `OAUTH_URL_INSECURE`, `OAUTH_URL_PRIVATE`, `OAUTH_REDIRECT_REFUSED`, `OAUTH_ANSWER_TOO_LARGE`
 * @see [MCP, Server-Side Request Forgery](https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices)
 */
export function createGuardedFetch({ fetch, serverUrl, timeout = 10_000 }: GuardedFetchOptions): Fetch {
  return async (url, init = {}) => {
    const target = requireSecureUrl(url, 'an OAuth endpoint');
    if (target.host !== serverUrl.host) await requirePublicHost(target, isLoopbackHost(serverUrl.hostname));
    const limit = AbortSignal.timeout(timeout);
    const response = await fetch(target, { ...init, redirect: 'manual', signal: limit });
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

async function requirePublicHost({ hostname }: URL, allowsLoopback: boolean): Promise<void> {
  if (isLoopbackHost(hostname)) {
    if (allowsLoopback) return;
    throw refused(hostname);
  }
  const literal = hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(literal) > 0 ? [literal] : await resolve(hostname);
  if (addresses.some((address) => isPrivate(address))) throw refused(hostname);
}

/** A name that does not resolve is left to `fetch`, whose error says so; behind a proxy it may even be reachable. */
async function resolve(hostname: string): Promise<string[]> {
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

/** Ranges that no public server has: this host, private, link-local, shared, benchmark, multicast, reserved. */
const privateRanges: BlockList = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  privateRanges.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  privateRanges.addSubnet(network, prefix, 'ipv6');
}

function isPrivate(address: string): boolean {
  return privateRanges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
