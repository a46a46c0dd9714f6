import { monotonicNow } from '../monotonic-now.js';
import { errorCodes } from '../protocol/constants.js';
import { ProtocolError, refused } from '../protocol/protocol-error.js';
import { RETRY_AFTER_CLOSED_SECONDS } from './limits.js';

/**
 * State of a server: `draining` serves requests and expects that clients leave, `closed` refuses them. No state returns to an earlier one.
 */
export type LifecycleState = 'open' | 'draining' | 'closed';

/** State of a server, or of one transport that may end before the server. */
export class Lifecycle {
  readonly #server: Lifecycle | undefined;
  #own: LifecycleState = 'open';

  /** @param server - state of the server that a transport belongs to */
  constructor(server?: Lifecycle) {
    this.#server = server;
  }

  get state(): LifecycleState {
    const state = this.#server?.state ?? 'open';
    return this.#own === 'closed' || state === 'open' ? this.#own : state;
  }

  drain(): void {
    if (this.#own === 'open') this.#own = 'draining';
  }

  close(): void {
    this.#own = 'closed';
  }
}

/** Returns the error of a request that was refused because the server is closed. It was not started. */
export function serverClosed(): ProtocolError {
  return refused(503, 'The server is shutting down; the request was not started', {
    data: { code: 'SERVER_CLOSED' },
    headers: { 'retry-after': String(RETRY_AFTER_CLOSED_SECONDS) },
  });
}

/** Returns the error of a request that was started, and did not end in time. */
export function callInterrupted(): ProtocolError {
  return interrupted(
    'The server was closed before this request ended, and its result is unknown. Check what it did before you send it again.',
  );
}

/** Returns the error of a request whose instance has ended, for its client at another one. */
export function callLost(): ProtocolError {
  return interrupted(
    'The server instance that ran this call has ended, and its result is unknown. Check what it did before you call again.',
  );
}

function interrupted(message: string): ProtocolError {
  return new ProtocolError(errorCodes.internal, message, { data: { code: 'REQUEST_INTERRUPTED' } });
}

export interface Transport {
  /** Number of requests in flight, without those that have no end of their own. */
  readonly inFlight: number;
  /** Begins to drain: requests are served, and the responses make clients leave. */
  drain(): void;
  /**
   * Drains, waits for requests in flight, answers those that remain with an error, and ends.
   *
   * @param graceMilliseconds - for requests in flight. Default: that of the transport
   */
  shutDown(graceMilliseconds?: number): Promise<void>;
}

export interface InFlight {
  /** @param reason - of its abort signal. Default: the client canceled it */
  cancel(reason?: Error): void;
  /** Lets a request end that has no end of its own. */
  release(): void;
  /** Whether it waits for `release()`. */
  readonly isHeld: boolean;
}

export function countHeld(inFlight: Iterable<InFlight>): number {
  let count = 0;
  for (const { isHeld } of inFlight) if (isHeld) count += 1;
  return count;
}

/** Milliseconds between two looks at the condition of {@link until}. */
export const POLL_INTERVAL = 5;

/** Settles when a condition holds, or after the timeout. */
export async function until(condition: () => boolean, milliseconds: number): Promise<void> {
  const deadline = monotonicNow() + milliseconds;
  while (!condition() && monotonicNow() < deadline) await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
}
