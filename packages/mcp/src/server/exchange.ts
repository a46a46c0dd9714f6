import type { McpAuthInfo } from '@quiver/core/tools';
import type { RequestId } from '../protocol/json-rpc.js';

/** Carries messages to the client beside the answer: over HTTP the answer's own stream, over stdio the connection. */
export interface Channel {
  /** @returns whether there was a way to send it */
  send(messageText: string): boolean;
  /** Sends the client away to come back for the answer, where it can. */
  closeStream?(): void;
}

/** Who sent a request. */
export interface Caller {
  readonly authInfo?: McpAuthInfo | undefined;
  readonly sessionId?: string | undefined;
  /** HTTP request that carries the message; absent over stdio. */
  readonly request?: { readonly headers: Readonly<Record<string, string>> } | undefined;
}

/**
 * One request on its way through the server: whom it came from, whether it still matters, and a way to tell the client
 * something before the answer. Both eras and every transport hand the same object to the tool.
 */
export class Exchange {
  readonly requestId: RequestId;
  readonly caller: Caller;
  readonly #channel: Channel;
  #controller: AbortController | undefined;
  #notified = false;
  #state: 'open' | 'cancelled' | 'settled' = 'open';
  #release: (() => void) | undefined;

  constructor(requestId: RequestId, caller: Caller, channel: Channel) {
    this.requestId = requestId;
    this.caller = caller;
    this.#channel = channel;
  }

  /** Fires when the client cancels the request or goes away. Created on first use. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#state === 'cancelled') this.#controller.abort(cancellation());
    }
    return this.#controller.signal;
  }

  /** A cancelled request gets no answer. */
  get cancelled(): boolean {
    return this.#state === 'cancelled';
  }

  cancel(): void {
    if (this.#state !== 'open') return;
    this.#state = 'cancelled';
    this.#controller?.abort(cancellation());
    this.#release?.();
  }

  /** Keeps a request open that has no end of its own. Settles when the client cancels it or the transport closes in order. */
  hold(): Promise<void> {
    if (this.#state !== 'open') return Promise.resolve();
    return new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  /** Lets a held request end with its answer: a transport calls it before it waits for the requests that still run. */
  release(): void {
    this.#release?.();
  }

  /** The answer is a question to the user: the run that asked it goes no further. */
  abandon(): void {
    if (this.#state !== 'open') return;
    this.#state = 'settled';
    this.#controller?.abort(
      new DOMException('The call was answered with a question; it runs again with the answer.', 'AbortError'),
    );
  }

  /** The answer is made: nothing may follow it. */
  settle(): void {
    if (this.#state === 'open') this.#state = 'settled';
  }

  /** Whether something was sent before the answer. */
  get notified(): boolean {
    return this.#notified;
  }

  /** Sends a notification that belongs to this request. After the answer, or a cancellation, it is dropped. */
  notify(method: string, params: object): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  /** @returns whether the message was sent: after the answer, or a cancellation, nothing is */
  send(message: object): boolean {
    if (this.#state !== 'open') return false;
    this.#notified = true;
    return this.#channel.send(JSON.stringify(message));
  }

  /** Lets the client wait for the answer without a connection, where the transport can store it. */
  closeStream(): void {
    if (this.#state === 'open') this.#channel.closeStream?.();
  }
}

function cancellation(): DOMException {
  return new DOMException('The request was cancelled by the MCP client.', 'AbortError');
}
