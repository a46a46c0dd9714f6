import type { IncomingMessage, ServerResponse } from 'node:http';
import { attachToolAccess } from '../../tool-access.js';
import type { OAuthMiddlewareOptions } from './oauth-options.js';
import { createRequestAuthorizer, type AuthorizationResponse } from './request-authorizer.js';
import { headOfNode } from './request-head.js';
import type { TokenValidationResult } from './token-validator.js';

/** A request of `node:http` or of a framework on top of it. */
export type ProtectedRequest = IncomingMessage & { auth?: unknown; body?: unknown; originalUrl?: string };

/** Whether the request may proceed, and its identity. */
export interface OAuthMiddlewareResult {
  /** Whether the MCP server should handle the request. */
  proceed: boolean;
  /** Whether the middleware has responded. */
  handled: boolean;
  tokenValidation?: TokenValidationResult;
}

/** Checks the token of a `node:http` request, and responds to requests that it rejects. */
export type OAuthMiddleware = (req: ProtectedRequest, res: ServerResponse, url?: URL) => Promise<OAuthMiddlewareResult>;

/**
 * Returns the authorization middleware of an MCP server. It serves the resource metadata, rejects requests without a valid token, and
 * adds the identity of the others to `req.auth`, which tools receive as `context.mcp.extra.authInfo`. Never rejects: when a validator
 * throws, the client receives 500.
 *
 * @throws `OAUTH_VALIDATOR_MISSING`, `OAUTH_AUTHORIZATION_SERVERS_MISSING`, `OAUTH_URL_INSECURE` or
 *   `OPTIONS_INVALID` for options that are invalid or would protect nothing
 * @example
 * const protect = createOAuthMiddleware({
 *   oauth: {
 *     resource: 'https://mcp.example.com/mcp',
 *     authorizationServers: ['https://auth.example.com'],
 *     validateToken: createJwtValidator({ issuer: 'https://auth.example.com', jwksUri: 'https://auth.example.com/jwks' }),
 *   },
 * });
 * const result = await protect(req, res, url);
 * if (!result.proceed) return;
 */
export function createOAuthMiddleware(options: OAuthMiddlewareOptions): OAuthMiddleware {
  const authorize = createRequestAuthorizer(options);
  return async (req, res, url) => {
    const result = await authorize(headOfNode(req, url));
    if (result.kind === 'unprotected') return { proceed: true, handled: false };
    if (result.kind === 'response') return respond(req, res, result);
    const { authInfo, validation, headers, toolAccess } = result;
    if (toolAccess) attachToolAccess(req, toolAccess);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    req.auth = typeof req.auth === 'object' ? { ...req.auth, ...authInfo } : authInfo;
    return { proceed: true, handled: false, tokenValidation: validation };
  };
}

function respond(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body, validation }: AuthorizationResponse,
): OAuthMiddlewareResult {
  if (!res.headersSent && !res.destroyed) {
    const text = body ? JSON.stringify(body) : undefined;
    res.writeHead(status, text === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(text) });
    res.end(req.method === 'HEAD' ? undefined : text);
  }
  // The rest of the body is discarded, so that the connection can be used again.
  if (!req.readableEnded) req.resume?.();
  return { proceed: false, handled: true, ...(validation && { tokenValidation: validation }) };
}

/**
 * Returns the middleware for Express. Mount it on the whole application, because it serves the metadata below `/.well-known`.
 *
 * @example
 * app.use(expressOAuth({ oauth }));
 */
export function expressOAuth(
  options: OAuthMiddlewareOptions,
): (req: ProtectedRequest, res: ServerResponse, next: (error?: unknown) => void) => Promise<void> {
  const protect = createOAuthMiddleware(options);
  return async (req, res, next) => {
    const { proceed } = await protect(req, res);
    if (proceed) next();
  };
}
