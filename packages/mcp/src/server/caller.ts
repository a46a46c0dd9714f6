import type { McpTraceEvent } from '@quiver/core';
import type { McpAuthInfo } from '@quiver/core/tools';
import { defined } from '../defined.js';
import { isObject } from '../protocol/json-rpc.js';
import { toolAccessKey, type ToolAccessCarrier, type ToolAccessCheck } from '../tool-access.js';

/** Transport of a message, as trace events name it. */
export type ServerTransport = Extract<McpTraceEvent['transport'], 'http' | 'stdio'>;

/** Caller of a request: the client, and the person or program that it acts for. */
export class Caller {
  readonly authInfo: McpAuthInfo | undefined;
  readonly sessionId: string | undefined;
  /** Transport that the request arrived over; absent for a call that runs again without its client. */
  readonly transport: ServerTransport | undefined;
  /** HTTP request that carries the message; present over HTTP. */
  readonly http:
    | {
        readonly headers: Readonly<Record<string, string>>;
        readonly toolAccess: ToolAccessCheck | undefined;
        readonly remoteAddress?: string | undefined;
      }
    | undefined;

  constructor(facts: Partial<Pick<Caller, 'authInfo' | 'sessionId' | 'transport' | 'http'>> = {}) {
    const { authInfo, sessionId, transport, http } = facts;
    this.authInfo = authInfo;
    this.sessionId = sessionId;
    this.transport = transport;
    this.http = http;
  }

  /** Stable key of the person or program, unique together with its issuer; `undefined` without authentication. */
  get principal(): string | undefined {
    return this.authInfo && principalOf(this.authInfo);
  }

  /** Key that limits count by: the principal, or the network address; `undefined` for clients that cannot be distinguished. */
  get key(): string | undefined {
    return this.principal ?? addressKeyOf(this.http?.remoteAddress);
  }

  /** Scopes; empty without authentication, and when `scopes` is not an array. */
  get scopes(): readonly string[] {
    const scopes: unknown = this.authInfo?.scopes;
    return Array.isArray(scopes) ? (scopes as string[]) : [];
  }

  /** HTTP headers. Authentication hides the token from tools. */
  get headers(): Readonly<Record<string, string>> {
    const { authInfo, http } = this;
    const headers = http?.headers ?? {};
    if (!authInfo || authInfo.token !== undefined) return headers;
    const { authorization: _, ...others } = headers;
    return others;
  }

  /** Returns the caller of a session that outlives the request: the HTTP request itself is not retained. */
  withoutRequest(): Caller {
    const { http } = this;
    return new Caller({ ...this, http: http && { headers: http.headers, toolAccess: undefined } });
  }
}

const standardKeys: ReadonlySet<string> = new Set(['token', 'clientId', 'scopes', 'expiresAt', 'resource', 'extra']);

/**
 * Returns the identity that middleware set as `req.auth` in the form that tools receive: unchanged, with custom keys also under
 * `extra`.
 */
export function toAuthInfo(auth: unknown): (McpAuthInfo & ToolAccessCarrier) | undefined {
  if (!isObject(auth)) return undefined;
  const own = Object.entries(auth).filter(([key]) => !standardKeys.has(key));
  const given = isObject(auth['extra']) ? auth['extra'] : {};
  return { ...auth, extra: { ...Object.fromEntries(own), ...given } };
}

/** Returns the check of a request: its own, or that of its identity. */
export function toolAccessOf(
  request: ToolAccessCarrier,
  authInfo: ToolAccessCarrier | undefined,
): ToolAccessCheck | undefined {
  return request[toolAccessKey] ?? authInfo?.[toolAccessKey];
}

const subjectKeys = ['sub', 'subject', 'userId'] as const;

/**
 * Returns the principal that owns sessions, event streams and `requestState`. A user id survives a refreshed token. It is unique only
 * together with its issuer, because two authorization servers may both have a user `1`. Without a user id the token is the identity,
 * because many users may share a client id.
 *
 * @see [OpenID Connect Core, section 5.7 – Claim Stability and Uniqueness](https://openid.net/specs/openid-connect-core-1_0.html#ClaimStability)
 * @see [MCP, session hijacking](https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices)
 */
export function principalOf(authInfo: McpAuthInfo): string {
  for (const key of subjectKeys) {
    const subject: unknown = authInfo.extra?.[key];
    if (typeof subject === 'string' || typeof subject === 'number') {
      return JSON.stringify([key, subject, issuerOf(authInfo)]);
    }
  }
  if (typeof authInfo.token === 'string') return JSON.stringify(['token', authInfo.token]);
  return JSON.stringify(['client', authInfo.clientId ?? '', issuerOf(authInfo)]);
}

/**
 * Returns the identity of a caller without its token.
 *
 * @param names - members of `extra` to keep, in addition to subject and issuer
 */
export function storableAuthInfo(authInfo: McpAuthInfo, names: readonly string[]): McpAuthInfo {
  const { clientId, scopes, expiresAt, extra = {} } = authInfo;
  const kept = [...subjectKeys, ...names].filter((name) => Object.hasOwn(extra, name));
  const issuer = issuerOf(authInfo);
  return {
    ...defined({ clientId, scopes: scopes || undefined, expiresAt }),
    extra: {
      ...(issuer !== '' && { issuer }),
      ...Object.fromEntries(kept.map((name) => [name, extra[name] as unknown])),
    },
  };
}

function issuerOf({ extra }: McpAuthInfo): string {
  const { issuer, iss, claims } = extra ?? {};
  const named = [issuer, iss, isObject(claims) ? claims['iss'] : undefined].find((value) => typeof value === 'string');
  return typeof named === 'string' ? named : '';
}

/**
 * Returns the key by which a client without authentication is counted: its IPv4 address, or the /64 prefix of its IPv6 address, because
 * one site has all addresses of a prefix.
 *
 * @returns `undefined` for an unknown address, and for a loopback address, which may stand for many clients: of a reverse proxy
 * @see [RFC 6177, IPv6 address assignment to end sites](https://www.rfc-editor.org/rfc/rfc6177.html)
 */
function addressKeyOf(address: string | undefined): string | undefined {
  if (address === undefined || isLoopback(address)) return undefined;
  const ipv4 = /^(?:::ffff:)?([^:]+)$/i.exec(address)?.[1];
  // The link-local addresses of all hosts of a network have one prefix.
  if (/^fe[89ab]/i.test(address)) return `address ${address}`;
  return `address ${ipv4 ?? prefixOf(address)}`;
}

/** Returns the first four groups of an IPv6 address in their shortest form. */
function prefixOf(address: string): string {
  const [start = [], end = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => '0');
  const groups = [...start, ...zeros, ...end].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}
