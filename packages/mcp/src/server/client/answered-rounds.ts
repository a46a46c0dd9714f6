import { monotonicNow } from '../../monotonic-now.js';
import { Result } from '../../content.js';
import { errorCodes } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { Instance } from '../../shared-store/instance.js';
import { digestOf } from '../digest.js';
import type { ServerRequest } from '../request.js';

/** The result of a round; `null` where the call was canceled, or the result is no longer kept. */
type Outcome = Result | null;

interface Round {
  readonly end: number;
  outcome: Promise<Outcome>;
  size: number;
}

const maxRounds = 10_000;
const maxCharacters = 16 * 1024 * 1024;
/** Milliseconds between two looks at a round that another instance runs. */
const pollInterval = 200;

/**
 * Rounds that began with the response of a user, by their `requestState`, until it expires. A client that lost the result sends this response
 * again: it receives the running or finished result, and the tool does not run twice. Where instances share a store, the first one to
 * claim the state runs the round.
 *
 * Keeps the results of at most 10,000 rounds with 16 Mi characters; of older ones it knows that they ran.
 */
export class AnsweredRounds {
  readonly #instance: Instance;
  readonly #lifetime: number;
  readonly #rounds = new Map<string, Round>();
  #characters = 0;

  /** @param lifetime - of a `requestState`, in milliseconds */
  constructor(instance: Instance, lifetime: number) {
    this.#instance = instance;
    this.#lifetime = lifetime;
  }

  /**
   * Runs a round, or returns the result of the run before. A round that fails before it has a result may be run again.
   *
   * @throws errors of the run; ProtocolError -32603 for a round that was canceled while it ran, or whose result is no longer kept
   */
  async once(state: unknown, request: ServerRequest, run: () => Promise<Result>): Promise<Result> {
    const id = await digestOf(['round', state]);
    this.#evict();
    const known = this.#rounds.get(id);
    if (known) return requireResult(await known.outcome);
    const running = this.#instance.isShared ? this.#runShared(id, request, run) : outcomeOf(request, run);
    const round: Round = { end: monotonicNow() + this.#lifetime, outcome: running, size: 0 };
    this.#rounds.set(id, round);
    // Not when it was forgotten: a later round may have its id.
    const isKept = (): boolean => this.#rounds.get(id) === round;
    const outcome = await running.catch((error: unknown) => {
      if (isKept()) this.#rounds.delete(id);
      throw error;
    });
    if (outcome && isKept()) {
      round.size = outcome.json.length;
      this.#characters += round.size;
    }
    return requireResult(outcome);
  }

  async #runShared(id: string, request: ServerRequest, run: () => Promise<Result>): Promise<Outcome> {
    const { store, id: own } = this.#instance;
    const key = this.#instance.nameOf('round', id);
    const ttlMs = this.#lifetime;
    const claim = JSON.stringify({ instance: own });
    await this.#instance.start();
    for (let version: number | undefined = 0; ;) {
      if (version !== undefined && (await store.put(key, claim, { version, ttlMs })) !== undefined) {
        const outcome = await outcomeOf(request, run).catch(async (error: unknown) => {
          await store.delete(key);
          throw error;
        });
        await store.put(key, JSON.stringify({ outcome }), { ttlMs });
        return outcome;
      }
      const record = await store.get(key);
      const { instance, outcome } = JSON.parse(record?.value ?? '{}') as { instance?: string; outcome?: Outcome };
      if (outcome !== undefined) return outcome && new Result(outcome.json, outcome);
      // The instance that ran it has died: whether the tool had effects is as unknown as after any lost call.
      version = record === undefined ? 0 : undefined;
      if (instance !== undefined && !(await this.#instance.isAlive(instance))) version = record?.version;
      request.signal.throwIfAborted();
      if (version === undefined) await new Promise((resolve) => setTimeout(resolve, pollInterval));
    }
  }

  /** Rounds have one lifetime, so the oldest ends first. */
  #evict(): void {
    const now = monotonicNow();
    for (const [id, round] of this.#rounds) {
      const isForgotten = round.end <= now || this.#rounds.size > maxRounds;
      if (!isForgotten && this.#characters <= maxCharacters) break;
      this.#characters -= round.size;
      if (isForgotten) this.#rounds.delete(id);
      else if (round.size > 0) Object.assign(round, { outcome: Promise.resolve(null), size: 0 });
    }
  }
}

async function outcomeOf(request: ServerRequest, run: () => Promise<Result>): Promise<Outcome> {
  const result = await run().catch((error: unknown) => {
    if (!request.isDiscarded) throw error;
    return null;
  });
  return result && request.isDiscarded && (result.isError || result.json === '{}') ? null : result;
}

function requireResult(outcome: Outcome): Result {
  if (outcome) return outcome;
  throw new ProtocolError(
    errorCodes.internal,
    'This requestState was answered already, and the result is not known: the call was canceled while it ran, or its result is no longer kept. Check what the call did before you start it again.',
    { data: { code: 'REQUEST_INTERRUPTED' } },
  );
}
