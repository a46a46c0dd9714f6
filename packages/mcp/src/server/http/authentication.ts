import type { Logger } from '@quiver/core';
import type { createAuthenticator } from '../../auth/server/authentication.js';
import { attachToolAccess } from '../../tool-access.js';
import type { StreamableHTTPServerTransportOptions } from './endpoint-options.js';
import type { HttpReply, HttpRequest } from './message.js';

type Authenticator = ReturnType<typeof createAuthenticator>;

export class Authentication {
  readonly #logger: Logger;
  /** By the option: `startHTTP()` receives it with each request. */
  readonly #authenticators = new WeakMap<object, Authenticator>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @throws as `createOAuthMiddleware()` for OAuth options that would protect nothing */
  async prepare(
    authenticate: NonNullable<StreamableHTTPServerTransportOptions['authenticate']>,
  ): Promise<Authenticator> {
    const known = this.#authenticators.get(authenticate);
    if (known) return known;
    // Loaded when it is used: it needs `node:crypto`, which not every edge runtime has.
    const { createAuthenticator } = await import('../../auth/server/authentication.js');
    const created = createAuthenticator(authenticate, this.#logger);
    this.#authenticators.set(authenticate, created);
    return created;
  }

  /**
   * Adds the caller to a request, and returns whether it may proceed. Responds to a request that it rejects.
   *
   * @param isHere - whether the path of the request is the path of the endpoint
   */
  async admit(
    request: HttpRequest,
    reply: HttpReply,
    { authenticate }: Pick<StreamableHTTPServerTransportOptions, 'authenticate'>,
    isHere: boolean,
  ): Promise<boolean> {
    if (!authenticate) return true;
    const authorize = await this.prepare(authenticate);
    const result = await authorize(request.head, isHere);
    if (result.kind === 'unprotected') return true;
    if (result.kind === 'response') {
      const { status, headers, body } = result;
      reply.send(status, headers, body && request.method !== 'HEAD' ? JSON.stringify(body) : undefined);
      return false;
    }
    const { authInfo, headers, toolAccess } = result;
    if (toolAccess) attachToolAccess(authInfo, toolAccess);
    request.authInfo = authInfo;
    reply.addHeaders(headers);
    return true;
  }
}
