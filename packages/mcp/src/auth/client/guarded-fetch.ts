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

/** As `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;
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
    const response = await limitedFetch(send, target, init, timeout);
    if (response.status !== 302) return response;
    throw new QuiverError(
      'OAUTH_REDIRECT_REFUSED',
      `${target.origin} answered an OAuth request with a redirect, which is not followed.`,
    );
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

/**
 * A `fetch` for single requests that looks at the addresses it is about to connect to. A name that is asked twice may resolve to
 * something harmless first and to a private address the second time; here what was looked at is what is connected to.
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
    // An agent would lend a connection that was opened without this look.
    const request = send(target, { method, headers: sent, lookup, agent: false, ...(signal && { signal }) });
    request.end(payload);
    const answer = await new Promise<IncomingMessage>((onAnswer, onError) => {
      request.once('response', onAnswer);
      request.once('error', (error) => onError(signal?.aborted ? (signal.reason as Error) : error));
      // Such as after an answer that wants to switch protocols, which is no error to Node.
      request.once('close', () => onError(new TypeError(`${target.origin} closed the connection without an answer.`)));
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
