import { isObject, type RequestId } from '../../protocol/json-rpc.js';
import type { PlainFetch } from '../transports/plain-fetch.js';

/** What came back for an exchange, as if it had had this id. The signal ends what is still coming. */
export type Recorded = (id: RequestId, signal?: AbortSignal | null) => Response | Promise<Response>;

/**
 * Lets the SDK take over a connection that it did not open: it goes through its handshake as ever, and meets what the server said
 * when the handshake was made.
 */
export class Replay {
  readonly #recorded = new Map<string, Recorded>();

  /** @param exchange - a method of the protocol, or `GET` for the stream of the session */
  record(exchange: string, answer: Recorded): void {
    this.#recorded.set(exchange, answer);
  }

  /** The `fetch` of the SDK's transport. Every record is played once; what there is none of goes to the server. */
  wrapFetch(fetch: PlainFetch): PlainFetch {
    return async (url, init) => {
      if (this.#recorded.size === 0) return fetch(url, init);
      const message: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
      const exchange = isObject(message) ? String(message['method']) : init?.method;
      const answer = exchange === undefined ? undefined : this.#recorded.get(exchange);
      if (!answer || exchange === undefined) return fetch(url, init);
      this.#recorded.delete(exchange);
      return answer(isObject(message) ? (message['id'] as RequestId) : 0, init?.signal);
    };
  }
}
