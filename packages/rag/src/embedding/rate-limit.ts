import { functionValue, objectOf, type OptionCheck, stringValue, valueThat } from '@quiver/core/internal';
import { sleep } from '../requests/retry.js';

/** Requests and tokens per minute that a provider allows. */
export interface EmbeddingRateLimit {
  /** Default: any number. */
  requestsPerMinute?: number;
  /** Default: any number. A larger request is split. */
  tokensPerMinute?: number;
  /** Counts the tokens of a text. Default: its UTF-8 bytes divided by 4, rounded up; English has about as many. */
  countTokens?: (text: string) => number;
  /** Token buckets that several processes share, such as a `PostgresStore` or `RedisStore` of `@quiver/mcp`. Default: of this embedder. */
  shared?: SharedBuckets;
  /** Name of the limit in `shared`: embedders of one account use the same. Default: the id of the model. */
  sharedKey?: string;
}

/** Token buckets under a key: full at first, and refilled continuously. */
export interface SharedBuckets {
  /** @returns 0 when the tokens were taken; otherwise the milliseconds until they are there, and none was taken */
  take(key: string, amount: number, bucket: { capacity: number; perSecond: number }): Promise<number>;
}

const perMinute = valueThat((value) => typeof value === 'number' && value >= 1, 'a number of at least 1');

/** Accepts an {@link EmbeddingRateLimit}. */
export const rateLimitValue: OptionCheck = objectOf<EmbeddingRateLimit>({
  requestsPerMinute: perMinute,
  tokensPerMinute: perMinute,
  countTokens: functionValue,
  shared: valueThat(
    (value) => typeof (value as SharedBuckets | null)?.take === 'function',
    'a store of token buckets, such as a RedisStore of @quiver/mcp',
  ),
  sharedKey: stringValue,
});

/** Waits until a request is within the limit. */
export interface RateLimiter {
  /** Number of tokens that one request can have. */
  readonly maxTokens: number;
  countTokens(text: string): number;
  /** @throws the abort reason */
  wait(texts: readonly string[], signal: AbortSignal): Promise<void>;
}

const minute = 60_000;
const encoder = new TextEncoder();

/** Returns the number of tokens that a text has about. */
export function estimateTokens(text: string): number {
  return Math.ceil(encoder.encode(text).length / 4);
}

/**
 * Creates a limiter: two buckets of one minute's requests and tokens, full at the start and refilled continuously (token bucket).
 * Requests wait in the order of their calls.
 *
 * @param model - id of the model
 * @param now - time in milliseconds
 * @throws from `wait`, the errors of `shared`
 */
export function createRateLimiter(
  {
    requestsPerMinute = Infinity,
    tokensPerMinute = Infinity,
    countTokens = estimateTokens,
    shared,
    sharedKey,
  }: EmbeddingRateLimit,
  model = '',
  now: () => number = () => performance.now(),
): RateLimiter {
  const bucketOf = (name: string, capacity: number): Bucket => {
    if (capacity === Infinity) return () => 0;
    if (!shared) return createBucket(capacity, now);
    const key = `embedding:${sharedKey ?? model}:${name}`;
    return (amount) => shared.take(key, amount, { capacity, perSecond: capacity / 60 });
  };
  const requests = bucketOf('requests', requestsPerMinute);
  const tokens = bucketOf('tokens', tokensPerMinute);
  let last: Promise<void> = Promise.resolve();

  async function take(texts: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const wanted = Math.min(
      tokensPerMinute,
      texts.reduce((sum, text) => sum + countTokens(text), 0),
    );
    await waitFor(tokens, wanted, signal);
    await waitFor(requests, 1, signal);
  }

  return {
    maxTokens: tokensPerMinute,
    countTokens,
    wait(texts, signal) {
      const turn = last.then(() => take(texts, signal));
      // An aborted request does not stop those behind it.
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

/** Takes an amount, or returns the milliseconds until it is there, as {@link SharedBuckets.take}. */
type Bucket = (amount: number) => number | Promise<number>;

function createBucket(size: number, now: () => number): Bucket {
  let level = size;
  let time = now();
  return (amount) => {
    const passed = now() - time;
    time += passed;
    level = Math.min(size, level + (passed * size) / minute);
    if (level < amount) return ((amount - level) * minute) / size;
    level -= amount;
    return 0;
  };
}

async function waitFor(bucket: Bucket, amount: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const delay = await bucket(amount);
    if (!(delay > 0)) return;
    // A longer timer than 24 days would fire at once.
    await sleep(Math.min(Math.ceil(delay), minute), signal);
  }
}
