/** Two more attempts, as the AI SDK makes by default. */
const maxRetries = 2;
const firstDelay = 500;
const maxDelay = 60_000;

/**
 * Calls again after errors that say of themselves that they may pass (`isRetryable`, as the AI SDK's errors do), waiting half a
 * second and then a second, or as long as the server asks.
 *
 * @throws the last error; the reason of `signal`
 */
export async function retry<Result>(run: () => PromiseLike<Result>, signal: AbortSignal | undefined): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      signal?.throwIfAborted();
      if (attempt >= maxRetries || !isRetryable(error)) throw error;
      await wait(requestedDelay(error) ?? firstDelay * 2 ** attempt, signal);
    }
  }
}

function isRetryable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { isRetryable?: unknown }).isRetryable === true;
}

/** From `retry-after-ms` or `retry-after` in seconds. A server that asks for more than a minute is not waited for any longer. */
function requestedDelay(error: unknown): number | undefined {
  const { responseHeaders: headers } = error as { responseHeaders?: Record<string, string | undefined> };
  const milliseconds = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN);
  const delay = Number.isNaN(milliseconds) ? seconds * 1000 : milliseconds;
  return Number.isNaN(delay) || delay < 0 ? undefined : Math.min(delay, maxDelay);
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
