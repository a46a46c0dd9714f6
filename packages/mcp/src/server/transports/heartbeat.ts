import type { SessionStore } from '../sessions.js';

const tickMilliseconds = 5_000;

/** A comment goes out on every third tick. */
const ticksPerComment = 3;

/** An answer that is being made. */
export interface PendingAnswer {
  /** Shows the client, and proxies on the way, that the answer is still to come. */
  keepAlive(): void;
  /** Lets a request end that has no end of its own. */
  release(): void;
  /** Stops what is made for it. */
  cancel(): void;
}

/**
 * The one timer of an endpoint. Proxies take silence for death and clients need headers to wait for, so answers that take long
 * become event streams, and open streams get a comment now and then.
 */
export class Heartbeat {
  readonly #sessions: SessionStore;
  /** Answers that are not made yet, and the tick they were first seen at. */
  readonly #waiting = new Map<PendingAnswer, number>();
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #onIdle: (() => void) | undefined;

  constructor(sessions: SessionStore) {
    this.#sessions = sessions;
  }

  add(answer: PendingAnswer): void {
    this.#waiting.set(answer, this.#tick);
    this.start();
  }

  remove(answer: PendingAnswer): void {
    this.#waiting.delete(answer);
    if (this.#waiting.size === 0) this.#onIdle?.();
  }

  /** Runs until a tick finds nothing to do. */
  start(): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => this.beat(), tickMilliseconds);
    // Outside of Node timers are numbers and keep nothing alive.
    this.#timer.unref?.();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  beat(): void {
    this.#tick += 1;
    for (const [answer, since] of this.#waiting) {
      const age = this.#tick - since;
      if (age === 2 || (age > 2 && age % ticksPerComment === 0)) answer.keepAlive();
    }
    let streams = 0;
    for (const { ownStream } of this.#sessions) {
      if (!ownStream?.hasReader) continue;
      streams += 1;
      if (this.#tick % ticksPerComment === 0) ownStream.keepAlive();
    }
    if (streams === 0 && this.#waiting.size === 0) this.stop();
  }

  /** Cancels everything that is being answered. */
  cancelAll(): void {
    for (const answer of this.#waiting.keys()) answer.cancel();
  }

  /** Ends requests that have no end of their own. Settles when nothing is being answered, or when the time is over. */
  async drained(milliseconds: number): Promise<void> {
    for (const answer of this.#waiting.keys()) answer.release();
    if (this.#waiting.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
