import type { McpAuthInfo } from '@quiver/core/tools';
import { createOAuthGate, type GateAnswer } from './oauth-gate.js';
import type { OAuthMiddlewareOptions } from './oauth-options.js';
import { maxCallBytes, parsed, tooLarge } from './read-call-body.js';
import { readLimitedText } from '../read-limited-text.js';
import type { TokenValidationResult } from './token-validator.js';

export type WebOAuthResult =
  | {
      readonly proceed: true;
      /** Absent where nothing is protected. Pass it on: `server.fetch(request, { authInfo })`. */
      readonly authInfo?: McpAuthInfo;
      readonly tokenValidation?: TokenValidationResult;
      /** Belong on the answer. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly proceed: false; readonly response: Response; readonly tokenValidation?: TokenValidationResult };

/**
 * `createOAuthMiddleware` for servers that speak `Request` and `Response`: Hono, Next, Deno, Bun, Workers.
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
  const gate = createOAuthGate(options);
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const authorization = request.headers.get('authorization');
    const origin = request.headers.get('origin') ?? undefined;
    const verdict = await gate.check({
      method: request.method,
      paths: [pathname],
      query: search,
      authorization: authorization === null ? [] : [authorization],
      origin,
    });
    if (verdict.kind === 'pass') return { proceed: true, headers: {} };
    if (verdict.kind === 'answer') return refuse(request, verdict);
    const { authInfo, validation, headers } = verdict;
    if (gate.readsCalls && request.method === 'POST') {
      const refusal = await readCall(request).then(
        (body) => gate.checkCall(body, authInfo, origin),
        () => {
          request.body?.cancel().catch(() => {});
          return tooLarge;
        },
      );
      if (refusal) return refuse(request, { ...refusal, validation });
    }
    return { proceed: true, authInfo, tokenValidation: validation, headers };
  };
}

async function readCall(request: Request): Promise<unknown> {
  return parsed(await readLimitedText(new Response(request.clone().body), maxCallBytes));
}

function refuse(request: Request, { status, headers, body, validation }: GateAnswer): WebOAuthResult {
  const text = body && request.method !== 'HEAD' ? JSON.stringify(body) : null;
  const response = new Response(text, { status, headers });
  return { proceed: false, response, ...(validation && { tokenValidation: validation }) };
}
