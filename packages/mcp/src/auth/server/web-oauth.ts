import type { McpAuthInfo } from '@quiver/core/tools';
import { attachToolAccess } from '../../tool-access.js';
import type { OAuthMiddlewareOptions } from './oauth-options.js';
import { createRequestAuthorizer, type AuthorizationResponse } from './request-authorizer.js';
import type { TokenValidationResult } from './token-validator.js';

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
 * @throws as `createOAuthMiddleware`
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
  const authorizer = createRequestAuthorizer(options);
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const authorization = request.headers.get('authorization');
    const origin = request.headers.get('origin') ?? undefined;
    const result = await authorizer.authorize({
      method: request.method,
      paths: [pathname],
      query: search,
      authorization: authorization === null ? [] : [authorization],
      origin,
    });
    if (result.kind === 'unprotected') return { proceed: true, headers: {} };
    if (result.kind === 'response') return toResult(request, result);
    const { authInfo, validation, headers } = result;
    const toolAccess = authorizer.toolAccess(authInfo, origin);
    if (toolAccess) {
      attachToolAccess(request, toolAccess);
      attachToolAccess(authInfo, toolAccess);
    }
    return { proceed: true, authInfo, tokenValidation: validation, headers };
  };
}

function toResult(request: Request, { status, headers, body, validation }: AuthorizationResponse): WebOAuthResult {
  const text = body && request.method !== 'HEAD' ? JSON.stringify(body) : null;
  const response = new Response(text, { status, headers });
  return { proceed: false, response, ...(validation && { tokenValidation: validation }) };
}
