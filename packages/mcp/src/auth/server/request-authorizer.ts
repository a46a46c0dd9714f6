import { getDefaultLogger } from '@quiver/core';
import type { McpAuthInfo } from '@quiver/core/tools';
import type { ToolAccessCheck, ToolAccessRefusal } from '../../tool-access.js';
import { withRequestEntries } from '../../request-entries.js';
import { redactToken } from '../redact-token.js';
import { parseBearerToken, toChallenge, toDescription } from './bearer-token.js';
import { requireOAuthOptions, type OAuthMiddlewareOptions, type OAuthServerOptions } from './oauth-options.js';
import { generateProtectedResourceMetadata, metadataUrlOf, wellKnownPath } from './protected-resource-metadata.js';
import type { RequestHead } from './request-head.js';
import { settleValidation, type TokenValidationResult } from './token-validator.js';
import { digestOf, VerifiedTokens, type VerifiedToken } from './verified-tokens.js';

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

let nodeCrypto: typeof import('node:crypto') | undefined;

/** Milliseconds. */
const defaultCacheTtl = 300_000;

/** Twice the time that the validators of this package give an authorization server. */
const defaultValidationTimeout = 10_000;

/** Seconds that the clock of a validator may differ. */
const clockTolerance = 30;

/**
 * Authorizes a request by its head, independent of how requests arrive. Never rejects.
 *
 * @param isProtected - whether the path is that of the MCP server. Default: decided by the paths of the options
 */
export type RequestAuthorizer = (request: RequestHead, isProtected?: boolean) => Promise<AuthorizationResult>;

/** @throws as `createOAuthMiddleware()` */
export function createRequestAuthorizer(options: OAuthMiddlewareOptions): RequestAuthorizer {
  requireOAuthOptions(options);
  return createAuthorizer(options);
}

/** Checked options of an authorizer. Without `resource` it serves no metadata. */
interface AuthorizerOptions extends Omit<OAuthMiddlewareOptions, 'oauth'> {
  readonly oauth: Partial<OAuthServerOptions>;
  /** Validates requests, also those without a token, instead of `oauth.validateToken`. */
  readonly validate?: (request: RequestHead, token: string | undefined) => Promise<unknown>;
}

export function createAuthorizer(options: AuthorizerOptions): RequestAuthorizer {
  const { oauth, validate, mcpPath = '/mcp', allowedOrigins = '*', logger = getDefaultLogger() } = options;
  const { resource, requiredScopes = [], toolScopes = {}, exposeToken = false } = oauth;
  const { validationTimeout: timeout = defaultValidationTimeout, validateToken } = oauth;
  const verified = new VerifiedTokens(oauth.cacheTtl ?? defaultCacheTtl);
  const named = [...new Set([...requiredScopes, ...Object.values(toolScopes).flat()])];
  const { scopesSupported = named } = oauth;
  // The cast: options with a resource have been checked.
  const metadata = resource && generateProtectedResourceMetadata({ ...(oauth as OAuthServerOptions), scopesSupported });
  const resourceMetadataUrl = resource && metadataUrlOf(resource);
  const resourcePath = resource ? new URL(resource).pathname : '/';
  const protectedPaths = resourcePath === '/' ? [mcpPath] : [mcpPath, resourcePath];
  // A path that cannot be parsed protects everything.
  const prefixes = protectedPaths.map((path) => normalize(path) ?? '/');
  const metadataPaths = new Set(
    resource ? [wellKnownPath, ...protectedPaths.map((path) => `${wellKnownPath}${path}`)] : [],
  );
  const callScopes = new Map(Object.entries(toolScopes));

  /** A function that sees the whole request may decide by more than the token. */
  const keep = (digest: string | undefined, found: VerifiedToken): VerifiedToken =>
    validate || digest === undefined ? found : verified.add(digest, found);

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
    return { kind: 'response', status: 200, headers, ...(metadata && { body: metadata }) };
  };

  const check = async (request: RequestHead, token: string | undefined): Promise<TokenValidationResult> => {
    if (token === '' || (token === undefined && !validate)) return { valid: false };
    // The casts: options have either function, and the validators that need a resource are refused without one.
    const run = (): unknown => validate?.(request, token) ?? validateToken?.(token as string, resource as string);
    return settleValidation(run, { token: token ?? '', timeout, logger });
  };

  return async (request, isProtected) => {
    const { method, paths, query, authorization, origin } = request;
    if (metadataPaths.has(paths[0] as string)) return serveMetadata(method);
    if (!(isProtected ?? paths.some((path) => isProtectedPath(path, prefixes)))) return { kind: 'unprotected' };
    if (method === 'OPTIONS')
      return preflight({ ...cors(origin), ...allow('GET, POST, DELETE, OPTIONS', allowedHeaders) });
    const { token, reason } = parseBearerToken(authorization, query);
    if (reason !== undefined) return reject(400, origin, { code: 'invalid_request', description: reason });
    // Loaded with the first token: a bundle for an edge runtime has no such module.
    const digest = token === undefined ? undefined : digestOf(token, (nodeCrypto ??= await import('node:crypto')));
    const known = digest === undefined ? undefined : verified.find(digest);
    const validation = known?.validation ?? (await check(request, token));
    const { valid, error = 'invalid_token', errorDescription = 'Token validation failed', expiresAt } = validation;
    if (!valid) {
      if (token === undefined && validation.error === undefined)
        return reject(401, origin, { description: 'Bearer token required' });
      const { status, description = redactToken(errorDescription, token ?? '') } = outcomes.get(error) ?? {
        status: 401,
      };
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
    const toAuthInfo = (): McpAuthInfo => ({
      ...(exposeToken && token !== undefined && { token }),
      ...identityOf(validation, digest),
      ...(resource !== undefined && { resource }),
    });
    const { authInfo } = known ?? keep(digest, { validation, authInfo: toAuthInfo() });
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
function identityOf(
  { subject, issuer, scopes = [], clientId, expiresAt, claims, requestContext }: TokenValidationResult,
  digest = '',
): Pick<McpAuthInfo, 'clientId' | 'scopes' | 'expiresAt' | 'extra'> {
  // Not `defined()`, which makes a request whose token is not cached 0.7 µs slower.
  const identity = {
    ...(clientId !== undefined && { clientId }),
    scopes: [...scopes],
    ...(expiresAt !== undefined && { expiresAt }),
    extra: {
      subject: subject ?? `token:${digest.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')}`,
      ...(issuer !== undefined && { issuer }),
      ...(claims && { claims }),
    },
  };
  return withRequestEntries(identity, requestContext);
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
  const resolved: string[] = [];
  for (const segment of plain) {
    if (segment === '..') resolved.pop();
    else if (segment !== '' && segment !== '.') resolved.push(segment);
  }
  return `/${resolved.join('/')}`;
}
