import { DEFAULT_LEGACY_VERSION, errorCodes, LEGACY_VERSIONS } from '../../protocol/constants.js';
import type { IncomingMessage, JsonRpcRequest } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { principalOf, toAuthInfo } from '../auth-info.js';
import { Exchange } from '../exchange.js';
import { acceptLegacyResponse } from '../legacy/ask-legacy-client.js';
import { acceptLegacyNotification, answerLegacyRequest } from '../legacy/legacy-dispatch.js';
import { beginFlight, createLegacyPeer } from '../legacy/legacy-peer.js';
import { callerOf, type Session } from '../sessions.js';
import { HttpAnswer } from './http-answer.js';
import type { HttpCall } from './http-call.js';
import { isStateless } from './http-options.js';
import { requireSession } from './require-session.js';
import { runExchange } from './run-exchange.js';

/**
 * Serves a posted message of a revision with a handshake: within its session, or alone when the endpoint has no sessions.
 *
 * @throws ProtocolError with an HTTP status when there is no such session, or no room for one
 */
export function serveLegacyMessage(call: HttpCall, incoming: IncomingMessage): void | Promise<void> {
  const { kind, message } = incoming;
  const initializes = kind === 'request' && message.method === 'initialize';
  if (!initializes) requireLegacyVersion(call.request.header('mcp-protocol-version'));
  if (isStateless(call.options)) {
    if (kind === 'request') return answerAlone(call, message);
    return call.reply.send(202, {});
  }
  if (initializes) return startSession(call, message);
  const session = requireSession(call);
  if (kind === 'request') return answerInSession(call, message, session);
  if (kind === 'notification') acceptLegacyNotification(session, message);
  else acceptLegacyResponse(session, message);
  call.reply.send(202, {});
}

async function startSession(call: HttpCall, message: JsonRpcRequest): Promise<void> {
  const { state, request, options } = call;
  if (request.header('mcp-session-id') !== undefined) {
    requireSession(call);
    throw new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: Server already initialized', {
      httpStatus: 400,
    });
  }
  const principal = principalOf(toAuthInfo(request.auth));
  const caller = callerOf(principal, request);
  state.sessions.requireRoom(caller);
  const id = options.sessionIdGenerator?.() ?? crypto.randomUUID();
  const session = state.sessions.create(id, principal, DEFAULT_LEGACY_VERSION, caller);
  try {
    await options.onsessioninitialized?.(id);
    await answerInSession(call, message, session, true);
  } finally {
    // Nobody would use it, and it would take the place of another one.
    if (!session.initialized) state.sessions.end(session);
  }
}

async function answerInSession(
  call: HttpCall,
  message: JsonRpcRequest,
  session: Session,
  isNew = false,
): Promise<void> {
  const { state, request } = call;
  const answer = new HttpAnswer(call, session, isNew);
  const exchange = new Exchange(
    message.id,
    { authInfo: toAuthInfo(request.auth), sessionId: session.id, request },
    answer,
  );
  beginFlight(session, exchange);
  try {
    await runExchange(answer, exchange, () => answerLegacyRequest(state.server, session, message, exchange));
  } finally {
    session.inFlight.delete(message.id);
    state.sessions.touch(session);
  }
}

/** Without a session nobody can cancel by message, so a client that goes away cancels. */
function answerAlone(call: HttpCall, message: JsonRpcRequest): Promise<void> {
  const { state, request, reply } = call;
  const peer = createLegacyPeer(request.header('mcp-protocol-version') ?? DEFAULT_LEGACY_VERSION);
  const answer = new HttpAnswer(call);
  const exchange = new Exchange(message.id, { authInfo: toAuthInfo(request.auth), request }, answer);
  reply.onClose(() => exchange.cancel());
  return runExchange(answer, exchange, () => answerLegacyRequest(state.server, peer, message, exchange));
}

/** DELETE: ends the session. */
export function endSession(call: HttpCall): void {
  call.state.sessions.end(requireSession(call, 'DELETE'));
  call.reply.send(200, {});
}

/** @throws ProtocolError with HTTP status 400 for a revision that is not spoken here; none is the default one */
export function requireLegacyVersion(version: string | undefined): void {
  if (version === undefined || LEGACY_VERSIONS.some((known) => known === version)) return;
  throw new ProtocolError(
    errorCodes.refused,
    `Bad Request: Unsupported protocol version: ${version.slice(0, 50)} (supported versions: ${LEGACY_VERSIONS.join(', ')})`,
    { httpStatus: 400 },
  );
}
