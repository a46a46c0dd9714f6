import { QuiverError, untilAborted } from '@quiver/core';

/** Requests and tokens per minute that a provider allows. */
export interface EmbeddingRateLimit {
  /** Default: any number. */
  requestsPerMinute?: number;
  /** Default: any number. A larger request is divided. */
  tokensPerMinute?: number;
  /** Counts the tokens of a text. Default: its UTF-8 bytes divided by 4, rounded up; English has about as many. */
  countTokens?: (text: string) => number;
}

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
 * @throws `EMBEDDER_INVALID` for limits that are not numbers above 0
 */
export function createRateLimiter(
  { requestsPerMinute = Infinity, tokensPerMinute = Infinity, countTokens = estimateTokens }: EmbeddingRateLimit,
  now: () => number = () => performance.now(),
): RateLimiter {
  const perMinute = { requestsPerMinute, tokensPerMinute };
  for (const [name, limit] of Object.entries(perMinute)) {
    if (typeof limit === 'number' && limit >= 1) continue;
    throw new QuiverError('EMBEDDER_INVALID', `${name} must be a number of at least 1, not ${String(limit)}.`);
  }
  const requests = createBucket(requestsPerMinute, now);
  const tokens = createBucket(tokensPerMinute, now);
  let last: Promise<void> = Promise.resolve();

  async function take(texts: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const wanted = Math.min(
      tokensPerMinute,
      texts.reduce((sum, text) => sum + countTokens(text), 0),
    );
    const delay = Math.max(requests.delayOf(1), tokens.delayOf(wanted));
    if (delay > 0) await sleep(delay, signal);
    // Afterwards: an aborted request sends nothing.
    requests.take(1);
    tokens.take(wanted);
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

interface Bucket {
  /** Returns the milliseconds until the bucket has an amount. */
  delayOf(amount: number): number;
  take(amount: number): void;
}

function createBucket(size: number, now: () => number): Bucket {
  if (size === Infinity) return { delayOf: () => 0, take: () => undefined };
  let level = size;
  let time = now();
  const fill = (): void => {
    const passed = now() - time;
    time += passed;
    level = Math.min(size, level + (passed * size) / minute);
  };
  return {
    delayOf(amount) {
      fill();
      return Math.max(0, ((amount - level) * minute) / size);
    },
    take(amount) {
      fill();
      level -= amount;
    },
  };
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pass = (): Promise<void> => new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)));
  return untilAborted(pass, signal).finally(() => clearTimeout(timer));
}
