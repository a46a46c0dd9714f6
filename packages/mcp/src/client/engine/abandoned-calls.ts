import type { AnyRequestContext } from '@quiver/core/tools';
import { monotonicNow } from '../../monotonic-now.js';

/** Milliseconds in which the tool of a call that was canceled, or timed out, may still send requests. */
const lateRequestTime = 10 * 60_000;

/** Callers whose calls ended before their response. Their tools may continue, and ask. */
export class AbandonedCalls {
  /** `undefined` stands for a caller too: one without a request context. */
  readonly #callers = new Set<AnyRequestContext | undefined>();
  #until = 0;

  add(requestContext: AnyRequestContext | undefined): void {
    this.#until = monotonicNow() + lateRequestTime;
    // Two callers are enough to doubt every one.
    if (this.#callers.size < 2) this.#callers.add(requestContext);
  }

  /** Returns whether a request of the server may belong to an abandoned call of another caller. */
  mayBelongToOther(requestContext: AnyRequestContext | undefined): boolean {
    if (monotonicNow() >= this.#until) this.#callers.clear();
    return [...this.#callers].some((caller) => caller !== requestContext);
  }
}
