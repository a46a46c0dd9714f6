import { toTimerDelay } from '../../monotonic-now.js';
import type { Params } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import { unref } from '../../unref.js';
import type { RelayedCall } from './relayed-call.js';

/** A request to a legacy server that waits until its modern caller has provided input. */
interface SuspendedCall {
  readonly call: RelayedCall;
  readonly running: Promise<Params>;
}

/** Calls that wait at once; the oldest one is ended for another. */
const MAX_SUSPENDED = 1_000;

/** The calls of this process that wait for their callers. They are lost with it: a caller then has to call again. */
export class SuspendedCalls {
  readonly #calls = new Map<string, SuspendedCall & { readonly timer: NodeJS.Timeout }>();
  readonly #lifetime: number;

  /** @param lifetime - milliseconds that a caller has for a round */
  constructor(lifetime: number) {
    this.#lifetime = lifetime;
  }

  /** @returns the id of the call, for {@link SuspendedCalls.take} */
  add(call: RelayedCall, running: Promise<Params>): string {
    const id = crypto.randomUUID();
    const end = (): void => this.#end(id, 'The caller provided no input in time.');
    const timer = unref(setTimeout(end, toTimerDelay(this.#lifetime)));
    this.#calls.set(id, { call, running, timer });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_SUSPENDED && oldest !== undefined) this.#end(oldest, 'Too many calls wait for input.');
    return id;
  }

  /** @throws ProtocolError -32602 for a call that has ended, or waits in another process */
  take(id: string): SuspendedCall {
    const suspended = this.#calls.get(id);
    if (!suspended) throw invalidParams('Invalid requestState: the call has ended meanwhile. Start it again.');
    clearTimeout(suspended.timer);
    this.#calls.delete(id);
    return suspended;
  }

  close(): void {
    for (const id of this.#calls.keys()) this.#end(id, 'The server was closed.');
  }

  #end(id: string, reason: string): void {
    this.take(id).call.abort(new DOMException(reason, 'AbortError'));
  }
}
