import { DEFAULT_LEGACY_VERSION } from '../../protocol/constants.js';
import { requireLegacyBatch } from '../../protocol/era-verdict.js';
import { resultText, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import type { StandardHeaders } from '../../protocol/standard-headers.js';
import { toAuthInfo } from '../auth-info.js';
import { Exchange } from '../exchange.js';
import { answerBatch } from '../legacy/answer-batch.js';
import { answerLegacyRequest } from '../legacy/legacy-dispatch.js';
import { beginFlight, createLegacyPeer } from '../legacy/legacy-peer.js';
import { HttpAnswer } from './http-answer.js';
import type { HttpCall } from './http-call.js';
import { requireLegacyVersion } from './http-legacy.js';
import { isStateless } from './http-options.js';
import { requireSession } from './require-session.js';

/**
 * Serves a posted array: the batches of 2025-03-26, of a session that agreed on it or of a client without sessions that names it.
 * All requests share one response.
 *
 * @throws ProtocolError with an HTTP status for everything else
 */
export async function serveBatch(
  call: HttpCall,
  messages: readonly unknown[],
  headers: StandardHeaders,
): Promise<void> {
  const { state, request, reply, options } = call;
  const { server, sessions, heartbeat } = state;
  await requireLegacyBatch(messages, headers);
  requireLegacyVersion(headers.protocolVersion);
  const session = isStateless(options) ? undefined : requireSession(call);
  const peer = session ?? createLegacyPeer(headers.protocolVersion ?? DEFAULT_LEGACY_VERSION);
  const answer = new HttpAnswer(call, session);
  const caller = { authInfo: toAuthInfo(request.auth), sessionId: session?.id, request };
  const requests: Exchange[] = [];
  const answerOne = async (message: JsonRpcRequest): Promise<string | undefined> => {
    const exchange = new Exchange(message.id, caller, answer);
    beginFlight(peer, exchange);
    requests.push(exchange);
    try {
      const result = await answerLegacyRequest(server, peer, message, exchange);
      return exchange.cancelled ? undefined : resultText(message.id, result);
    } catch (error) {
      if (exchange.cancelled) return undefined;
      throw error;
    } finally {
      exchange.settle();
      peer.inFlight.delete(message.id);
    }
  };
  const cancel = (): void => requests.forEach((exchange) => exchange.cancel());
  answer.running = { cancel, release: () => {} };
  // Without a session nobody can cancel by message, so a client that goes away cancels.
  if (!session) reply.onClose(cancel);
  heartbeat.add(answer);
  try {
    const text = await answerBatch({
      messages,
      peer,
      version: peer.protocolVersion,
      answer: answerOne,
      logger: server.logger,
    });
    if (text === undefined) answer.abandon();
    else answer.end(text);
  } finally {
    heartbeat.remove(answer);
    if (session) sessions.touch(session);
  }
}
