import { anyValue, signalValue, type OptionChecks } from '@quiver/core/options';
import type { AnyRequestContext } from '@quiver/core/tools';

/** Options of a request to a server. */
export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Request context of the caller, for `headers` and `fetch` of the server definition. */
  requestContext?: AnyRequestContext | undefined;
}

export const requestChecks: OptionChecks<RequestOptions> = { signal: signalValue, requestContext: anyValue };

/** The party that requests are sent for: all requests of a view, or none in particular. */
export interface Caller {
  readonly requestContext?: AnyRequestContext | undefined;
}

/** Returns the options of a request for a caller. The request context of a view always applies. */
export function forCaller<Options extends Caller>({ requestContext }: Caller, options: Options): Options {
  return requestContext ? { ...options, requestContext } : options;
}
