import { QuiverError } from '@quiver/core';
import type { ElicitOptions } from '@quiver/core/tools';
import type { JsonRpcResponse } from '../../protocol/json-rpc.js';
import { missingCapabilities, type ClientRequest } from '../client-requests/client-request.js';
import type { LegacySession } from '../legacy-session.js';
import { DEFAULT_CLIENT_REQUEST_TIMEOUT } from '../limits.js';

/** Carries a request to the client: the request that a tool answers, or the connection. */
export interface RequestLink {
  /** @returns whether the message was sent */
  send(message: object): boolean;
  /** Fires when the response is no longer needed. */
  readonly signal?: AbortSignal;
}

export interface SendClientRequest<Result> {
  readonly session: LegacySession;
  readonly link: RequestLink;
  readonly request: ClientRequest<Result>;
  readonly options: ElicitOptions;
}

/**
 * Sends a request to a legacy client and waits for its result.
 *
 * @throws `ELICITATION_NOT_SUPPORTED` (or `SAMPLING_…`, `ROOTS_…`, and so on below) when the client did not declare the capability, or
 *   there is no session to carry its response
 * @throws `ELICITATION_TIMEOUT`
 * @throws `ELICITATION_FAILED` when the client sends an error or an invalid result, or disconnects
 */
export async function sendClientRequest<Result>(options: SendClientRequest<Result>): Promise<Result> {
  const { session, request } = options;
  const { subject, what } = request;
  const missing = missingCapabilities(request.requires, session.clientCapabilities);
  if (missing) {
    throw new QuiverError(
      `${subject}_NOT_SUPPORTED`,
      `The tool requested ${what}, but the client did not declare the capability ${JSON.stringify(missing)}, or calls without a session.`,
    );
  }
  const response = await sendAndWait(options);
  if (response.error) {
    throw new QuiverError(
      `${subject}_FAILED`,
      `The tool requested ${what}; the client returned an error: ${response.error.message}`,
    );
  }
  const result = await request.parse(response.result);
  if (result === undefined)
    throw new QuiverError(`${subject}_FAILED`, `The tool requested ${what}; the client returned an invalid result.`);
  return result;
}

/** Passes a response to the request that waits for it. Other responses are ignored. */
export function acceptLegacyResponse(session: LegacySession, response: JsonRpcResponse): void {
  session.pending?.get(response.id)?.(response);
}

/** Rejects the requests that wait for a response of a client that disconnected. */
export function rejectPending(session: LegacySession): void {
  for (const finish of session.pending?.values() ?? []) finish(undefined);
}

function sendAndWait<Result>({ session, link, request, options }: SendClientRequest<Result>): Promise<JsonRpcResponse> {
  const { method, params, legacyParams, subject } = request;
  const { timeout = DEFAULT_CLIENT_REQUEST_TIMEOUT, signal } = options;
  session.sentRequests = (session.sentRequests ?? 0) + 1;
  const id = `server-${session.sentRequests}`;
  const pending = (session.pending ??= new Map());
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      pending.delete(id);
      signal?.removeEventListener('abort', onAbort);
      link.signal?.removeEventListener('abort', onCancel);
    };
    const cancel = (reason: Error): void => {
      finish();
      link.send({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id, reason: reason.message },
      });
      reject(reason);
    };
    const onAbort = (): void => cancel(signal?.reason as Error);
    const onCancel = (): void => cancel(link.signal?.reason as Error);
    const timer = setTimeout(() => {
      cancel(new QuiverError(`${subject}_TIMEOUT`, `The client did not respond within ${timeout} ms.`));
    }, timeout);
    signal?.addEventListener('abort', onAbort);
    link.signal?.addEventListener('abort', onCancel);
    pending.set(id, (response) => {
      finish();
      if (response) resolve(response);
      else reject(new QuiverError(`${subject}_FAILED`, 'The client disconnected before it responded.'));
    });
    if (signal?.aborted) return onAbort();
    if (!link.send({ jsonrpc: '2.0', id, method, params: { ...params, ...legacyParams } })) {
      cancel(
        new QuiverError(
          `${subject}_FAILED`,
          'The request cannot be sent to the client: the call has ended, or its connection is closed.',
        ),
      );
    }
  });
}
