import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import type { McpAuthInfo } from '@quiver/core/tools';
import { parseBearerToken } from './bearer-token.js';
import { generateWWWAuthenticateHeader, toDescription } from './challenge.js';
import { isGuardedPath } from './guarded-path.js';
import { toIdentity } from './identity.js';
import { defaultValidationTimeout, requireOAuthOptions, type OAuthMiddlewareOptions } from './oauth-options.js';
import {
  defaultScopes,
  generateProtectedResourceMetadata,
  metadataUrlOf,
  wellKnownPath,
} from './protected-resource-metadata.js';
import { redactToken } from './redact-token.js';
import { requireValidationResult, type TokenValidationResult } from './token-validator.js';

/** One HTTP request, as far as its protection goes. */
export interface GateRequest {
  readonly method: string;
  /** Every spelling of the path that a handler behind may go by. */
  readonly paths: readonly string[];
  readonly query: string;
  readonly authorization: readonly string[];
  readonly origin: string | undefined;
}

export interface GateAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body?: object;
  readonly validation?: TokenValidationResult;
}

export type GateVerdict =
  | { readonly kind: 'pass' }
  | {
      readonly kind: 'identity';
      readonly authInfo: McpAuthInfo;
      readonly validation: TokenValidationResult;
      /** Belong on the answer, whatever it will be. */
      readonly headers: Record<string, string>;
    }
  | GateAnswer;

export interface OAuthGate {
  /** Decides about a request by its head. Never rejects. */
  check(request: GateRequest): Promise<GateVerdict>;
  /** Whether {@link OAuthGate.checkCall} needs the body. */
  readonly readsCalls: boolean;
  /** Decides about a parsed body: calls of tools that need more scopes. `undefined` lets it through. */
  checkCall(body: unknown, authInfo: McpAuthInfo, origin: string | undefined): GateAnswer | undefined;
}

