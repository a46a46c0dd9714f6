import { ActiveSet } from '../../active-set.js';
import { toTimerDelay } from '../../monotonic-now.js';

/** Time limit of one request. */
export interface RequestClock {
  /** Ends the request. */
  readonly onExpired: () => void;
  /** Time at which the request expires, unless the clock is paused. */
  expiresAt: number;
  /** Time that {@link RequestClocks.extend} does not exceed. */
  latest: number;
  /** Number of reasons for which the clock is paused. */
  pauses: number;
  pausedAt: number;
}

/** Time limits of the requests of one connection. One timer serves all: one for each adds a fifth to the cost of a call over stdio. */
export class RequestClocks {
  readonly #running = new ActiveSet<RequestClock>();
  /** Number of reasons for which all clocks are paused. */
  #pauses = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;

  /** @param timeout - milliseconds; 0 for no limit. @param maxTotalTimeout - milliseconds that progress cannot extend */
  start(timeout: number, maxTotalTimeout: number, onExpired: () => void): RequestClock {
    const now = performance.now();
    const latest = now + maxTotalTimeout;
    const expiresAt = timeout > 0 ? Math.min(now + timeout, latest) : latest;
    const clock: RequestClock = { onExpired, expiresAt, latest, pauses: this.#pauses, pausedAt: now };
    this.#running.add(clock);
    if (this.#running.size === 1) this.#timer?.ref?.();
    this.#setTimer(expiresAt);
    return clock;
  }

  stop(clock: RequestClock): void {
    this.#running.delete(clock);
    if (this.#running.size === 0) this.#timer?.unref?.();
  }

  /** Starts the time limit of a request again. @param timeout - milliseconds */
  extend(clock: RequestClock, timeout: number): void {
    const now = clock.pauses > 0 ? clock.pausedAt : performance.now();
    clock.expiresAt = Math.min(now + timeout, clock.latest);
  }

  /** Stops one clock, or all, also those that start later, until {@link resume}. */
  pause(only?: RequestClock): void {
    if (!only) this.#pauses += 1;
    for (const clock of only ? [only] : this.#running) {
      if (clock.pauses === 0) clock.pausedAt = performance.now();
      clock.pauses += 1;
    }
  }

  resume(only?: RequestClock): void {
    if (!only) this.#pauses -= 1;
    for (const clock of only ? [only] : this.#running) {
      clock.pauses -= 1;
      if (clock.pauses > 0) continue;
      const passed = performance.now() - clock.pausedAt;
      clock.expiresAt += passed;
      clock.latest += passed;
      if (this.#running.has(clock)) this.#setTimer(clock.expiresAt);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #setTimer(due: number): void {
    if (this.#isClosed || due >= this.#timerDue) return;
    clearTimeout(this.#timer);
    this.#timerDue = due;
    this.#timer = setTimeout(() => this.#expire(), toTimerDelay(Math.max(0, due - performance.now())));
  }

  #expire(): void {
    this.#timerDue = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (const clock of this.#running) {
      if (clock.pauses > 0) continue;
      if (clock.expiresAt <= now) clock.onExpired();
      else this.#setTimer(clock.expiresAt);
    }
  }
}
