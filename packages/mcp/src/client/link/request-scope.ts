import { AsyncLocalStorage } from 'node:async_hooks';
import type { AnyRequestContext } from '@quiver/core/tools';

/** The request context of a call, as far as it is read here. */
export type RequestContextLike = AnyRequestContext;

const scope = new AsyncLocalStorage<RequestContextLike | undefined>();

/**
 * Runs a request so that the `fetch` and the headers of its server definition can tell for whom it is made. What the request
 * starts belongs to it; requests beside it have their own.
 */
export function runWithContext<Result>(context: RequestContextLike | undefined, run: () => Result): Result {
  return scope.run(context, run);
}

/** For whom the current request is made; `undefined` for what belongs to the connection itself. */
export function currentContext(): RequestContextLike | undefined {
  return scope.getStore();
}
