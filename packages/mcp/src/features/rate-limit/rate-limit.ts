import {
  booleanValue,
  checkOptions,
  functionValue,
  numberIn,
  oneOf,
  type OptionChecks,
  stringList,
  invalidOptions,
  required,
} from '@quiver/core/internal';
import { monotonicNow } from '../../monotonic-now.js';
import { refused } from '../../protocol/protocol-error.js';
import { bucketBounds } from '../../shared-store/check-arguments.js';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import type { TokenBucket } from '../../shared-store/shared-store.js';
import { digestOf } from '../../server/digest.js';
import { requestOf, requireKey } from '../../server/middleware/hook-context.js';
import type { Middleware, MiddlewareContext } from '../../server/middleware/middleware.js';

/** Options of {@link rateLimit}. Exactly one of `perSecond` and `perMinute` is required. */
export interface RateLimitOptions {
  /** Calls that a caller can make at once, after a pause. */
  capacity: number;
  /** Calls that are added per second. */
  perSecond?: number;
  /** Calls that are added per minute. */
  perMinute?: number;
  /**
   * `calls` counts calls of tools: a call over the limit receives an error result that names the wait, which a model can read. `requests`
   * counts requests of every method except `ping`: one over the limit is refused, over HTTP with status 429 and `Retry-After`. Default
   * `calls`.
   */
  counts?: 'calls' | 'requests';
  /** Whether each caller has its own limit. Default `true`. */
  perCaller?: boolean;
  /** Whether each tool has its own limit; only with `calls`. Default `true`. */
  perTool?: boolean;
  /** Tools whose calls are counted; only with `calls`. Default: all. */
  tools?: readonly string[];
  /**
   * Returns the key of a caller, for example from a header that your reverse proxy sets. Default: the principal, or the network address
   * of a client without authentication: of an IPv6 address, its /64 prefix. Clients whose address is unknown or loopback share a limit.
   */
  key?: (context: MiddlewareContext) => string;
}

const checks: OptionChecks<RateLimitOptions> = {
  capacity: required(numberIn({ ...bucketBounds, least: 1 })),
  perSecond: numberIn(bucketBounds),
  perMinute: numberIn({ ...bucketBounds, least: 6e-5 }),
  counts: oneOf('calls', 'requests'),
  perCaller: booleanValue,
  perTool: booleanValue,
  tools: stringList,
  key: functionValue,
};

/**
 * Limits the calls or requests of each caller by a token bucket, in the `sharedStore` of the server, or in memory.
 *
 * @param now - time in milliseconds, for limits in memory. Default: a monotonic clock
 * @throws `OPTIONS_INVALID` for an invalid option
 * @example
 * server.use(rateLimit({ capacity: 20, perMinute: 60 }));
 */
export function rateLimit(options: RateLimitOptions, now: () => number = monotonicNow): Middleware {
  checkOptions('rateLimit', options, checks);
  const { counts = 'calls', perCaller = true, perTool = true, tools, key = defaultKeyOf } = options;
  const bucket = parseBucket(options);
  const memory = new InMemoryStore(now);
  const { perSecond, perMinute } = options;
  const rate = perSecond === undefined ? `${perMinute} per minute` : `${perSecond} per second`;
  const limit = `${bucket.capacity} at once and ${rate}`;
  const about = [counts, bucket, tools ?? []];

  /** Returns the milliseconds until the request is within the limit; 0 when it is. */
  const takeToken = async (context: MiddlewareContext): Promise<number> => {
    const { instance, serverInfo } = requestOf(context).server;
    const names = [
      perCaller ? requireKey('rateLimit', key(context)) : '',
      perTool && counts === 'calls' ? context.name : '',
    ];
    if (!instance.isShared) {
      const name = JSON.stringify(names);
      return memory.take(name.length > maxNameLength ? await digestOf(names) : name, 1, bucket);
    }
    // A digest: a principal may contain a token. The options keep limits of one server apart.
    const digest = await digestOf([serverInfo.name, about, names]);
    return instance.store.take(`rate/${digest}`, 1, bucket);
  };

  if (counts === 'requests') {
    return {
      async onRequest(context, next) {
        const wait = context.method === 'ping' ? 0 : await takeToken(context);
        if (wait === 0) return next();
        const seconds = toSeconds(wait);
        const headers = { 'retry-after': String(seconds) };
        throw refused(429, `Too many requests: the limit is ${limit}. Try again in ${toText(seconds)}.`, { headers });
      },
    };
  }
  const counted = tools && new Set(tools);
  return {
    async onCallTool(context, next) {
      const wait = counted && !counted.has(context.name) ? 0 : await takeToken(context);
      if (wait === 0) return next();
      const what = perTool ? `calls of the tool ${context.name}` : 'calls';
      const text = `Error: Too many ${what}: the limit is ${limit}. Try again in ${toText(toSeconds(wait))}.`;
      return { content: [{ type: 'text', text }], isError: true };
    },
  };
}

/** Clients whose address is unknown or loopback share a key, because they cannot be distinguished. */
const defaultKeyOf = (context: MiddlewareContext): string => requestOf(context).caller.key ?? 'anonymous';

/** Longest name of a bucket that is not replaced by a digest. */
const maxNameLength = 400;

function parseBucket({ capacity, perSecond, perMinute, counts, perTool, tools }: RateLimitOptions): TokenBucket {
  if ((perSecond === undefined) === (perMinute === undefined))
    throw invalidOptions('rateLimit needs one of perSecond and perMinute, and not both.');
  if (counts === 'requests' && (perTool !== undefined || tools !== undefined))
    throw invalidOptions('rateLimit has perTool and tools only where it counts calls.');
  return { capacity, perSecond: perSecond ?? (perMinute as number) / 60 };
}

function toSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}

function toText(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}
