/** The longest delay of a timer. */
const maxDelay = 2 ** 31 - 1;

/** Time limit of one request. */
export interface Deadline {
  /** Milliseconds; 0 for no limit. */
  readonly timeout: number;
  /** Point in time, on the clock of `Date.now()`, at which the request times out. */
  expiresAt: number;
  /** Point in time that {@link Deadlines.restart} does not exceed. */
  latest: number;
  startedAt: number;
  onExpired(): void;
}

export interface DeadlineOptions {
  /** Milliseconds; 0 for no limit. */
  readonly timeout: number;
  /** Milliseconds that progress cannot extend. */
  readonly total?: number | undefined;
  readonly onExpired: () => void;
}

/** Time limits of the requests of one connection. They share one timer, because a timer per request costs more than the request. */
export class Deadlines {
  readonly #running = new Set<Deadline>();
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #pauses = 0;
  #pausedAt = 0;

  start({ timeout, total, onExpired }: DeadlineOptions): Deadline {
    const now = Date.now();
    const latest = total === undefined ? Number.POSITIVE_INFINITY : now + total;
    const expiresAt = Math.min(timeout > 0 ? now + timeout : Number.POSITIVE_INFINITY, latest);
    const deadline = { timeout, expiresAt, latest, startedAt: now, onExpired };
    this.#running.add(deadline);
    if (this.#running.size === 1) this.#timer?.ref();
    if (expiresAt < this.#timerDue) this.#setTimer(expiresAt);
    return deadline;
  }

  /** Starts the time of a request again, because the server reported progress. */
  restart(deadline: Deadline): void {
    if (deadline.timeout <= 0) return;
    const now = this.#pauses > 0 ? this.#pausedAt : Date.now();
    deadline.expiresAt = Math.min(now + deadline.timeout, deadline.latest);
  }

  /** Ends a time limit. The timer stays: the next request uses it. */
  stop(deadline: Deadline): void {
    this.#running.delete(deadline);
    if (this.#running.size === 0) this.#timer?.unref();
  }

  /** Stops all clocks while the application answers the server. Every call requires its {@link resume}. */
  pause(): void {
    this.#pauses += 1;
    if (this.#pauses === 1) this.#pausedAt = Date.now();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0) return;
    const now = Date.now();
    for (const deadline of this.#running) {
      const pause = now - Math.max(this.#pausedAt, deadline.startedAt);
      deadline.expiresAt += pause;
      deadline.latest += pause;
    }
    this.#check();
  }

  clear(): void {
    this.#running.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerDue = Number.POSITIVE_INFINITY;
  }

  #setTimer(due: number): void {
    clearTimeout(this.#timer);
    this.#timerDue = due;
    this.#timer = setTimeout(() => this.#check(), Math.min(Math.max(0, due - Date.now()), maxDelay));
  }

  #check(): void {
    this.#timer = undefined;
    this.#timerDue = Number.POSITIVE_INFINITY;
    if (this.#pauses > 0) return;
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const deadline of this.#running) {
      if (deadline.expiresAt <= now) {
        this.#running.delete(deadline);
        deadline.onExpired();
      } else next = Math.min(next, deadline.expiresAt);
    }
    if (next < this.#timerDue) this.#setTimer(next);
  }
}
