import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { QuiverError } from '@quiver/core';
import { createAddressGuard, isLoopbackAddress, isPrivateAddress } from '@quiver/core/internal';
import { isFetchReplaced, toFetch, type Fetch } from '../../http/send.js';
import { limitedFetch } from '../limited-fetch.js';
import { isLoopbackHost, requireSecureUrl } from '../secure-url.js';

export interface GuardedFetchOptions {
  /** Sends the requests to endpoints. Default: `node:http` with a check of the address that it connects to. */
  readonly fetch?: Fetch | undefined;
  /** Sends the requests to the MCP server's own host. Default: `fetch`. */
  readonly serverFetch?: Fetch | undefined;
  /** The MCP server that named the URLs. A server on a loopback address may name other loopback addresses. */
  readonly serverUrl: URL;
  /** Timeout of one request in milliseconds. Default 10 000. */
  readonly timeout?: number;
  /** Resolves host names. Default: `dns.lookup`. */
  readonly resolve?: (hostname: string, options: { readonly all: true }) => Promise<LookupAddress[]>;
}

/**
 * Returns a `fetch` for URLs that a server chose: encrypted, to public addresses only, without redirects, limited in time and size.
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
  const requireAllowed = (hostname: string, address: string): void => {
    const isAllowed = isLoopbackHost(hostname)
      ? allowsLoopback && isLoopbackAddress(address)
      : !isPrivateAddress(address);
    if (isAllowed) return;
    throw new QuiverError(
      'OAUTH_URL_PRIVATE',
      `An MCP server named ${hostname}, which is a private address. No request is sent to it.`,
    );
  };
  const guard = createAddressGuard(requireAllowed, resolve);
  // Loaded with the first request, because importing `node:http` costs 70 ms.
  const checkedFetch: Fetch = async (url, init) => {
    const { createNodeSend } = await import('../../http/node-send.js');
    return toFetch(createNodeSend({ lookup: guard.lookup, keepAlive: false }))(url, init);
  };

  const send: Fetch = async (url, init) => {
    const { host, hostname } = new URL(url);
    if (host === serverUrl.host) return serverFetch(url, init);
    const literal = hostname.replace(/^\[|\]$/g, '');
    const address = isIP(literal) > 0 ? literal : isLoopbackHost(hostname) ? '127.0.0.1' : undefined;
    if (address !== undefined) requireAllowed(hostname, address);
    const custom = fetch ?? (isFetchReplaced() ? globalThis.fetch : undefined);
    if (!custom) {
      return checkedFetch(url, init).catch((error: unknown) => {
        const { cause } = error as { cause?: unknown };
        throw cause instanceof QuiverError ? cause : error;
      });
    }
    // A name that does not resolve is left to `fetch`, which reports it; behind a proxy it may be reachable.
    await guard.resolve(literal).catch((error: unknown) => {
      if (error instanceof QuiverError) throw error;
    });
    return custom(url, init);
  };

  return async (url, init = {}) => {
    const target = requireSecureUrl(url, 'an OAuth endpoint');
    const response = await limitedFetch(send, target, init, timeout);
    if (response.status !== 302) return response;
    throw new QuiverError(
      'OAUTH_REDIRECT_REFUSED',
      `${target.origin} responded to an OAuth request with a redirect, which is not followed.`,
    );
  };
}
