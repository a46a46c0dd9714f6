import { QuiverError } from '@quiver/core';
import { errorCodes } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { HttpRequest } from './message.js';

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

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses requests that a web page sent through a browser, before the body is read.
 *
 * @throws ProtocolError with HTTP status 403
 * @see [MCP, DNS rebinding](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning)
 */
export function requireTrustedOrigin(request: HttpRequest, policy: OriginPolicy): void {
  const { enableDnsRebindingProtection, allowedHosts, allowedOrigins } = policy;
  if (enableDnsRebindingProtection === false) return;
  const checksAll = enableDnsRebindingProtection ?? request.isRebindable;
  if (checksAll || allowedHosts) {
    const host = request.header('host');
    if (request.repeatsHost || !isAllowed(host, allowedHosts ?? loopbackNames, hostNameOf)) {
      throw forbidden(`Host ${describe(host)} is not allowed here; name it in allowedHosts if it should be.`);
    }
  }
  if (checksAll || allowedOrigins) {
    const origin = request.header('origin');
    if (origin !== undefined && !isAllowed(origin, allowedOrigins ?? loopbackNames, originNameOf)) {
      throw forbidden(`Origin ${describe(origin)} is not allowed here; name it in allowedOrigins if it should be.`);
    }
  }
}

function isAllowed(
  value: string | undefined,
  allowed: readonly string[],
  nameOf: (value: string) => string | undefined,
): boolean {
  if (value === undefined) return false;
  if (allowed.includes(value)) return true;
  const name = nameOf(value);
  return name !== undefined && allowed.includes(name);
}

/** `LOCALHOST.:3000` → `localhost`. */
const hostNameOf = memoize((host) => (/[\s/@\\?#]/.test(host) ? undefined : nameOf(`http://${host}`)));

/** `http://localhost:3000` → `localhost`; `null`, which browsers send for opaque origins, has no name. */
const originNameOf = memoize((origin) => (/^https?:\/\//i.test(origin) ? nameOf(origin) : undefined));

function nameOf(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}

const maxMemoized = 256;

/**
 * Caches results by header value: the same few values come with every request, and parsing one costs more than the rest of the guard.
 * The cache is cleared when it holds 256 values.
 */
function memoize<Result>(parse: (value: string) => Result): (value: string) => Result {
  const results = new Map<string, Result>();
  return (value) => {
    const known = results.get(value);
    if (known !== undefined) return known;
    const result = parse(value);
    if (results.size >= maxMemoized) results.clear();
    results.set(value, result);
    return result;
  };
}

function forbidden(message: string): ProtocolError {
  return new ProtocolError(errorCodes.refused, message, { httpStatus: 403 });
}

function describe(value: string | undefined): string {
  return value === undefined ? '(none)' : JSON.stringify(value.slice(0, 100));
}

/**
 * Refuses a POST that is not JSON.
 *
 * @throws ProtocolError with HTTP status 415
 */
export function requireJsonBody(request: HttpRequest): void {
  if (!isJson(request.header('content-type'))) {
    throw new ProtocolError(errorCodes.refused, 'Unsupported Media Type: Content-Type must be application/json', {
      httpStatus: 415,
    });
  }
  const encoding = request.header('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ProtocolError(
      errorCodes.refused,
      `Unsupported Media Type: Content-Encoding ${describe(encoding)} is not accepted`,
      {
        httpStatus: 415,
      },
    );
  }
}

/**
 * Refuses a POST whose client does not accept both forms of a response.
 *
 * @throws ProtocolError with HTTP status 406
 */
export function requireAcceptedResponse(request: HttpRequest): void {
  if (!acceptsAnyResponse(request.header('accept') ?? '*/*')) {
    throw notAcceptable('Not Acceptable: Client must accept both application/json and text/event-stream');
  }
}

/** @throws ProtocolError with HTTP status 406 */
export function requireEventStream(request: HttpRequest): void {
  if (!accepts(request.header('accept') ?? '*/*', 'text', 'event-stream'))
    throw notAcceptable('Not Acceptable: Client must accept text/event-stream');
}

function isJson(contentType: string | undefined): boolean {
  return (
    contentType === 'application/json' || contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
  );
}

/** No `Accept` header accepts everything. @see [RFC 9110, section 12.5.1](https://www.rfc-editor.org/rfc/rfc9110.html#section-12.5.1) */
const acceptsAnyResponse = memoize(
  (accept) => accepts(accept, 'application', 'json') && accepts(accept, 'text', 'event-stream'),
);

function accepts(accept: string, type: string, subtype: string): boolean {
  const text = accept.toLowerCase();
  return text.includes(`${type}/${subtype}`) || text.includes(`${type}/*`) || text.includes('*/*');
}

function notAcceptable(message: string): ProtocolError {
  return new ProtocolError(errorCodes.refused, message, { httpStatus: 406 });
}

/** @throws ProtocolError with HTTP status 413 */
export function refuseLargerThan(maxBytes: number, bytes: number): void {
  if (bytes > maxBytes) throw tooLarge(maxBytes);
}

export function tooLarge(maxBytes: number): ProtocolError {
  return new ProtocolError(errorCodes.refused, `Request body too large: at most ${maxBytes} bytes are read`, {
    httpStatus: 413,
  });
}

/** Returns the error of a body that was read before and is not on `req.body`. */
export function bodyAlreadyRead(): QuiverError {
  return new QuiverError(
    'BODY_ALREADY_READ',
    'Cannot read the body of the request: it was read before MCPServer. Leave it unread, or put the parsed body on req.body.',
  );
}

/** Returns whether an IP address is a loopback address. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}
