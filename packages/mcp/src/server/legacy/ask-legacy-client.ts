import { QuiverError } from '@quiver/core';
import type { ElicitOptions, ElicitRequest, ElicitResult } from '@quiver/core/tools';
import type { JsonRpcResponse } from '../../protocol/json-rpc.js';
import { canShowForms, parseElicitResult, toElicitParams } from '../elicitation.js';
import type { Exchange } from '../exchange.js';
import type { LegacyPeer } from './legacy-peer.js';

/** People think: a question waits ten minutes for its answer. */
const defaultTimeout = 10 * 60_000;

/**
 * Asks the client on the stream of the request that the tool answers, and waits.
 *
 * @throws `ELICITATION_NOT_SUPPORTED` when the client shows no forms, or there is no session to carry its answer back
 * @throws `ELICITATION_TIMEOUT`, `ELICITATION_FAILED` when the client answers with an error or off the requested schema
 */
export async function askLegacyClient(
  peer: LegacyPeer,
  exchange: Exchange,
  question: ElicitRequest,
  options: ElicitOptions,
): Promise<ElicitResult> {
  if (!canShowForms(peer.clientCapabilities)) {
    throw new QuiverError(
      'ELICITATION_NOT_SUPPORTED',
      'The tool asked for user input, but the client did not declare the elicitation capability, or calls without a session.',
    );
  }
  const response = await sendQuestion(peer, exchange, question, options);
  if (response.error)
    throw new QuiverError('ELICITATION_FAILED', `The client could not ask its user: ${response.error.message}`);
  const result = await parseElicitResult(response.result, question);
  if (!result) throw new QuiverError('ELICITATION_FAILED', "The client's answer does not fit the requested schema.");
  return result;
}

/** Hands an answer to the question that waits for it; answers to no question are ignored. */
export function acceptLegacyResponse(peer: LegacyPeer, response: JsonRpcResponse): void {
  peer.questions?.get(response.id)?.(response);
}

let questions = 0;

function sendQuestion(
  peer: LegacyPeer,
  exchange: Exchange,
  question: ElicitRequest,
  { timeout = defaultTimeout, signal }: ElicitOptions,
): Promise<JsonRpcResponse> {
  const id = `question-${(questions += 1)}`;
  const waiting = (peer.questions ??= new Map());
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      waiting.delete(id);
      signal?.removeEventListener('abort', onAbort);
      exchange.signal.removeEventListener('abort', onCancel);
    };
    const giveUp = (reason: Error): void => {
      finish();
      exchange.notify('notifications/cancelled', { requestId: id, reason: reason.message });
      reject(reason);
    };
    const onAbort = (): void => giveUp(signal?.reason as Error);
    const onCancel = (): void => giveUp(exchange.signal.reason as Error);
    const timer = setTimeout(() => {
      giveUp(new QuiverError('ELICITATION_TIMEOUT', `The user did not answer within ${timeout} ms.`));
    }, timeout);
    signal?.addEventListener('abort', onAbort);
    exchange.signal.addEventListener('abort', onCancel);
    waiting.set(id, (response) => {
      finish();
      resolve(response);
    });
    if (signal?.aborted) return onAbort();
    if (!exchange.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: toElicitParams(question) })) {
      giveUp(
        new QuiverError('ELICITATION_FAILED', 'The call was answered already; a tool can ask only while it runs.'),
      );
    }
  });
}
