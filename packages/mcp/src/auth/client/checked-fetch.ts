import { lookup as resolve, type LookupAddress } from 'node:dns';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import type { Fetch } from '../../fetch.js';

/** As `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A `fetch` for single requests that looks at the addresses it is about to connect to. A name that is asked twice may resolve to
 * something harmless first and to a private address the second time; here what was looked at is what is connected to.
 *
 * @param requireAllowed - throws for an address that must not be connected to
 */
export function createCheckedFetch(
  requireAllowed: (address: string, hostname: string) => void,
  resolveName: Resolve = resolve,
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
