import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { DEFAULT_LEGACY_VERSION, errorCodes, LEGACY_VERSIONS } from '../../protocol/constants.js';
import type { IncomingMessage, JsonRpcRequest } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { principalOf, toAuthInfo } from '../auth-info.js';
import { Exchange } from '../exchange.js';
import { acceptLegacyResponse } from '../legacy/ask-legacy-client.js';
import { acceptLegacyNotification, answerLegacyRequest } from '../legacy/legacy-dispatch.js';
import { createLegacyPeer, type LegacyPeer } from '../legacy/legacy-peer.js';
import { requireEventStream } from '../request-guard.js';
import type { Session } from '../sessions.js';
import { eventStreamHeaders, HttpAnswer } from './http-answer.js';
import { isStateless, type HttpEndpointState } from './http-endpoint.js';
import type { AuthenticatedRequest } from './http-options.js';
import type { HttpPost } from './http-post.js';
import { runExchange } from './run-exchange.js';

/**
 * Serves a posted message of a revision with a handshake: within its session, or alone when the endpoint has no sessions.
 *
 * @throws ProtocolError with an HTTP status when there is no such session, or no room for one
 */
export async function serveLegacyMessage(post: HttpPost, incoming: IncomingMessage): Promise<void> {
  const { req, res, options } = post;
  const version = header(req, 'mcp-protocol-version');
  const initializes = incoming.kind === 'request' && incoming.message.method === 'initialize';
  if (!initializes && version !== undefined) requireLegacyVersion(version);
  if (isStateless(options)) {
    if (incoming.kind === 'request') await answerAlone(post, incoming.message);
    else res.writeHead(202).end();
    return;
  }
  if (initializes) return startSession(post, incoming.message);
  const session = requireSession(post.state, req, 'non-initialize');
  if (incoming.kind === 'request') return answerInSession(post, incoming.message, session);
  if (incoming.kind === 'notification') acceptLegacyNotification(session, incoming.message);
  else acceptLegacyResponse(session, incoming.message);
  res.writeHead(202).end();
}

async function startSession(post: HttpPost, request: JsonRpcRequest): Promise<void> {
  const { state, req, options } = post;
  if (header(req, 'mcp-session-id') !== undefined) {
    requireSession(state, req, 'non-initialize');
    throw new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: Server already initialized', {
      httpStatus: 400,
    });
  }
  if (state.sessions.full) {
    throw new ProtocolError(errorCodes.refused, 'Too many sessions are open; try again later', { httpStatus: 503 });
  }
  const id = (options.sessionIdGenerator ?? randomUUID)();
  const session = state.sessions.create(id, principalOf(toAuthInfo(req.auth)), DEFAULT_LEGACY_VERSION);
  await options.onsessioninitialized?.(id);
  await answerInSession(post, request, session, id);
}

/** @param announcedId - the session id to send along; only the answer to `initialize` does */
async function answerInSession(
  post: HttpPost,
  request: JsonRpcRequest,
  session: Session,
  announcedId?: string,
): Promise<void> {
  const { state, req, res } = post;
  if (session.inFlight.has(request.id)) {
    throw new ProtocolError(
      errorCodes.invalidRequest,
      `Request id ${JSON.stringify(request.id)} is already being answered in this session`,
      {
        httpStatus: 400,
      },
    );
  }
  const answer = new HttpAnswer(res, announcedId);
  const exchange = new Exchange(request.id, { authInfo: toAuthInfo(req.auth), sessionId: session.id }, answer);
  session.inFlight.set(request.id, exchange);
  try {
    await runExchange({
      state,
      exchange,
      answer,
      run: () => answerLegacyRequest(state.server, session, request, exchange),
    });
  } finally {
    session.inFlight.delete(request.id);
    state.sessions.touch(session);
  }
}

/** Without a session nobody can cancel by message, so a client that goes away cancels. */
async function answerAlone({ state, req, res }: HttpPost, request: JsonRpcRequest): Promise<void> {
  const peer: LegacyPeer = createLegacyPeer(header(req, 'mcp-protocol-version') ?? DEFAULT_LEGACY_VERSION);
  const answer = new HttpAnswer(res);
  const exchange = new Exchange(request.id, { authInfo: toAuthInfo(req.auth) }, answer);
  res.on('close', () => exchange.cancel());
  await runExchange({ state, exchange, answer, run: () => answerLegacyRequest(state.server, peer, request, exchange) });
}

/** GET: the stream for messages that belong to no request. One per session; a second one never takes over the first. */
export function openStream(state: HttpEndpointState, req: AuthenticatedRequest, res: ServerResponse): void {
  requireEventStream(req);
  const session = requireSession(state, req, 'GET');
  if (session.stream) {
    throw new ProtocolError(errorCodes.refused, 'Conflict: Only one SSE stream is allowed per session', {
      httpStatus: 409,
    });
  }
  session.stream = res;
  res.on('close', () => {
    session.stream = undefined;
    state.sessions.touch(session);
  });
  res.writeHead(200, eventStreamHeaders);
  res.flushHeaders();
}

/** DELETE: ends the session. */
export function endSession(state: HttpEndpointState, req: AuthenticatedRequest, res: ServerResponse): void {
  state.sessions.end(requireSession(state, req, 'DELETE'));
  res.writeHead(200).end();
}

function requireSession(
  state: HttpEndpointState,
  req: AuthenticatedRequest,
  what: 'GET' | 'DELETE' | 'non-initialize',
): Session {
  const id = header(req, 'mcp-session-id');
  if (id === undefined) {
    const message =
      what === 'non-initialize'
        ? 'Bad Request: No valid session ID provided for non-initialize request'
        : `Bad Request: ${what} request requires a valid session ID`;
    throw new ProtocolError(errorCodes.refused, message, { httpStatus: 400 });
  }
  const session = state.sessions.find(id, principalOf(toAuthInfo(req.auth)));
  if (!session) throw new ProtocolError(errorCodes.sessionNotFound, 'Session not found', { httpStatus: 404 });
  return session;
}

function requireLegacyVersion(version: string): void {
  if (LEGACY_VERSIONS.some((known) => known === version)) return;
  throw new ProtocolError(
    errorCodes.refused,
    `Bad Request: Unsupported protocol version: ${version.slice(0, 50)} (supported versions: ${LEGACY_VERSIONS.join(', ')})`,
    { httpStatus: 400 },
  );
}

function header({ headers }: AuthenticatedRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
