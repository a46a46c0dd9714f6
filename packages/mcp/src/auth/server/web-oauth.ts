import type { McpAuthInfo } from '@quiver/core/tools';
import { attachToolAccess } from '../../tool-access.js';
import type { OAuthMiddlewareOptions } from './oauth-options.js';
import { createRequestAuthorizer } from './request-authorizer.js';
import { headOfWeb } from './request-head.js';
import type { TokenValidationResult } from './token-validator.js';

/** Identity of a request that may proceed, or the response to send. */
export type WebOAuthResult =
  | {
      readonly proceed: true;
      /** Absent for an unprotected path. Pass it on: `server.fetch(request, { authInfo })`. */
      readonly authInfo?: McpAuthInfo;
      readonly tokenValidation?: TokenValidationResult;
      /** Headers for the response of the MCP server. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly proceed: false; readonly response: Response; readonly tokenValidation?: TokenValidationResult };

/**
 * Returns `createOAuthMiddleware` for servers with `Request` and `Response`: Hono, Next, Deno, Bun, Workers.
 *
 * @example
 * const protect = createWebOAuth({ oauth });
 * export default {
 *   async fetch(request: Request) {
 *     const result = await protect(request);
 *     return result.proceed ? server.fetch(request, { authInfo: result.authInfo }) : result.response;
 *   },
 * };
 */
export function createWebOAuth(options: OAuthMiddlewareOptions): (request: Request) => Promise<WebOAuthResult> {
  const authorize = createRequestAuthorizer(options);
  return async (request) => {
    const result = await authorize(headOfWeb(request));
    if (result.kind === 'unprotected') return { proceed: true, headers: {} };
    const { headers, validation } = result;
    if (result.kind === 'response') {
      const text = result.body && request.method !== 'HEAD' ? JSON.stringify(result.body) : null;
      const response = new Response(text, { status: result.status, headers });
      return { proceed: false, response, ...(validation && { tokenValidation: validation }) };
    }
    const { authInfo, toolAccess } = result;
    for (const target of [request, authInfo]) if (toolAccess) attachToolAccess(target, toolAccess);
    return { proceed: true, authInfo, tokenValidation: result.validation, headers };
  };
}

/** The part of a Hono context that is used. */
export interface HonoOAuthContext {
  readonly req: { readonly raw: Request };
  header(name: string, value: string): void;
  set(key: 'auth', value: unknown): void;
}

/**
 * Returns the middleware for Hono. The identity is `c.get('auth')`: pass it on with `server.fetch(c.req.raw, { authInfo })`.
 *
 * @example
 * app.use(honoOAuth({ oauth }));
 */
export function honoOAuth(
  options: OAuthMiddlewareOptions,
): (context: HonoOAuthContext, next: () => Promise<void>) => Promise<Response | undefined> {
  const protect = createWebOAuth(options);
  return async (context, next) => {
    const result = await protect(context.req.raw);
    if (!result.proceed) return result.response;
    if (result.authInfo) context.set('auth', result.authInfo);
    await next();
    for (const [name, value] of Object.entries(result.headers)) context.header(name, value);
    return undefined;
  };
}
