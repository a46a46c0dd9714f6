import { QuiverError } from '@quiver/core';
import { digestOf } from '../digest.js';
import { isLoopback } from '../http/guard.js';
import type { ServerRequest } from '../request.js';
import type { MiddlewareContext } from './middleware.js';

/**
 * Returns the key that limits count by: the principal, or the network address of a client without authentication. Clients whose address
 * is unknown or loopback share a key, because they cannot be distinguished: a reverse proxy, for example, has one address for all.
 */
export function callerKeyOf(context: MiddlewareContext): string {
  if (context.principal !== undefined) return context.principal;
  const { remoteAddress } = asRequest(context);
  return remoteAddress === undefined || isLoopback(remoteAddress) ? 'anonymous' : `address ${remoteAddress}`;
}

/** Returns the principal without a token: an identity that consists of a token is replaced by its digest. */
export async function loggedPrincipalOf({ principal }: MiddlewareContext): Promise<string | undefined> {
  if (!principal?.startsWith('["token",')) return principal;
  return JSON.stringify(['token', await digestOf(principal)]);
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

/** Returns the request behind a context, which is the same object, with members that are not public. */
export function asRequest(context: MiddlewareContext): ServerRequest {
  return context as ServerRequest;
}
