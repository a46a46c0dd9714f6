/** The longest time of a timer. */
const maxTimeout = 2 ** 31 - 1;

/** A timer that can be paused. */
export class Clock {
  readonly #onEnd: () => void;
  #remaining: number;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;

  constructor(timeout: number, onEnd: () => void) {
    this.#remaining = timeout;
    this.#onEnd = onEnd;
  }

  run(): void {
    if (this.#timer) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onEnd, Math.min(this.#remaining, maxTimeout));
  }

  pause(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remaining -= performance.now() - this.#startedAt;
  }
}
