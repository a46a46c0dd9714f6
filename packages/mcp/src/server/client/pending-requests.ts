import type { ElicitOptions } from '@quiver/core/tools';
import { toTimerDelay } from '../../monotonic-now.js';
import { isObject, type JsonRpcResponse, type RequestId } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { instanceIdPattern } from '../../shared-store/instance.js';
import { DEFAULT_CLIENT_REQUEST_TIMEOUT } from '../limits.js';
import { clientFailure, invalidResult, requestFailed, requestTimedOut } from './client-request-errors.js';
import type { ClientRequest } from './client-requests.js';

/** Carries a request to the client: the request that a tool answers, or the connection. */
export interface RequestLink {
  /** @returns whether the message was sent */
  send(message: object): boolean;
  /** Fires when the response is no longer needed. */
  readonly signal?: AbortSignal;
}

export class PendingRequests {
  /** By id; `undefined` as the response means that the client disconnected. */
  readonly #pending = new Map<RequestId, (response: JsonRpcResponse | undefined) => void>();

  /** @returns whether the response was for one of the requests */
  settle(response: JsonRpcResponse): boolean {
    const settle = this.#pending.get(response.id);
    settle?.(response);
    return settle !== undefined;
  }

  /** Rejects all requests: the client disconnected. */
  end(): void {
    for (const settle of this.#pending.values()) settle(undefined);
  }

  /**
   * Sends a request and waits for its result.
   *
   * @throws `ELICITATION_TIMEOUT` (or `SAMPLING_…`, `ROOTS_…`, and so on below)
   * @throws `ELICITATION_FAILED` when the client sends an error, or disconnects
   * @throws `ELICITATION_ANSWER_INVALID` (but `SAMPLING_FAILED`, `ROOTS_FAILED`) for an invalid result
   */
  async send<Result>(
    id: string,
    request: ClientRequest<Result>,
    { timeout = DEFAULT_CLIENT_REQUEST_TIMEOUT, signal }: ElicitOptions,
    link: RequestLink,
  ): Promise<Result> {
    const { method, params, legacyParams, parse } = request;
    const canceled = AbortSignal.any([signal, link.signal].filter((each) => each !== undefined));
    let timer: NodeJS.Timeout | undefined;
    let response: JsonRpcResponse | undefined;
    try {
      response = await new Promise((resolve, reject) => {
        timer = setTimeout(() => reject(requestTimedOut(request, timeout)), toTimerDelay(timeout));
        canceled.addEventListener('abort', () => reject(canceled.reason as Error));
        canceled.throwIfAborted();
        this.#pending.set(id, resolve);
        if (!link.send({ jsonrpc: '2.0', id, method, params: { ...params, ...legacyParams } }))
          throw requestFailed(
            request,
            'The request cannot be sent to the client: the call has ended, or its connection is closed.',
          );
      });
    } catch (error) {
      const reason = (error as Error).message;
      const wasSent = this.#pending.has(id);
      if (wasSent) link.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } });
      throw error;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
    if (!response) throw requestFailed(request, 'The client disconnected before it responded.');
    if (response.error) {
      const { code, message, data } = response.error;
      const cause = new ProtocolError(code, message, { data });
      throw clientFailure(request, { code: isObject(data) ? data['code'] : undefined, message }, cause);
    }
    const result = await parse(response.result);
    if (result === undefined) throw invalidResult(request);
    return result;
  }
}

/** Returns the id of a request to the client: `server-<n>`, or `server-<instance>-<n>` in a session that instances share. */
export function requestIdOf(number: number, instance: string | undefined): string {
  return instance === undefined ? `server-${number}` : `server-${instance}-${number}`;
}

const sharedIdPattern = new RegExp(`^server-(${instanceIdPattern.source})-\\d+$`);

/** Returns the instance that sent a request to the client; `undefined` for an id that no instance uses. */
export function senderOf(requestId: unknown): string | undefined {
  return sharedIdPattern.exec(String(requestId))?.[1];
}
