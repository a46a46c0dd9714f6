import { QuiverError, toErrorMessage } from '@quiver/core';
import type { AnyRequestContext, McpAuthInfo, McpExtra, ToolAnnotations, ToolMcpContext } from '@quiver/core/tools';
import type { Era } from '../../protocol/constants.js';
import type { ServerRequest } from '../request.js';
import type { CatalogCaller } from '../tools/catalog.js';
import type { MiddlewareContext } from './middleware.js';

type Arguments = Record<string, unknown> | undefined;

let readRequest: (context: HookContext) => ServerRequest;

/** A request as hooks of middleware, and `visible`, receive it: it has the declared members and no others. */
export class HookContext implements MiddlewareContext, CatalogCaller {
  readonly sessionId?: string;
  readonly authInfo?: McpAuthInfo;
  readonly #request: ServerRequest;

  static {
    readRequest = (context) => context.#request;
  }

  constructor(request: ServerRequest) {
    const { authInfo, sessionId } = request.caller;
    if (authInfo) this.authInfo = authInfo;
    if (sessionId !== undefined) this.sessionId = sessionId;
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get name(): string | undefined {
    return this.#request.name;
  }

  get arguments(): Arguments {
    return this.#request.arguments;
  }

  set arguments(value: Arguments) {
    this.#request.arguments = value;
  }

  get params(): MiddlewareContext['params'] {
    return this.#request.params;
  }

  get annotations(): ToolAnnotations | undefined {
    const { server, name = '' } = this.#request;
    return server.tools.find(this.#request, name)?.listed.annotations;
  }

  get principal(): string | undefined {
    return this.#request.caller.principal;
  }

  get scopes(): readonly string[] {
    return this.#request.caller.scopes;
  }

  get era(): Era {
    return this.#request.era;
  }

  get requestContext(): AnyRequestContext {
    return this.#request.requestContext;
  }

  get extra(): McpExtra {
    return this.#request.toolContext;
  }

  get mcp(): ToolMcpContext {
    return this.#request.toolContext;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#request.caller.headers;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  abort(reason: Error): void {
    this.#request.abort(reason);
  }

  get sentRequest(): boolean {
    return this.#request.sentRequest;
  }

  waitUntil(given: PromiseLike<unknown>): void {
    const { work, logger } = this.#request.server;
    // Not the request: where the work hangs, its data can be freed.
    const undone = {};
    work.add(undone);
    Promise.resolve(given)
      .catch((error: unknown) => logger.error(`Work of a middleware failed: ${toErrorMessage(error)}`, error))
      .finally(() => work.delete(undone));
  }
}

/** Returns the request behind a context, for the ready-made hooks. */
export function requestOf(context: MiddlewareContext): ServerRequest {
  // The cast: the server passes no other contexts.
  return readRequest(context as HookContext);
}

/**
 * Returns the key that the function of an application returned.
 *
 * @throws `MIDDLEWARE_RESULT_INVALID` for a promise or another object: callers would share it
 */
export function requireKey(middleware: string, key: unknown): string {
  if (typeof key === 'string' || key === undefined) return key ?? '';
  // A rejection without a handler would end the process.
  if (key instanceof Promise) key.catch(() => {});
  throw new QuiverError(
    'MIDDLEWARE_RESULT_INVALID',
    `The function key of ${middleware} must return a string, not ${typeof key}; it cannot be asynchronous.`,
  );
}
