import { lookup as resolveAll, type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { QuiverError } from '@quiver/core';
import { isFetchReplaced } from '../../is-fetch-replaced.js';
import { limitedFetch } from '../limited-fetch.js';
import { isLoopbackHost, requireSecureUrl } from '../secure-url.js';
import type { Fetch } from '../../fetch.js';
import { isLoopbackAddress, isPrivateAddress } from './private-address.js';

/** The signature of `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;
export interface GuardedFetchOptions {
  /** Sends the requests to endpoints. Default: a client that checks the address that it connects to. */
  readonly fetch?: Fetch | undefined;
  /** Sends the requests to the MCP server's own host. Default: `fetch`. */
  readonly serverFetch?: Fetch | undefined;
  /** The MCP server that named the URLs. A server on a loopback address may name other loopback addresses. */
  readonly serverUrl: URL;
  /** Timeout of one request in milliseconds. Default 10 000. */
  readonly timeout?: number;
  /** Resolves host names. Default: `dns.lookup`. */
  readonly resolve?: Resolve;
}

/**
 * Returns a `fetch` for URLs that a server chose: encrypted, to public addresses only, without redirects, with a limit on time and
 * size. A name that resolves to a private address is rejected like the address itself. A custom `fetch` may resolve the name again.
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
    const response = await limitedFetch(send, target, init, timeout);
    if (response.status !== 302) return response;
    throw new QuiverError(
      'OAUTH_REDIRECT_REFUSED',
      `${target.origin} responded to an OAuth request with a redirect, which is not followed.`,
    );
  };
}

/** Leaves a name that does not resolve to `fetch`, which reports it; behind a proxy it may be reachable. */
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
    `An MCP server named ${hostname}, which is a private address. No request is sent to it.`,
  );
}

/**
 * Returns a `fetch` for single requests that checks the addresses before it connects. A name that is resolved twice may have a public
 * address first and a private one the second time; here the checked address is the one that is connected to.
 *
 * @param requireAllowed - throws for an address that must not be connected to
 */
function createCheckedFetch(
  requireAllowed: (address: string, hostname: string) => void,
  resolveName: Resolve = resolveAll,
): Fetch {
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolveName(hostname, { all: true }, (error, addresses) => {
      if (error) return callback(error, [], undefined);
      try {
        for (const { address } of addresses) requireAllowed(address, hostname);
      } catch (refusal) {
        return callback(refusal as Error, [], undefined);
      }
      const [first] = addresses;
      return options.all ? callback(null, addresses) : callback(null, first?.address ?? '', first?.family);
    });
  };
  return async (url, { method = 'GET', headers, body, signal } = {}) => {
    const target = new URL(url);
    const payload = body === undefined || body === null ? undefined : String(body as string | URLSearchParams);
    const sent = { 'accept-encoding': 'identity', ...Object.fromEntries(new Headers(headers)) };
    const send = target.protocol === 'https:' ? requestHttps : requestHttp;
    // An agent would reuse a connection that was opened without this check.
    const request = send(target, { method, headers: sent, lookup, agent: false, ...(signal && { signal }) });
    request.end(payload);
    const answer = await new Promise<IncomingMessage>((onAnswer, onError) => {
      request.once('response', onAnswer);
      request.once('error', (error) => onError(signal?.aborted ? (signal.reason as Error) : error));
      // For example after a response that switches protocols, which Node does not report as an error.
      request.once('close', () => onError(new TypeError(`${target.origin} closed the connection without a response.`)));
    });
    return new Response(hasBody(answer) ? (Readable.toWeb(answer) as ReadableStream) : null, {
      status: answer.statusCode ?? 500,
      statusText: answer.statusMessage ?? '',
      headers: headersOf(answer),
    });
  };
}

function hasBody(answer: IncomingMessage): boolean {
  if (answer.statusCode !== 204 && answer.statusCode !== 205 && answer.statusCode !== 304) return true;
  answer.resume();
  return false;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}
