import { createBackOff, type BackOff } from '../back-off.js';
import { unref } from '../unref.js';

/** Milliseconds between two checks of a connection. Clients do not notice one that is half open. */
const heartbeatInterval = 15_000;

export interface ReconnectingOptions {
  /** Runs at intervals while the connection is open. */
  readonly check: () => void;
  readonly connect: () => void;
  /** Whether the process stays alive until the connection is opened again. */
  readonly keepsAlive: boolean;
}

/** Timers of one connection: checks it while it is open, and opens it again after it was lost, with pauses that grow to 5 s. */
export class Reconnecting {
  readonly #options: ReconnectingOptions;
  readonly #backOff: BackOff = createBackOff({ cap: 5000 });
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ReconnectingOptions) {
    this.#options = options;
  }

  watch(): void {
    this.#heartbeat = unref(setInterval(this.#options.check, heartbeatInterval));
  }

  /** The connection works: the next pause is short. */
  succeeded(): void {
    this.#backOff.reset();
  }

  unwatch(): void {
    clearInterval(this.#heartbeat);
  }

  connectLater(): void {
    this.#backOff.failed();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#options.connect, this.#backOff.remaining());
    if (!this.#options.keepsAlive) unref(this.#timer);
  }

  close(): void {
    this.unwatch();
    clearTimeout(this.#timer);
  }
}
