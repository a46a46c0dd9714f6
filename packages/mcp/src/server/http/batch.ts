import { requireLegacyBatch } from '../../protocol/classify-era.js';
import { DEFAULT_LEGACY_VERSION } from '../../protocol/constants.js';
import { resultText, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import { answerBatch } from '../eras/batch.js';
import { answerLegacyRequest, LegacyRequest, trackRequest } from '../eras/legacy.js';
import { createLegacySession } from '../legacy-session.js';
import { requireToolAccessOfAll } from '../require-tool-access.js';
import type { HttpResponse } from './response.js';
import { requireLegacyVersion, isStateless, requireSession } from './sessions.js';

/**
 * Serves a posted array: a batch of 2025-03-26, of a session that negotiated this version or of a client without sessions that
 * names it. All requests share one response.
 *
 * @throws ProtocolError with an HTTP status for everything else
 */
export async function serveBatch(response: HttpResponse, messages: readonly unknown[]): Promise<void> {
  const { server, sessions, heartbeat } = response.endpoint;
  const named = response.request.header('mcp-protocol-version');
  requireLegacyBatch(messages);
  requireLegacyVersion(named);
  requireToolAccessOfAll(messages, response.request.toolAccess);
  const own = isStateless(response.options) ? undefined : requireSession(response);
  const session = own ?? createLegacySession(named ?? DEFAULT_LEGACY_VERSION);
  response.session = own;
  const requests: LegacyRequest[] = [];
  const answer = async (message: JsonRpcRequest): Promise<string | undefined> => {
    const request = new LegacyRequest(server, message, response.caller, response, session);
    trackRequest(session, request);
    requests.push(request);
    try {
      const result = await answerLegacyRequest(request);
      return request.isCanceled ? undefined : resultText(message.id, result);
    } catch (error) {
      if (request.isCanceled) return undefined;
      throw error;
    } finally {
      request.settle();
      session.inFlight.delete(message.id);
    }
  };
  const cancel = (): void => requests.forEach((request) => request.cancel());
  response.running = { cancel, release: () => {} };
  // Without a session a client cannot cancel by message, so a client that disconnects cancels.
  if (!own) response.onClose(cancel);
  heartbeat.add(response);
  try {
    const version = session.protocolVersion;
    const text = await answerBatch({ messages, session, version, answer, logger: server.logger });
    if (text === undefined) response.endEmpty(202);
    else response.end(text);
  } finally {
    heartbeat.remove(response);
    if (own) sessions.touch(own);
  }
}
