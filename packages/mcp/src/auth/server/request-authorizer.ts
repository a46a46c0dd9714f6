import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { getDefaultLogger } from '@quiver/core';
import type { McpAuthInfo } from '@quiver/core/tools';
import type { ToolAccessCheck, ToolAccessRefusal } from '../../tool-access.js';
import { redactToken } from '../redact-token.js';
import { parseBearerToken, toChallenge, toDescription } from './bearer-token.js';
import { requireOAuthOptions, type OAuthMiddlewareOptions } from './oauth-options.js';
import { generateProtectedResourceMetadata, metadataUrlOf, wellKnownPath } from './protected-resource-metadata.js';
import { validateToken, type TokenValidationResult } from './token-validator.js';
import { VerifiedTokens } from './verified-tokens.js';

/** The head of an HTTP request. */
export interface RequestHead {
  readonly method: string;
  /** Every spelling of the path that a later handler may use; first the one that the client sent. */
  readonly paths: readonly string[];
  readonly query: string;
  readonly authorization: readonly string[];
  readonly origin: string | undefined;
}

/** A response of the middleware: the request does not reach the MCP server. */
export interface AuthorizationResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body?: object;
  readonly validation?: TokenValidationResult;
}

export type AuthorizationResult =
  | { readonly kind: 'unprotected' }
  | AuthorizationResponse
  | {
      readonly kind: 'authorized';
      readonly authInfo: McpAuthInfo;
      readonly validation: TokenValidationResult;
      /** Headers for the response of the MCP server. */
      readonly headers: Record<string, string>;
      /** The check of `toolScopes` that the server runs when it dispatches a tool call. */
      readonly toolAccess: ToolAccessCheck | undefined;
    };

/** Milliseconds. */
const defaultCacheTtl = 300_000;

/** Twice the time that the validators of this package give an authorization server. */
const defaultValidationTimeout = 10_000;

/** Seconds that the clock of a validator may differ. */
const clockTolerance = 30;

/** Returns a function that authorizes a request by its head, independent of how requests arrive. It never rejects. */
export function createRequestAuthorizer(
  options: OAuthMiddlewareOptions,
): (request: RequestHead) => Promise<AuthorizationResult> {
  requireOAuthOptions(options);
  const { oauth, mcpPath = '/mcp', allowedOrigins = '*', logger = getDefaultLogger() } = options;
  const { resource, requiredScopes = [], toolScopes = {}, exposeToken = false } = oauth;
  const { validationTimeout: timeout = defaultValidationTimeout, validateToken: validator } = oauth;
  const verified = new VerifiedTokens(oauth.cacheTtl ?? defaultCacheTtl);
  const named = [...new Set([...requiredScopes, ...Object.values(toolScopes).flat()])];
  const { scopesSupported = named } = oauth;
  const metadata = generateProtectedResourceMetadata({ ...oauth, scopesSupported });
  const resourceMetadataUrl = metadataUrlOf(resource);
  const resourcePath = new URL(resource).pathname;
  const protectedPaths = resourcePath === '/' ? [mcpPath] : [mcpPath, resourcePath];
  // A path that cannot be parsed protects everything.
  const prefixes = protectedPaths.map((path) => normalize(path) ?? '/');
  const metadataPaths = new Set([wellKnownPath, ...protectedPaths.map((path) => `${wellKnownPath}${path}`)]);
  const callScopes = new Map(Object.entries(toolScopes));

  const cors = (origin: string | undefined): Record<string, string> => {
    // Only pages send an origin, and headers of a middleware are a tenth of the CPU time of a small call.
    if (allowedOrigins === '*') return origin === undefined ? {} : openToAll;
    if (origin === undefined || !allowedOrigins.includes(origin)) return { vary: 'Origin' };
    return { 'access-control-allow-origin': origin, vary: 'Origin', ...exposed };
  };

  const reject = (
    status: number,
    origin: string | undefined,
    rejection: Rejection,
  ): AuthorizationResponse & ToolAccessRefusal => {
    const { code, description, validation } = rejection;
    const { scopes = requiredScopes.length > 0 ? requiredScopes : scopesSupported } = rejection;
    const error = code === undefined ? {} : { error: code, errorDescription: description };
    const challenge = toChallenge({ resourceMetadataUrl, scopes, ...error });
    return {
      kind: 'response',
      status,
      headers: {
        ...jsonHeaders,
        ...cors(origin),
        'cache-control': 'no-store',
        ...(status < 500 && { 'www-authenticate': challenge }),
        ...(status === 503 && { 'retry-after': '5' }),
      },
      body: { error: code ?? 'unauthorized', error_description: toDescription(description) },
      ...(validation && { validation }),
    };
  };

  const serveMetadata = (method: string): AuthorizationResponse => {
    const open = { 'access-control-allow-origin': '*' };
    if (method === 'OPTIONS') return preflight({ ...open, ...allow('GET, HEAD, OPTIONS', '*') });
    if (method !== 'GET' && method !== 'HEAD') {
      return { kind: 'response', status: 405, headers: { ...open, allow: 'GET, HEAD, OPTIONS' } };
    }
    const headers = { ...jsonHeaders, ...open, 'cache-control': 'max-age=3600' };
    return { kind: 'response', status: 200, headers, body: metadata };
  };

  const validate = async (token: string): Promise<TokenValidationResult> =>
    token === '' ? { valid: false } : validateToken(token, { validator, resource, timeout, logger });

  return async ({ method, paths, query, authorization, origin }) => {
    if (metadataPaths.has(paths[0] as string)) return serveMetadata(method);
    if (!paths.some((path) => isProtectedPath(path, prefixes))) return { kind: 'unprotected' };
    if (method === 'OPTIONS')
      return preflight({ ...cors(origin), ...allow('GET, POST, DELETE, OPTIONS', allowedHeaders) });
    const found = parseBearerToken(authorization, query);
    if (found.kind === 'none') return reject(401, origin, { description: 'Bearer token required' });
    if (found.kind === 'malformed') return reject(400, origin, { code: 'invalid_request', description: found.reason });
    const { token } = found;
    const known = verified.find(token);
    const validation = known?.validation ?? (await validate(token));
    const { valid, error = 'invalid_token', errorDescription = 'Token validation failed', expiresAt } = validation;
    if (!valid) {
      const { status, description = redactToken(errorDescription, token) } = outcomes.get(error) ?? { status: 401 };
      return reject(status, origin, { code: error, description, validation });
    }
    if (expiresAt !== undefined && !(expiresAt + clockTolerance > Date.now() / 1000)) {
      return reject(401, origin, { code: 'invalid_token', description: 'Token has expired', validation });
    }
    const { scopes = [] } = validation;
    if (requiredScopes.some((scope) => !scopes.includes(scope))) {
      return reject(403, origin, { ...insufficient, scopes: requiredScopes, validation });
    }
    const checkTool: ToolAccessCheck = (tool) => {
      const wanted = callScopes.get(tool) ?? [];
      if (wanted.every((scope) => scopes.includes(scope))) return undefined;
      return reject(403, origin, { ...insufficient, scopes: [...new Set([...requiredScopes, ...wanted])] });
    };
    const { authInfo } =
      known ??
      verified.add(token, {
        validation,
        authInfo: { ...(exposeToken && { token }), ...toAuthInfo(token, validation), resource },
      });
    const toolAccess = callScopes.size === 0 ? undefined : checkTool;
    return { kind: 'authorized', authInfo: copyOf(authInfo), validation, headers: cors(origin), toolAccess };
  };
}

