import { isQuiverError, QuiverError } from '@quiver/core';
import { monotonicNow } from '../../monotonic-now.js';
import { createBackOff } from '../../back-off.js';

/** Milliseconds of the first pause, which is cut by up to a half at random, and of the longest. */
const pauses = { first: 30_000, cap: 5 * 60_000 };

/** Codes of requests without a response, for another reason than a timeout. */
const unanswered: ReadonlySet<string> = new Set(['MCP_CLIENT_CONNECT_FAILED', 'MCP_CONNECTION_CLOSED']);

/**
 * Stops the requests to a server after a number of timeouts in a row. After a pause one request is sent as a trial: its response ends the
 * suspension, its timeout begins a pause that is twice as long. A trial without either does not keep other requests back for longer than the
 * first pause, because a request may have no timeout.
 */
export class TimeoutBreaker {
  readonly #serverName: string;
  readonly #limit: number;
  readonly #backOff = createBackOff({ ...pauses, now: monotonicNow });
  #timeouts = 0;
  /** Time until which a trial keeps other requests back; 0 without a trial. */
  #trialUntil = 0;

  /** @param limit - number of timeouts in a row */
  constructor(serverName: string, limit: number) {
    this.#serverName = serverName;
    this.#limit = limit;
  }

  /** The error of requests that are not sent. */
  get suspension(): QuiverError | undefined {
    if (this.#timeouts < this.#limit) return undefined;
    const trialLeft = Math.max(0, this.#trialUntil - monotonicNow());
    const retryIn = Math.max(trialLeft, this.#backOff.remaining());
    if (retryIn === 0) return undefined;
    const trial = trialLeft > 0 ? 'A trial is in progress. ' : '';
    return new QuiverError(
      'MCP_SERVER_SUSPENDED',
      `MCP server '${this.#serverName}' is suspended, because ${this.#timeouts} requests in a row timed out: this request was not sent. ${trial}The next one is sent after ${Math.ceil(retryIn / 1000)} s, or after \`mcp.reconnectServer('${this.#serverName}')\`.`,
      { details: { server: this.#serverName, retryIn } },
    );
  }

  /**
   * Sends a request, and learns from its outcome: an error that the server responds with is a response.
   *
   * @throws `MCP_SERVER_SUSPENDED`; errors of `send`
   */
  async run<Result>(send: () => Promise<Result>): Promise<Result> {
    const { suspension } = this;
    if (suspension) throw suspension;
    const isTrial = this.#timeouts >= this.#limit;
    const trialUntil = isTrial ? monotonicNow() + pauses.first : 0;
    if (isTrial) this.#trialUntil = trialUntil;
    try {
      const result = await send();
      this.reset();
      return result;
    } catch (error) {
      // Other errors than those of a server, such as the reason of a signal, say nothing about it.
      if (isQuiverError(error, 'MCP_REQUEST_TIMEOUT')) this.#countTimeout(isTrial);
      else if (isQuiverError(error) && !unanswered.has(error.code)) this.reset();
      throw error;
    } finally {
      if (this.#trialUntil === trialUntil) this.#trialUntil = 0;
    }
  }

  #countTimeout(isTrial: boolean): void {
    this.#timeouts += 1;
    // Requests that were sent before the suspension do not extend it.
    if (isTrial || this.#timeouts === this.#limit) this.#backOff.failed();
  }

  /** Ends a suspension. */
  reset(): void {
    this.#timeouts = 0;
    this.#trialUntil = 0;
    this.#backOff.reset();
  }
}
