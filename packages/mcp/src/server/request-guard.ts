import { errorCodes } from '../protocol/constants.js';
import { ProtocolError } from '../protocol/protocol-error.js';
import type { HttpRequest } from './transports/http-message.js';

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
 * Refuses requests that a web page made a browser send, before a byte of the body is read.
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
const hostNameOf = remembered((host) => (/[\s/@\\?#]/.test(host) ? undefined : nameOf(`http://${host}`)));

/** `http://localhost:3000` → `localhost`; `null`, which browsers send for opaque origins, has no name. */
const originNameOf = remembered((origin) => (/^https?:\/\//i.test(origin) ? nameOf(origin) : undefined));

function nameOf(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}

const maxRemembered = 256;

/** The same few header values come with every request, and judging one costs more than the rest of the guard. */
function remembered<Verdict>(judge: (value: string) => Verdict): (value: string) => Verdict {
  const verdicts = new Map<string, Verdict>();
  return (value) => {
    const known = verdicts.get(value);
    if (known !== undefined) return known;
    const verdict = judge(value);
    if (verdicts.size >= maxRemembered) verdicts.clear();
    verdicts.set(value, verdict);
    return verdict;
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
 * Refuses a POST that is not JSON, or whose client does not take both forms of an answer.
 *
 * @throws ProtocolError with HTTP status 406 or 415
 */
export function requireJsonExchange(request: HttpRequest): void {
  requireJsonBody(request);
  if (!acceptsAnyAnswer(request.header('accept') ?? '*/*')) {
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
const acceptsAnyAnswer = remembered(
  (accept) => accepts(accept, 'application', 'json') && accepts(accept, 'text', 'event-stream'),
);

function accepts(accept: string, type: string, subtype: string): boolean {
  const text = accept.toLowerCase();
  return text.includes(`${type}/${subtype}`) || text.includes(`${type}/*`) || text.includes('*/*');
}

function notAcceptable(message: string): ProtocolError {
  return new ProtocolError(errorCodes.refused, message, { httpStatus: 406 });
}