interface Rejection {
  readonly code?: string;
  readonly description: string;
  readonly scopes?: readonly string[];
  readonly validation?: TokenValidationResult;
}

const jsonHeaders = { 'content-type': 'application/json' };

/** Response headers that pages need to sign in and to continue a session. */
const exposed = { 'access-control-expose-headers': 'WWW-Authenticate, Mcp-Session-Id' };

const openToAll = { 'access-control-allow-origin': '*', ...exposed };

const allowedHeaders =
  'Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID';

function allow(methods: string, headers: string): Record<string, string> {
  return { 'access-control-allow-methods': methods, 'access-control-allow-headers': headers };
}

function preflight(headers: Record<string, string>): AuthorizationResponse {
  return { kind: 'response', status: 204, headers: { ...headers, 'access-control-max-age': '86400' } };
}

const insufficient = { code: 'insufficient_scope', description: 'The token lacks a scope that this request needs' };

/**
 * Responses to error codes of validators. A fixed description replaces that of the validator.
 *
 * @see [RFC 6750, section 3.1 – Error Codes](https://www.rfc-editor.org/rfc/rfc6750.html#section-3.1)
 */
const outcomes: ReadonlyMap<string, { readonly status: number; readonly description?: string }> = new Map([
  ['invalid_request', { status: 400 }],
  ['insufficient_scope', { status: 403 }],
  ['temporarily_unavailable', { status: 503, description: 'Tokens cannot be checked right now' }],
  ['server_error', { status: 500, description: 'The token could not be checked' }],
]);

/**
 * Returns what tools receive of a validated token, as `context.mcp.extra.authInfo`: not the token itself, because a tool that passes it
 * on breaks the audience rule. A token without a subject has its fingerprint as subject, so that two of them share no session.
 *
 * @see [MCP, Token Passthrough](https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices#token-passthrough)
 */
function toAuthInfo(
  token: string,
  { subject, issuer, scopes = [], clientId, expiresAt, claims }: TokenValidationResult,
): Pick<McpAuthInfo, 'clientId' | 'scopes' | 'expiresAt' | 'extra'> {
  return {
    ...(clientId !== undefined && { clientId }),
    scopes: [...scopes],
    ...(expiresAt !== undefined && { expiresAt }),
    extra: {
      subject: subject ?? `token:${createHash('sha256').update(token).digest('base64url').slice(0, 22)}`,
      ...(issuer !== undefined && { issuer }),
      ...(claims && { claims }),
    },
  };
}

/** Returns an identity that the application may change: only the claims are shared with other requests. */
function copyOf(authInfo: McpAuthInfo): McpAuthInfo {
  return { ...authInfo, scopes: [...(authInfo.scopes ?? [])], extra: { ...authInfo.extra } };
}

/**
 * Whether a request may reach what is served below a path, in any spelling that a router may accept for it: other case, doubled or
 * trailing slashes, percent-encoding, `;parameters`, dot segments, backslashes.
 *
 * @param target - path without query
 * @param prefixes - normalized paths
 */
function isProtectedPath(target: string, prefixes: readonly string[]): boolean {
  const plain = target.toLowerCase();
  if (prefixes.some((prefix) => plain.startsWith(prefix))) return true;
  const path = normalize(target);
  return path === undefined || prefixes.some((prefix) => path.startsWith(prefix));
}

/** Returns `undefined` for a path that cannot be parsed. */
function normalize(target: string): string | undefined {
  let path = target;
  try {
    // Some routers decode twice. No client sends more levels in good faith.
    for (let round = 0; round < 3; round += 1) path = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  if (path.includes('%')) return undefined;
  const segments = path.replaceAll('\\', '/').split('/');
  const plain = segments.map((segment) => segment.replace(/;.*$/s, '').trim().toLowerCase());
  return posix.normalize(`/${plain.join('/')}/`).slice(0, -1) || '/';
}
