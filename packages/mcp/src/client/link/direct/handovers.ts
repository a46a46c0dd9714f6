import type { JSONRPCMessage, Transport } from '../../../protocol/client-types.js';
import { isObject, type RequestId } from '../../../protocol/json-rpc.js';
import { toMessage, type Answer } from './answer.js';
import type { Fetch } from '../../../fetch.js';

/** Names an answer in the SDK's request, and never leaves this process. */
const header = 'quiver-handover';

interface Handover {
  /** The id that the server knows the request by. */
  readonly id: RequestId;
  readonly answer: Answer;
}

/**
 * Lets the SDK deal with answers to requests that it did not send: the SDK sends the request as ever, and where it would reach the
 * server it meets the answer that is there already. Until the SDK is done, the ids of both stand for each other.
 */
export class Handovers {
  readonly #waiting = new Map<string, Handover>();
  readonly #sdkIds = new Map<RequestId, RequestId>();
  readonly #ownIds = new Map<RequestId, RequestId>();

  /** @returns the headers that the SDK's request has to carry */
  offer(id: RequestId, answer: Answer): Record<string, string> {
    const key = String(id);
    this.#waiting.set(key, { id, answer });
    return { [header]: key };
  }

  /**
   * The SDK is done with the request.
   *
   * @returns whether it never took the answer
   */
  forget(id: RequestId): boolean {
    const isWaiting = this.#waiting.delete(String(id));
    const sdkId = this.#sdkIds.get(id);
    this.#sdkIds.delete(id);
    if (sdkId !== undefined) this.#ownIds.delete(sdkId);
    return isWaiting;
  }

  /** What the SDK sends, on its way to the transport. */
  outgoing(
    message: JSONRPCMessage,
    options: Parameters<Transport['send']>[1],
    send: Transport['send'],
    deliver: (message: JSONRPCMessage) => void,
  ): Promise<void> {
    const key = options?.headers?.[header];
    if (key === undefined) return send(this.#outgoingId(message), options);
    const handover = this.#waiting.get(key);
    if (!handover || !('id' in message)) {
      // Another leg of the same request: it goes to the server.
      const { [header]: _, ...headers } = options?.headers ?? {};
      return send(message, { ...options, headers });
    }
    const { id, answer } = handover;
    const sdkId = message.id as RequestId;
    if (answer.kind === 'message') {
      this.#waiting.delete(key);
      queueMicrotask(() => deliver(toMessage(answer.message, sdkId)));
      return Promise.resolve();
    }
    this.#sdkIds.set(id, sdkId);
    this.#ownIds.set(sdkId, id);
    return send(message, options);
  }

  /** What comes from the server, on its way to the SDK. */
  incoming(message: JSONRPCMessage): JSONRPCMessage {
    if (this.#sdkIds.size === 0 || 'method' in message) return message;
    const sdkId = this.#sdkIds.get(message.id as RequestId);
    return sdkId === undefined ? message : ({ ...message, id: sdkId } as JSONRPCMessage);
  }

  /** The `fetch` of the SDK's transport. */
  wrapFetch(fetch: Fetch): Fetch {
    return async (url, init) => {
      if (!(init?.headers instanceof Headers)) return fetch(url, init);
      const key = init.headers.get(header);
      if (key === null) return fetch(url, init);
      init.headers.delete(header);
      const handover = this.#waiting.get(key);
      this.#waiting.delete(key);
      if (handover?.answer.kind !== 'response') return fetch(url, init);
      return handover.answer.open(this.#sdkIds.get(handover.id) ?? handover.id, init.signal);
    };
  }

  /** The server knows a request by the id it was sent with. */
  #outgoingId(message: JSONRPCMessage): JSONRPCMessage {
    if (this.#ownIds.size === 0 || !('method' in message) || message.method !== 'notifications/cancelled')
      return message;
    const { params } = message;
    const ownId = isObject(params) ? this.#ownIds.get(params['requestId'] as RequestId) : undefined;
    return ownId === undefined ? message : ({ ...message, params: { ...params, requestId: ownId } } as JSONRPCMessage);
  }
}
