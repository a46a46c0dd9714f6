import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

const httpAgent = new HttpAgent({ keepAlive: true });
const httpsAgent = new HttpsAgent({ keepAlive: true });

/** Where requests go, looked up once. */
export interface HttpTarget {
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
  readonly secure: boolean;
}

export function toHttpTarget({ protocol, host, hostname, port, pathname, search }: URL): HttpTarget {
  return {
    host,
    // An IPv6 address stands in brackets in a URL, and nowhere else.
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port,
    path: pathname + search,
    secure: protocol === 'https:',
  };
}

/**
 * Starts a request over connections that stay open. Nothing is ever sent a second time.
 *
 * @param headers - names and values in turn, `host` among them
 */
export function openHttpRequest(
  target: HttpTarget,
  method: string,
  headers: readonly string[],
  signal?: AbortSignal | null,
): ClientRequest {
  const { hostname, port, path, secure } = target;
  // All requests of a connection may share a signal, and Node 20 warns about the eleventh listener.
  if (signal) setMaxListeners(0, signal);
  return (secure ? httpsRequest : httpRequest)({
    hostname,
    port,
    path,
    method,
    headers,
    agent: secure ? httpsAgent : httpAgent,
    ...(signal && { signal }),
  });
}
