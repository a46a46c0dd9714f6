import type { SessionStore } from './sessions.js';

const tickMilliseconds = 5_000;

/** A comment goes out on every third tick. */
const ticksPerComment = 3;

/** A response that is not complete. */
export interface PendingResponse {
  /** Shows clients and proxies that the response is still to come. */
  keepAlive(): void;
  /** Ends a request that has no end of its own. */
  release(): void;
  /** Cancels the request. */
  cancel(): void;
}

/**
 * Timer of an endpoint. Proxies close quiet connections, and clients wait for headers, so slow responses become event streams, and open
 * streams receive comments.
 */
export class Heartbeat {
  readonly #sessions: SessionStore;
  /** Incomplete responses, and the tick of their start. */
  readonly #waiting = new Map<PendingResponse, number>();
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #onIdle: (() => void) | undefined;

  constructor(sessions: SessionStore) {
    this.#sessions = sessions;
  }

  add(response: PendingResponse): void {
    this.#waiting.set(response, this.#tick);
    this.start();
  }

  remove(response: PendingResponse): void {
    this.#waiting.delete(response);
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
    for (const [response, since] of this.#waiting) {
      const age = this.#tick - since;
      if (age === 2 || (age > 2 && age % ticksPerComment === 0)) response.keepAlive();
    }
    let streams = 0;
    for (const { standaloneStream } of this.#sessions) {
      if (!standaloneStream?.hasReader) continue;
      streams += 1;
      if (this.#tick % ticksPerComment === 0) standaloneStream.keepAlive();
    }
    if (streams === 0 && this.#waiting.size === 0) this.stop();
  }

  /** Cancels all in-flight requests. */
  cancelAll(): void {
    for (const response of this.#waiting.keys()) response.cancel();
  }

  /** Ends requests that have no end of their own. Settles when no request is in flight, or after the timeout. */
  async drained(milliseconds: number): Promise<void> {
    for (const response of this.#waiting.keys()) response.release();
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
