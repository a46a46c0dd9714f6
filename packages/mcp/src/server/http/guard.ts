import { loopbackNames } from '../../protocol/page-url.js';
import { refused, type ProtocolError } from '../../protocol/protocol-error.js';
import { serverClosed, type Lifecycle } from '../lifecycle.js';
import type { HttpReply, HttpRequest } from './message.js';

export interface OriginPolicy {
  /**
   * Checks `Host` and `Origin` against DNS rebinding. Default: for requests that arrive over the loopback interface (with
   * `fetch()`, which cannot know the interface: for all that do not come over https), and whenever a list below is given.
   */
  readonly enableDnsRebindingProtection?: boolean | undefined;
  /** Values of `Host` that are accepted, with or without port. Default: loopback names. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Values of `Origin` that are accepted, as origins or host names. Default: loopback names. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/**
 * Refuses requests to a server that is closed: also those whose body was still arriving. The connection of a request to a server that drains
 * ends with its response.
 *
 * @throws ProtocolError with HTTP status 503
 */
export function requireNotClosed({ state }: Lifecycle, reply: HttpReply): void {
  if (state === 'open') return;
  reply.endConnection();
  if (state === 'closed') throw serverClosed();
}

/**
 * Refuses a request before its path, method and body are read.
 *
 * @throws ProtocolError with HTTP status 403 for a request that a web page may have sent, 503 when the server is closed
 * @see [MCP, DNS rebinding](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning)
 */
export function requireServed(
  request: HttpRequest,
  reply: HttpReply,
  lifecycle: Lifecycle,
  policy: OriginPolicy,
): void {
  requireNotClosed(lifecycle, reply);
  const { enableDnsRebindingProtection, allowedHosts, allowedOrigins } = policy;
  if (enableDnsRebindingProtection === false) return;
  const checksAll = enableDnsRebindingProtection ?? request.isRebindable;
  if (checksAll || allowedHosts) {
    const host = request.header('host');
    if (request.repeatsHost || host === undefined || !isAllowed(host, allowedHosts ?? loopbackNames, hostPattern)) {
      throw refused(403, `Host ${quote(host)} is not allowed here; name it in allowedHosts if it should be.`);
    }
  }
  if (checksAll || allowedOrigins) {
    const origin = request.header('origin');
    if (origin !== undefined && !isAllowed(origin, allowedOrigins ?? loopbackNames, originPattern)) {
      throw refused(403, `Origin ${quote(origin)} is not allowed here; name it in allowedOrigins if it should be.`);
    }
  }
}

/** A host name or address, a dot that ends it, and a port. */
const hostPattern = /^([\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])\.?(?::\d*)?$/i;
/** `null`, which browsers send for opaque origins, does not match. */
const originPattern = /^https?:\/\/([\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])\.?(?::\d*)?$/i;

/** Compares the whole value, and its host name: `LOCALHOST.:3000` → `localhost`. */
function isAllowed(value: string, allowed: readonly string[], pattern: RegExp): boolean {
  if (allowed.includes(value)) return true;
  const name = pattern.exec(value)?.[1];
  return name !== undefined && allowed.includes(name.toLowerCase());
}

function quote(value: string | undefined): string {
  return value === undefined ? '(none)' : JSON.stringify(value.slice(0, 100));
}

/**
 * Refuses a POST that is not JSON.
 *
 * @throws ProtocolError with HTTP status 415
 */
export function requireJsonBody(request: HttpRequest): void {
  const type = request.header('content-type');
  if (type !== 'application/json' && type?.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json')
    throw refused(415, 'Unsupported Media Type: Content-Type must be application/json');
  const encoding = request.header('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw refused(415, `Unsupported Media Type: Content-Encoding ${quote(encoding)} is not accepted`);
}

/**
 * Refuses a request whose client does not accept a media type of the response. No `Accept` header accepts everything.
 *
 * @throws ProtocolError with HTTP status 406
 * @see [RFC 9110, section 12.5.1](https://www.rfc-editor.org/rfc/rfc9110.html#section-12.5.1)
 */
export function requireAccepted(request: HttpRequest, ...types: readonly `${string}/${string}`[]): void {
  const accept = (request.header('accept') ?? '*/*').toLowerCase();
  const isAccepted = (type: string): boolean =>
    accept.includes(type) || accept.includes('*/*') || accept.includes(`${type.slice(0, type.indexOf('/'))}/*`);
  if (types.every(isAccepted)) return;
  throw refused(406, `Not Acceptable: Client must accept ${types.length > 1 ? 'both ' : ''}${types.join(' and ')}`);
}

export function bodyTooLarge(maxBytes: number): ProtocolError {
  return refused(413, `Request body too large: at most ${maxBytes} bytes are read`);
}
