import {
  anyValue,
  booleanValue,
  checkOptions,
  eitherOf,
  functionValue,
  ignoredOptions,
  listOf,
  objectOf,
  objectWith,
  oneOf,
  type OptionCheck,
  type OptionChecks,
  stringList,
  stringValue,
  valueThat,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { shutdownSignals } from './shutdown-signals.js';
import type { ListenOptions } from './listen.js';
import type { StartHTTPOptions } from './node-http.js';
import type { OriginPolicy } from './guard.js';
import type { StreamableHTTPServerTransportOptions } from './endpoint-options.js';
import type { SessionLimits } from './sessions.js';

/** Options of `server.fetch()`. */
export interface FetchOptions extends StreamableHTTPServerTransportOptions {
  /** Identity of the caller, from your authentication; reaches tools as `context.mcp.extra.authInfo`. */
  authInfo?: unknown;
}

/** Comparisons with `NaN` are false, so it would remove a limit. */
export const amount: OptionCheck = valueThat(
  (value) => typeof value === 'number' && value >= 0,
  'a number of at least 0',
);

/** The path of a request always begins with it, so another value would match none. */
export const pathValue: OptionCheck = valueThat(
  (value) => typeof value === 'string' && value.startsWith('/'),
  "a path that begins with '/'",
);

/** Checks of the options that all transports with sessions have. */
export const sessionChecks: OptionChecks<
  OriginPolicy &
    Partial<Omit<SessionLimits, 'idleTimeout'>> &
    Pick<StreamableHTTPServerTransportOptions, 'authenticate' | 'maxBodyBytes'>
> = {
  authenticate: eitherOf('a function or OAuth options', functionValue, objectWith('OAuth options', 'validateToken')),
  enableDnsRebindingProtection: booleanValue,
  allowedHosts: stringList,
  allowedOrigins: stringList,
  maxSessions: amount,
  maxSessionsPerCaller: amount,
  maxRequestsPerSession: amount,
  maxBodyBytes: amount,
};

const httpChecks: OptionChecks<StreamableHTTPServerTransportOptions> = {
  ...sessionChecks,
  idleTimeout: amount,
  sessionIdGenerator: functionValue,
  onsessioninitialized: functionValue,
  serverless: booleanValue,
  stateless: booleanValue,
  enableJsonResponse: booleanValue,
  eventStore: objectWith('an event store', 'storeEvent', 'replayEventsAfter'),
  retryInterval: amount,
  refuseSessionsWhileDraining: booleanValue,
  ...ignoredOptions({
    onsessionclosed: 'sessions end without a callback.',
    serverlessStreaming: 'a response becomes an event stream when a message precedes the result.',
  }),
};

/** Checks of the methods of `MCPServer` that serve HTTP, by method. */
export const transportChecks: {
  startHTTP: OptionChecks<StartHTTPOptions>;
  fetch: OptionChecks<FetchOptions>;
  listen: OptionChecks<ListenOptions>;
} = {
  startHTTP: {
    url: anyValue,
    httpPath: pathValue,
    healthPath: pathValue,
    req: anyValue,
    res: anyValue,
    ...httpChecks,
    options: objectOf(httpChecks),
  },
  fetch: { authInfo: anyValue, ...httpChecks },
  listen: {
    port: wholeNumber(0, 65_535),
    host: stringValue,
    path: pathValue,
    healthPath: pathValue,
    shutdownSignals: listOf(oneOf(...shutdownSignals)),
    drainDelay: amount,
    shutdownGrace: amount,
    headersTimeout: wholeNumber(0),
    requestTimeout: wholeNumber(0),
    ...httpChecks,
  },
};

/**
 * Returns the options of a transport that a method received under `options` or next to the request, as one object.
 *
 * @param method - of `MCPServer`
 * @param flat - the options next to the request
 * @throws `OPTIONS_INVALID` for an unknown or invalid option, and for one that is given in both places
 */
export function resolveOptions<Options extends object>(
  method: string,
  checks: Readonly<Record<string, OptionCheck>>,
  given: object,
  options: Options | undefined,
  flat: Options,
): Options {
  checkOptions(method, given, checks);
  const names = Object.keys(flat);
  if (!options || names.length === 0) return options ?? flat;
  const name = names.find((key) => isGiven(flat, key) && isGiven(options, key));
  if (name === undefined) return { ...flat, ...options };
  throw invalidOptions(`${method}: '${name}' is given next to the request and under 'options'. Remove one.`);
}

/** Given as `undefined`, `sessionIdGenerator` turns sessions off. */
function isGiven(options: object, name: string): boolean {
  return name in options && (name === 'sessionIdGenerator' || (options as Record<string, unknown>)[name] !== undefined);
}
