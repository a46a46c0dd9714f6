import type { ClientCapabilities, RequestOptions } from '../../../protocol/client-types.js';
import { metaKeys } from '../../../protocol/constants.js';
import type { Params, RequestId } from '../../../protocol/json-rpc.js';
import { clientInfo } from '../../client-info.js';
import type { ServerFacts } from '../server-facts.js';
import { isAnswerTo, type Answer } from './answer.js';
import { linkError } from './link-error.js';

/** A request on its way. */
export interface OutgoingRequest {
  readonly id: number;
  readonly method: string;
  /** What the request names, for the header that repeats it. */
  readonly name: string | undefined;
  readonly body: string;
}

/** Hears of one request. Only what comes first counts. */
export interface AnswerListener {
  readonly onAnswer: (answer: Answer) => void;
  readonly onError: (error: unknown) => void;
}

/** What came back for a request. */
export interface DirectAnswer {
  readonly id: RequestId;
  readonly answer: Answer;
  /** Gives up what is still to come, and tells the server why. */
  readonly cancel: (reason: string) => void;
}

/** Gets requests to the server. */
export interface DirectSender {
  /** Whether this way may be taken now. */
  readonly isOpen: boolean;
  /** @returns what ends the exchange, if something does */
  send(request: OutgoingRequest, listener: AnswerListener): (() => void) | undefined;
  /** Sends a message that is not answered. */
  notify(body: string): Promise<unknown>;
}

/** Ids of requests start where the SDK, which counts from 0 on the same connection, does not come. */
export const firstDirectId = 1_000_000_000;

interface Waiting extends AnswerListener {
  end: (() => void) | undefined;
}

/** Requests that go to the server past the SDK. */
export class DirectChannel {
  readonly #sender: DirectSender;
  readonly #envelope: Params | undefined;
  readonly #backlog: (() => Promise<unknown> | undefined) | undefined;
  readonly #waiting = new Map<RequestId, Waiting>();
  #nextId = firstDirectId;

  /**
   * @param envelope - what every message says of this side in the stateless revision
   * @param backlog - ends when the messages were delivered that wait for it, if any do
   */
  constructor(sender: DirectSender, envelope: Params | undefined, backlog?: () => Promise<unknown> | undefined) {
    this.#sender = sender;
    this.#envelope = envelope;
    this.#backlog = backlog;
  }

  get isOpen(): boolean {
    return this.#sender.isOpen;
  }

  /**
   * Sends one request. Its answer may be anything.
   *
   * @throws what the network says, and errors with the SDK's codes for a time-out, an abort, and a connection that closed
   */
  request(method: string, params: Params, { timeout, signal }: RequestOptions, name?: string): Promise<DirectAnswer> {
    return new Promise((resolve, reject) => {
      const id = (this.#nextId += 1);
      let timer: NodeJS.Timeout | undefined;
      const settle = (): boolean => {
        if (!this.#waiting.delete(id)) return false;
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        return true;
      };
      const giveUp = (reason: string): void => {
        if (!settle()) return;
        reject(linkError('REQUEST_TIMEOUT', reason));
        cancel(reason);
      };
      const cancel = (reason: string): void => {
        // In the stateless revision over HTTP the end of the exchange says it; the other way round, the server hears it first.
        const { end } = request;
        if (this.#envelope && end) end();
        else void this.#cancel(id, reason).finally(end);
      };
      const onAbort = (): void => giveUp(String(signal?.reason));
      const request: Waiting = {
        end: undefined,
        onAnswer: (answer) => {
          if (!settle()) return;
          // What came before the answer is heard before it: nobody listens for progress afterwards.
          const earlier = this.#backlog?.();
          const answered = { id, answer, cancel };
          resolve(earlier ? earlier.then(() => answered) : answered);
        },
        onError: (error) => {
          if (settle()) reject(error as Error);
        },
      };
      this.#waiting.set(id, request);
      if (timeout !== undefined) timer = setTimeout(giveUp, timeout, 'Request timed out');
      signal?.addEventListener('abort', onAbort, { once: true });
      const body = JSON.stringify({ method, params: this.#described(params), jsonrpc: '2.0', id });
      request.end = this.#sender.send({ id, method, name, body }, request);
    });
  }

  /** Takes a message that came another way, if it answers one of the requests. */
  accept(message: object): boolean {
    const { id } = message as { id?: RequestId };
    const request = id === undefined ? undefined : this.#waiting.get(id);
    if (!request || !isAnswerTo(id as RequestId, message)) return false;
    request.onAnswer({ kind: 'message', message });
    return true;
  }

  /** The connection is gone: every request fails. */
  close(): void {
    for (const { end, onError } of this.#waiting.values()) {
      onError(linkError('CONNECTION_CLOSED', 'Connection closed'));
      end?.();
    }
  }

  /** Tells the server to stop. */
  async #cancel(requestId: RequestId, reason: string): Promise<void> {
    const params = this.#described({ requestId, reason });
    try {
      await this.#sender.notify(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    } catch {
      // The connection is gone, and the request with it.
    }
  }

  #described(params: Params): Params {
    const envelope = this.#envelope;
    return envelope ? { ...params, _meta: { ...envelope, ...(params['_meta'] as Params) } } : params;
  }
}

/** What this side says of itself with every message of the stateless revision; older ones say it once. */
export function createEnvelope(
  { era, protocolVersion }: Pick<ServerFacts, 'era' | 'protocolVersion'>,
  capabilities: ClientCapabilities,
): Params | undefined {
  if (era !== 'modern') return undefined;
  return {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: capabilities,
  };
}
