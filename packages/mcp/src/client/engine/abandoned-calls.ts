import { monotonicNow } from '../../monotonic-now.js';
import type { Caller } from '../config/caller.js';

/** Milliseconds in which the tool of a call that was canceled, or timed out, may still send requests. */
const lateRequestTime = 10 * 60_000;

/** Callers whose calls ended before their response. Their tools may continue, and ask. */
export class AbandonedCalls {
  readonly #callers = new Set<object | undefined>();
  #until = 0;

  add(caller: Caller): void {
    this.#until = monotonicNow() + lateRequestTime;
    // Two callers are enough to doubt every one.
    if (this.#callers.size < 2) this.#callers.add(identityOf(caller));
  }

  /** Returns whether a request of the server may belong to an abandoned call of another caller. */
  mayBelongToOther(caller: Caller): boolean {
    if (monotonicNow() >= this.#until) this.#callers.clear();
    const own = identityOf(caller);
    return [...this.#callers].some((other) => other !== own);
  }
}

/** Without a request context, calls with one handler ask one user. `undefined` stands for a caller too: that of calls with neither. */
function identityOf({ requestContext, onElicitation, onSampling }: Caller): object | undefined {
  return requestContext ?? onElicitation ?? onSampling;
}
