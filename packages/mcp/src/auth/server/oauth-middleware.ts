import type { IncomingMessage, ServerResponse } from 'node:http';
import type { McpAuthInfo } from '@quiver/core/tools';
import { createOAuthGate, type GateAnswer, type OAuthGate } from './oauth-gate.js';
import type { OAuthMiddlewareOptions } from './oauth-options.js';
import type { ProtectedRequest } from './protected-request.js';
import { readCallBody } from './read-call-body.js';
import type { TokenValidationResult } from './token-validator.js';

export interface OAuthMiddlewareResult {
  /** Whether the request goes on to the MCP server. */
  proceed: boolean;
  /** Whether the middleware has answered. */
  handled: boolean;
  tokenValidation?: TokenValidationResult;
}

export type OAuthMiddleware = (req: ProtectedRequest, res: ServerResponse, url?: URL) => Promise<OAuthMiddlewareResult>;

/**
 * Protects an MCP server: answers the metadata requests of clients, refuses requests without a good token, and puts the identity
 * behind a good one on `req.auth`, where tools find it as `context.mcp.extra.authInfo`. What earlier middleware put there stays.
 *
 * Never rejects: when a validator throws, the client gets 500.
 *
 * @throws `OAUTH_VALIDATOR_MISSING`, `OAUTH_RESOURCE_INVALID`, `OAUTH_AUTHORIZATION_SERVERS_MISSING`, `OAUTH_URL_INSECURE` or
 *   `OAUTH_PATH_INVALID` when it is called with options that would protect nothing
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
  const gate = createOAuthGate(options);
  return async (req, res, url) => {
    const target = req.originalUrl ?? req.url ?? '/';
    const [path = '/', query = ''] = splitTarget(target);
    const origin = req.headers.origin;
    const verdict = await gate.check({
      method: req.method ?? 'GET',
      paths: url ? [path, url.pathname] : [path],
      query,
      authorization: authorizationOf(req),
      origin,
    });
    if (verdict.kind === 'pass') return { proceed: true, handled: false };
    if (verdict.kind === 'answer') return answer(req, res, verdict);
    const { authInfo, validation, headers } = verdict;
    const refusal = await refusalOfCall(gate, req, authInfo, origin);
    if (refusal) return answer(req, res, { ...refusal, validation });
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    req.auth = { ...(typeof req.auth === 'object' ? req.auth : undefined), ...authInfo };
    return { proceed: true, handled: false, tokenValidation: validation };
  };
}

async function refusalOfCall(
  gate: OAuthGate,
  req: ProtectedRequest,
  authInfo: McpAuthInfo,
  origin: string | undefined,
): Promise<GateAnswer | undefined> {
  if (!gate.readsCalls || req.method !== 'POST') return undefined;
  const read = await readCallBody(req);
  return read.kind === 'answer' ? read : gate.checkCall(read.body, authInfo, origin);
}

/** An absolute-form target (`GET http://host/path`) counts by its path. */
function splitTarget(target: string): [string, string] {
  const relative = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const mark = relative.indexOf('?');
  const path = mark === -1 ? relative : relative.slice(0, mark);
  return [path === '' ? '/' : path, mark === -1 ? '' : relative.slice(mark + 1)];
}

/** Node keeps only the first of several headers in `headers`, so they are counted where nothing is lost. */
function authorizationOf({ rawHeaders, headers }: IncomingMessage): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'authorization') values.push(rawHeaders[index + 1] as string);
  }
  return values.length === 0 && headers.authorization !== undefined ? [headers.authorization] : values;
}

function answer(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body, validation }: GateAnswer,
): OAuthMiddlewareResult {
  if (!res.headersSent && !res.destroyed) {
    const text = body ? JSON.stringify(body) : undefined;
    res.writeHead(status, text === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(text) });
    res.end(req.method === 'HEAD' ? undefined : text);
  }
  // What is left of a body that nobody reads is thrown away, so that the connection can go on.
  if (!req.readableEnded) req.resume?.();
  return { proceed: false, handled: true, ...(validation && { tokenValidation: validation }) };
}
