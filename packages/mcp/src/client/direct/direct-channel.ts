import type { RequestOptions } from '../../protocol/client-types.js';
import { metaKeys } from '../../protocol/constants.js';
import type { Params, RequestId } from '../../protocol/json-rpc.js';
import { isAnswerTo, type Answer } from './answer.js';

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

/** Gets requests to the server. */
export interface DirectSender {
  /** Whether this way may be taken now. */
  isOpen(): boolean;
  /** @returns what ends the exchange, if something does */
  send(request: OutgoingRequest, listener: AnswerListener): (() => void) | undefined;
}

/** Requests that go to the server past the SDK. */
export interface DirectChannel {
  isOpen(): boolean;
  /**
   * Sends one request. Its answer may be anything.
   *
   * @throws what the network says, and the errors of the SDK for a time-out, an abort, and a connection that closed
   */
  request(
    method: string,
    params: Params,
    options: RequestOptions,
    name?: string,
  ): Promise<{ id: RequestId; answer: Answer }>;
  /** Takes a message that came another way, if it answers one of the requests. */
  accept(message: object): boolean;
  /** The connection is gone: every request fails. */
  close(): void;
}

export interface DirectChannelOptions {
  readonly sender: DirectSender;
  /** What every request says of this side in the stateless revision. */
  readonly envelope: Params | undefined;
  /** Tells the server to stop. */
  readonly cancel: (id: RequestId, reason: string) => Promise<void>;
  readonly timedOut: (reason: string) => Error;
  readonly closed: () => Error;
}

/** Ids of requests start where the SDK, which counts from 0 on the same connection, does not come. */
const firstId = 1_000_000_000;

interface Waiting extends AnswerListener {
  end: (() => void) | undefined;
}

export function createDirectChannel(options: DirectChannelOptions): DirectChannel {
  const { sender, envelope, cancel, timedOut, closed } = options;
  const waiting = new Map<RequestId, Waiting>();
  let nextId = firstId;
  return {
    isOpen: () => sender.isOpen(),
    request: (method, params, { timeout, signal }, name) =>
      new Promise((resolve, reject) => {
        const id = (nextId += 1);
        let timer: NodeJS.Timeout | undefined;
        const settle = (): boolean => {
          if (!waiting.delete(id)) return false;
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          return true;
        };
        const giveUp = (reason: string): void => {
          if (!settle()) return;
          reject(timedOut(reason));
          // In the stateless revision over HTTP the end of the exchange says it; the other way round, the server hears it first.
          const { end } = request;
          if (envelope && end) end();
          else void cancel(id, reason).finally(end);
        };
        const onAbort = (): void => giveUp(String(signal?.reason));
        const request: Waiting = {
          end: undefined,
          onAnswer: (answer) => {
            if (settle()) resolve({ id, answer });
          },
          onError: (error) => {
            if (settle()) reject(error as Error);
          },
        };
        waiting.set(id, request);
        if (timeout !== undefined) timer = setTimeout(giveUp, timeout, 'Request timed out');
        signal?.addEventListener('abort', onAbort, { once: true });
        const described = envelope ? { ...params, _meta: { ...envelope, ...(params['_meta'] as Params) } } : params;
        const body = JSON.stringify({ method, params: described, jsonrpc: '2.0', id });
        request.end = sender.send({ id, method, name, body }, request);
      }),
    accept: (message) => {
      const { id } = message as { id?: RequestId };
      const request = id === undefined ? undefined : waiting.get(id);
      if (!request || !isAnswerTo(id as RequestId, message)) return false;
      request.onAnswer({ kind: 'message', message });
      return true;
    },
    close: () => {
      for (const { end, onError } of waiting.values()) {
        onError(closed());
        end?.();
      }
    },
  };
}

/** What a client says of itself with every request of the stateless revision. */
export function createEnvelope(protocolVersion: string, clientInfo: object, clientCapabilities: object): Params {
  return {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: clientCapabilities,
  };
}
