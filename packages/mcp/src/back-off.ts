export interface BackOff {
  /** Milliseconds until the next attempt is due; 0 when it is. */
  remaining(): number;
  /** Doubles the pause, up to the cap. */
  failed(): void;
  /** Forgets all failures. */
  reset(): void;
}

export interface BackOffOptions {
  /** Milliseconds after the first failure. Default 100. */
  first?: number;
  /** Milliseconds at most. Default 30 000. */
  cap?: number;
  /** Milliseconds. Default: a monotonic clock. */
  now?: () => number;
  random?: () => number;
}

/**
 * Pauses between attempts that fail: each twice as long as the last, and each cut by up to a half at random, so that many clients
 * of one server that comes back do not arrive together.
 *
 * @see [Exponential back-off and jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/)
 */
export function createBackOff({
  first = 100,
  cap = 30_000,
  now = () => performance.now(),
  random = Math.random,
}: BackOffOptions = {}): BackOff {
  let failures = 0;
  let due = 0;
  return {
    remaining: () => Math.max(0, due - now()),
    failed: () => {
      const pause = Math.min(cap, first * 2 ** failures);
      failures += 1;
      due = now() + pause * (0.5 + random() / 2);
    },
    reset: () => {
      failures = 0;
      due = 0;
    },
  };
}