/** Everything that protects a server and has nothing to do with how requests arrive. */
export function createOAuthGate(options: OAuthMiddlewareOptions): OAuthGate {
  requireOAuthOptions(options);
  const { oauth, mcpPath = '/mcp', allowedOrigins = '*', logger = getDefaultLogger() } = options;
  const { resource, requiredScopes = [], toolScopes = {}, exposeToken = false } = oauth;
  const { validationTimeout = defaultValidationTimeout } = oauth;
  const named = [...new Set([...requiredScopes, ...Object.values(toolScopes).flat()])];
  const { scopesSupported = named.length > 0 ? named : defaultScopes } = oauth;
  const metadata = generateProtectedResourceMetadata({ ...oauth, scopesSupported });
  const resourceMetadataUrl = metadataUrlOf(resource);
  const resourcePath = new URL(resource).pathname;
  const guarded = resourcePath === '/' ? [mcpPath] : [mcpPath, resourcePath];
  const metadataPaths = new Set([wellKnownPath, ...guarded.map((path) => `${wellKnownPath}${path}`)]);
  const callScopes = new Map(Object.entries(toolScopes));

  const cors = (origin: string | undefined): Record<string, string> => {
    if (allowedOrigins === '*') return { 'access-control-allow-origin': '*', ...exposed };
    if (origin === undefined || !allowedOrigins.includes(origin)) return { vary: 'Origin' };
    return { 'access-control-allow-origin': origin, vary: 'Origin', ...exposed };
  };

  const refuse = (
    status: number,
    origin: string | undefined,
    error: { code?: string; description: string; scopes?: readonly string[]; validation?: TokenValidationResult },
  ): GateAnswer => {
    const { code, description, scopes, validation } = error;
    const challenge = status < 500 && {
      'www-authenticate': generateWWWAuthenticateHeader({
        resourceMetadataUrl,
        scopes: scopes ?? (requiredScopes.length > 0 ? requiredScopes : scopesSupported),
        ...(code !== undefined && { error: code, errorDescription: description }),
      }),
    };
    return {
      kind: 'answer',
      status,
      headers: {
        ...jsonHeaders,
        ...cors(origin),
        'cache-control': 'no-store',
        ...challenge,
        ...(status === 503 && { 'retry-after': '5' }),
      },
      body: { error: code ?? 'unauthorized', error_description: toDescription(description) },
      ...(validation && { validation }),
    };
  };

  const serveMetadata = (method: string): GateAnswer => {
    const open = { 'access-control-allow-origin': '*' };
    if (method === 'OPTIONS') {
      const allow = { 'access-control-allow-methods': 'GET, HEAD, OPTIONS', 'access-control-allow-headers': '*' };
      return { kind: 'answer', status: 204, headers: { ...open, ...allow, 'access-control-max-age': '86400' } };
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return { kind: 'answer', status: 405, headers: { ...open, allow: 'GET, HEAD, OPTIONS' } };
    }
    const headers = { ...jsonHeaders, ...open, 'cache-control': 'max-age=3600' };
    return { kind: 'answer', status: 200, headers, body: metadata };
  };

  const preflight = (origin: string | undefined): GateAnswer => ({
    kind: 'answer',
    status: 204,
    headers: {
      ...cors(origin),
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': '86400',
    },
  });

  const judge = async (token: string, origin: string | undefined): Promise<GateVerdict> => {
    let validation: TokenValidationResult;
    try {
      validation =
        token === ''
          ? { valid: false }
          : requireValidationResult(await settled(oauth.validateToken(token, resource), validationTimeout));
    } catch (error) {
      logger.error(`The token validator failed: ${redactToken(toErrorMessage(error), token)}`);
      return refuse(500, origin, { code: 'server_error', description: 'The token could not be checked' });
    }
    if (validation === timedOut) {
      logger.error(
        `The token validator did not settle within ${validationTimeout} ms; the request was answered with 503.`,
      );
    }
    const { valid, error = 'invalid_token', errorDescription = 'Token validation failed', expiresAt } = validation;
    if (!valid) {
      if (error === 'temporarily_unavailable' || error === 'server_error') {
        const description =
          error === 'server_error' ? 'The token could not be checked' : 'Tokens cannot be checked right now';
        return refuse(error === 'server_error' ? 500 : 503, origin, { code: error, description, validation });
      }
      return refuse(statuses.get(error) ?? 401, origin, {
        code: error,
        description: redactToken(errorDescription, token),
        validation,
      });
    }
    if (expiresAt !== undefined && !(expiresAt + clockTolerance > Date.now() / 1000)) {
      return refuse(401, origin, { code: 'invalid_token', description: 'Token has expired', validation });
    }
    const { scopes = [] } = validation;
    if (requiredScopes.some((scope) => !scopes.includes(scope))) {
      return refuse(403, origin, { ...insufficient, scopes: requiredScopes, validation });
    }
    const authInfo = toIdentity(token, validation, { resource, exposeToken });
    return { kind: 'identity', authInfo, validation, headers: cors(origin) };
  };

  return {
    readsCalls: callScopes.size > 0,

    async check({ method, paths, query, authorization, origin }) {
      if (paths.every((path) => metadataPaths.has(path))) return serveMetadata(method);
      if (!paths.some((path) => guarded.some((prefix) => isGuardedPath(path, prefix)))) return { kind: 'pass' };
      if (method === 'OPTIONS') return preflight(origin);
      const found = parseBearerToken(authorization, query);
      if (found.kind === 'none') return refuse(401, origin, { description: 'Bearer token required' });
      if (found.kind === 'malformed')
        return refuse(400, origin, { code: 'invalid_request', description: found.reason });
      return judge(found.token, origin);
    },

    checkCall(body, { scopes = [] }, origin) {
      const wanted = calledTools(body).flatMap((tool) => callScopes.get(tool) ?? []);
      if (wanted.every((scope) => scopes.includes(scope))) return undefined;
      return refuse(403, origin, { ...insufficient, scopes: [...new Set([...requiredScopes, ...wanted])] });
    },
  };
}

const jsonHeaders = { 'content-type': 'application/json' };

/** What pages need to read to sign in and to keep a session. */
const exposed = { 'access-control-expose-headers': 'WWW-Authenticate, Mcp-Session-Id' };

const allowedHeaders =
  'Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID';

const insufficient = { code: 'insufficient_scope', description: 'The token lacks a scope that this request needs' };

/** @see [RFC 6750, section 3.1 – Error Codes](https://www.rfc-editor.org/rfc/rfc6750.html#section-3.1) */
const statuses: ReadonlyMap<string, number> = new Map([
  ['invalid_request', 400],
  ['insufficient_scope', 403],
]);

/** Seconds that the clock of a validator may differ. */
const clockTolerance = 30;

const timedOut: TokenValidationResult = { valid: false, error: 'temporarily_unavailable' };

/** Returns the result of a validator, or {@link timedOut} at the deadline. A result that arrives later is ignored. */
async function settled(
  result: TokenValidationResult | PromiseLike<TokenValidationResult>,
  timeout: number,
): Promise<TokenValidationResult> {
  if (typeof (result as PromiseLike<unknown> | undefined)?.then !== 'function') return result;
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<TokenValidationResult>((resolve) => {
    timer = setTimeout(resolve, timeout, timedOut);
  });
  try {
    return await Promise.race([result, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Of one call, or of every call in a batch. */
function calledTools(body: unknown): string[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => {
    if (typeof message !== 'object' || message === null) return [];
    const { method, params } = message as { method?: unknown; params?: { name?: unknown } | null };
    return method === 'tools/call' && typeof params?.name === 'string' ? [params.name] : [];
  });
}
