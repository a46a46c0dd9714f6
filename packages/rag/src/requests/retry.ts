import { untilAborted } from '@quiver/core';

const firstDelay = 500;

const maxDelay = 60_000;

export interface RetryOptions {
  /** Attempts after the first. Default 2, as in the AI SDK. */
  maxRetries?: number | undefined;
  /** Whether an error is transient. Default: its property `isRetryable`, as in the AI SDK. */
  isTransient?: (error: unknown) => boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Retries after transient errors: after half a second, one second and so on, at most a minute, or after the time that the server
 * requests.
 *
 * @throws the last error; the abort reason
 */
export async function retry<Result>(
  run: () => PromiseLike<Result>,
  { maxRetries = 2, isTransient = isRetryable, signal }: RetryOptions = {},
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(attempt < maxRetries) || !isTransient(error)) throw error;
      await sleep(requestedDelay(error) ?? Math.min(firstDelay * 2 ** attempt, maxDelay), signal);
    }
  }
}

function isRetryable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { isRetryable?: unknown }).isRetryable === true;
}

/** From `retry-after-ms` or `retry-after` in seconds. A server that asks for more than a minute is not waited for any longer. */
function requestedDelay(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { responseHeaders: headers } = error as { responseHeaders?: Record<string, string | undefined> };
  const milliseconds = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN);
  const delay = Number.isNaN(milliseconds) ? seconds * 1000 : milliseconds;
  return Number.isNaN(delay) || delay < 0 ? undefined : Math.min(delay, maxDelay);
}

/** @throws the abort reason */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pass = (): Promise<void> => new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)));
  return untilAborted(pass, signal).finally(() => clearTimeout(timer));
}
