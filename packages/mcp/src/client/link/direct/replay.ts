import { isObject, type RequestId } from '../../../protocol/json-rpc.js';
import type { Fetch } from '../../../fetch.js';

/** What came back for an exchange, as if it had had this id. The signal ends what is still coming. */
export type Recorded = (id: RequestId, signal?: AbortSignal | null) => Response | Promise<Response>;

/** A method of the protocol, or `GET` for the stream of the session. */
export type RecordedExchange = 'initialize' | 'server/discover' | 'notifications/initialized' | 'GET';

/**
 * Lets the SDK take over a connection that it did not open: it goes through its handshake as ever, and meets what the server said
 * when the handshake was made.
 */
export class Replay {
  readonly #recorded: Partial<Record<RecordedExchange, Recorded | undefined>> = {};

  record(exchange: RecordedExchange, answer: Recorded): void {
    this.#recorded[exchange] = answer;
  }

  /** The `fetch` of the SDK's transport. Every record is played once; what there is none of goes to the server. */
  wrapFetch(fetch: Fetch): Fetch {
    return async (url, init) => {
      if (!Object.values(this.#recorded).some(Boolean)) return fetch(url, init);
      const message: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
      const exchange = (isObject(message) ? message['method'] : init?.method) as RecordedExchange;
      const answer = this.#recorded[exchange];
      if (!answer) return fetch(url, init);
      this.#recorded[exchange] = undefined;
      return answer(isObject(message) ? (message['id'] as RequestId) : 0, init?.signal);
    };
  }
}
