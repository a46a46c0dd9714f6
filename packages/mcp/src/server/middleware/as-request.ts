import { QuiverError } from '@quiver/core';
import type { ServerRequest } from '../request.js';
import type { MiddlewareContext } from './middleware.js';

/** Returns the request behind a context, which is the same object, with members that are not public. */
export function asRequest(context: MiddlewareContext): ServerRequest {
  return context as ServerRequest;
}

/** Returns the error of an invalid option of a middleware. */
export function invalidOption(middleware: string, reason: string): QuiverError {
  return new QuiverError('MIDDLEWARE_INVALID', `${middleware} ${reason}.`);
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
