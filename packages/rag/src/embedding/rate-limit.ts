import { functionValue, objectOf, type OptionCheck, valueThat } from '@quiver/core/internal';
import { sleep } from '../requests/retry.js';

/** Requests and tokens per minute that a provider allows. */
export interface EmbeddingRateLimit {
  /** Default: any number. */
  requestsPerMinute?: number;
  /** Default: any number. A larger request is split. */
  tokensPerMinute?: number;
  /** Counts the tokens of a text. Default: its UTF-8 bytes divided by 4, rounded up; English has about as many. */
  countTokens?: (text: string) => number;
}

const perMinute = valueThat((value) => typeof value === 'number' && value >= 1, 'a number of at least 1');

/** Accepts an {@link EmbeddingRateLimit}. */
export const rateLimitValue: OptionCheck = objectOf<EmbeddingRateLimit>({
  requestsPerMinute: perMinute,
  tokensPerMinute: perMinute,
  countTokens: functionValue,
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
 * @param now - time in milliseconds
 */
export function createRateLimiter(
  { requestsPerMinute = Infinity, tokensPerMinute = Infinity, countTokens = estimateTokens }: EmbeddingRateLimit,
  now: () => number = () => performance.now(),
): RateLimiter {
  const requests = createBucket(requestsPerMinute, now);
  const tokens = createBucket(tokensPerMinute, now);
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

/** Takes an amount and returns 0, or returns the milliseconds until it is there. */
type Bucket = (amount: number) => number;

function createBucket(size: number, now: () => number): Bucket {
  if (size === Infinity) return () => 0;
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
    const delay = bucket(amount);
    if (!(delay > 0)) return;
    // A longer timer than 24 days would fire at once.
    await sleep(Math.min(Math.ceil(delay), minute), signal);
  }
}
