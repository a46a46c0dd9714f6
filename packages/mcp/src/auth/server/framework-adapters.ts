import type { ServerResponse } from 'node:http';
import { createOAuthMiddleware } from './oauth-middleware.js';
import type { ProtectedRequest } from './oauth-middleware.js';
import type { OAuthMiddlewareOptions } from './oauth-options.js';
import { createWebOAuth } from './web-oauth.js';

/**
 * Returns the middleware for Express. Mount it on the whole application, before the MCP route: it serves the metadata below
 * `/.well-known` too.
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
