/** The time a request may take, when more than the clock decides about it. */
export interface Deadline {
  /** Fires when the time is over, or when the caller's signal fires. */
  readonly signal: AbortSignal;
  /** Whether the time is over. */
  readonly expired: boolean;
  /** Starts anew: the server showed that it is alive. */
  restart(): void;
  /** Stands still while a person answers a question of the server. Every call needs its {@link resume}. */
  pause(): void;
  resume(): void;
  /** Ends it; nothing fires any more. */
  clear(): void;
}

export interface DeadlineOptions {
  /** Milliseconds. */
  readonly timeout: number;
  /** Milliseconds that {@link Deadline.restart} cannot extend. */
  readonly total?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function createDeadline({ timeout, total, signal }: DeadlineOptions): Deadline {
  const controller = new AbortController();
  let expired = false;
  let paused = 0;
  let left = timeout;
  let totalLeft = total ?? Number.POSITIVE_INFINITY;
  let startedAt = Date.now();
  let timer: NodeJS.Timeout | undefined;

  const run = (): void => {
    startedAt = Date.now();
    timer = setTimeout(expire, Math.max(0, Math.min(left, totalLeft, maxDelay)));
  };
  const stop = (): void => {
    clearTimeout(timer);
    const elapsed = Date.now() - startedAt;
    left -= elapsed;
    totalLeft -= elapsed;
  };
  const expire = (): void => {
    expired = true;
    controller.abort(new Error('the time is over'));
  };
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  run();

  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    restart: () => {
      if (paused === 0) stop();
      left = timeout;
      if (paused === 0) run();
    },
    pause: () => {
      if (paused === 0) stop();
      paused += 1;
    },
    resume: () => {
      paused -= 1;
      if (paused === 0) run();
    },
    clear: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      // A resume that is still to come must not start the clock again.
      paused = Number.POSITIVE_INFINITY;
    },
  };
}

/** The longest delay of a timer. */
export const maxDelay: number = 2 ** 31 - 1;
