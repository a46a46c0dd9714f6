import { QuiverError } from '@quiver/core';
import type { ElicitOptions } from '@quiver/core/tools';
import type { JsonRpcResponse } from '../../protocol/json-rpc.js';
import { missingCapabilities } from '../client-capabilities.js';
import type { ClientQuestion } from '../client-question.js';
import type { LegacyPeer } from './legacy-peer.js';

/** People think: a question waits ten minutes for its answer. */
const defaultTimeout = 10 * 60_000;

/** What carries a question to the client: the request that a tool answers, or the connection itself. */
export interface QuestionLink {
  /** @returns whether the message was sent */
  send(message: object): boolean;
  /** Fires when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

export interface LegacyQuestion<Answer> {
  readonly peer: LegacyPeer;
  readonly link: QuestionLink;
  readonly question: ClientQuestion<Answer>;
  readonly options: ElicitOptions;
}

/**
 * Sends the client a request of the server's own, and waits.
 *
 * @throws `ELICITATION_NOT_SUPPORTED` (or `SAMPLING_…`, `ROOTS_…`, and so on below) when the client did not declare what the
 *   question needs, or there is no session to carry its answer back
 * @throws `ELICITATION_TIMEOUT`
 * @throws `ELICITATION_FAILED` when the client answers with an error, or with something that does not answer the question, or is gone
 */
export async function askLegacyClient<Answer>(asked: LegacyQuestion<Answer>): Promise<Answer> {
  const { peer, question } = asked;
  const { subject, what } = question;
  const missing = missingCapabilities(question.requires, peer.clientCapabilities);
  if (missing) {
    throw new QuiverError(
      `${subject}_NOT_SUPPORTED`,
      `The tool asked for ${what}, but the client did not declare the capability ${JSON.stringify(missing)}, or calls without a session.`,
    );
  }
  const response = await sendQuestion(asked);
  if (response.error) {
    throw new QuiverError(
      `${subject}_FAILED`,
      `The tool asked for ${what}; the client answered with an error: ${response.error.message}`,
    );
  }
  const answer = await question.parse(response.result);
  if (answer === undefined)
    throw new QuiverError(`${subject}_FAILED`, `The tool asked for ${what}; the client's answer does not fit.`);
  return answer;
}

/** Hands an answer to the question that waits for it; answers to no question are ignored. */
export function acceptLegacyResponse(peer: LegacyPeer, response: JsonRpcResponse): void {
  peer.questions?.get(response.id)?.(response);
}

/** Ends the questions that wait for an answer of a client that has gone. */
export function abandonLegacyQuestions(peer: LegacyPeer): void {
  for (const finish of peer.questions?.values() ?? []) finish(undefined);
}

let questions = 0;

function sendQuestion<Answer>({ peer, link, question, options }: LegacyQuestion<Answer>): Promise<JsonRpcResponse> {
  const { method, params, legacyParams, subject } = question;
  const { timeout = defaultTimeout, signal } = options;
  const id = `question-${(questions += 1)}`;
  const waiting = (peer.questions ??= new Map());
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      waiting.delete(id);
      signal?.removeEventListener('abort', onAbort);
      link.signal?.removeEventListener('abort', onCancel);
    };
    const giveUp = (reason: Error): void => {
      finish();
      link.send({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id, reason: reason.message },
      });
      reject(reason);
    };
    const onAbort = (): void => giveUp(signal?.reason as Error);
    const onCancel = (): void => giveUp(link.signal?.reason as Error);
    const timer = setTimeout(() => {
      giveUp(new QuiverError(`${subject}_TIMEOUT`, `The client did not answer within ${timeout} ms.`));
    }, timeout);
    signal?.addEventListener('abort', onAbort);
    link.signal?.addEventListener('abort', onCancel);
    waiting.set(id, (response) => {
      finish();
      if (response) resolve(response);
      else reject(new QuiverError(`${subject}_FAILED`, 'The client went away before it answered.'));
    });
    if (signal?.aborted) return onAbort();
    if (!link.send({ jsonrpc: '2.0', id, method, params: { ...params, ...legacyParams } })) {
      giveUp(
        new QuiverError(
          `${subject}_FAILED`,
          'There is no way to reach the client: the call was answered already, or its connection is gone.',
        ),
      );
    }
  });
}
