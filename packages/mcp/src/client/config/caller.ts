import { anyValue, functionValue, type OptionChecks, signalValue } from '@quiver/core/internal';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { ProgressUpdate, RequestHandlers } from './handlers.js';

/** Options of a request to a server. */
export interface RequestOptions {
  /** Aborts the request, and sends a cancellation to the server. */
  signal?: AbortSignal | undefined;
  /** Request context of the caller, for `headers` and `fetch` of the server definition. */
  requestContext?: AnyRequestContext | undefined;
}

/** Options of a request that the server may need the user's input for. */
export interface InteractiveRequestOptions extends RequestOptions, RequestHandlers {}

/** Handlers of the calls of one caller. */
export interface CallerHandlers extends RequestHandlers {
  /** Receives the progress of each call, in addition to the handler of `mcp.progress.onUpdate()`. */
  onProgress?: ((update: ProgressUpdate) => void) | undefined;
}

export const requestChecks: OptionChecks<RequestOptions> = { signal: signalValue, requestContext: anyValue };
const handlerChecks: OptionChecks<RequestHandlers> = { onElicitation: functionValue, onSampling: functionValue };
export const callerChecks: OptionChecks<CallerHandlers> = { ...handlerChecks, onProgress: functionValue };
export const interactiveChecks: OptionChecks<InteractiveRequestOptions> = { ...requestChecks, ...handlerChecks };

/** Caller that requests are sent for: one for all requests of a view, otherwise none in particular. */
export interface Caller extends CallerHandlers {
  readonly requestContext?: AnyRequestContext | undefined;
}

/** Returns the options of a request for a caller. The request context of a view always applies. */
export function forCaller<Options extends Pick<RequestOptions, 'requestContext'>>(
  { requestContext }: Caller,
  options: Options,
): Options {
  return requestContext ? { ...options, requestContext } : options;
}

/** Returns the same as {@link forCaller}, with the handlers of the caller where the request has none. */
export function withHandlers<Options extends RequestOptions & CallerHandlers>(caller: Caller, given: Options): Options {
  const options = forCaller(caller, given);
  if (options === given) return given;
  const {
    onElicitation = caller.onElicitation,
    onSampling = caller.onSampling,
    onProgress = caller.onProgress,
  } = given;
  return { ...options, onElicitation, onSampling, onProgress };
}
