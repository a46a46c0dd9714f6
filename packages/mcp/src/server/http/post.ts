import { classifyEra } from '../../protocol/classify-era.js';
import { DEFAULT_LEGACY_VERSION, errorCodes } from '../../protocol/constants.js';
import { parseMessage, type IncomingMessage, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import { requireParamHeaders } from '../param-headers.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { StandardHeaders } from '../../protocol/standard-headers.js';
import { principalOf, toAuthInfo } from '../auth-info.js';
import { acceptLegacyNotification, answerLegacyRequest, LegacyRequest, trackRequest } from '../eras/legacy.js';
import { answerModernRequest, ModernRequest } from '../eras/modern.js';
import { acceptLegacyResponse } from '../eras/send-client-request.js';
import { createLegacySession } from '../legacy-session.js';
import { serveBatch } from './batch.js';
import type { HttpRequest } from './message.js';
import type { HttpResponse } from './response.js';
import { callerOf, requireLegacyVersion, isStateless, requireSession, type HttpSession } from './sessions.js';

/**
 * Serves a posted body in its era.
 *
 * @throws ProtocolError with an HTTP status when the message is refused
 */
export function servePost(response: HttpResponse, body: unknown): void | Promise<void> {
  const incoming = parseMessage(body);
  if (!incoming) {
    if (Array.isArray(body)) return serveBatch(response, body);
    throw new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: the body is not a JSON-RPC message', {
      httpStatus: 400,
    });
  }
  const { kind, message } = incoming;
  if (kind === 'response' || classifyEra(message, standardHeadersOf(response.request)) === 'legacy')
    return serveLegacyMessage(response, incoming);
  if (kind === 'request') return serveModernRequest(response, message);
  response.endEmpty(202);
}

function serveModernRequest(response: HttpResponse, message: JsonRpcRequest): Promise<void> {
  const { server } = response.endpoint;
  if (message.method === 'tools/call') {
    const { name, arguments: args } = message.params ?? {};
    const declared = server.tools.get(name as string)?.paramHeaders;
    if (declared && declared.length > 0)
      requireParamHeaders(declared, args, (header) => response.request.header(header));
  }
  const request = new ModernRequest(server, message, response.caller, response);
  // Closing the response stream is how a modern client cancels.
  response.onClose(() => request.cancel());
  return response.run(request, () => answerModernRequest(request));
}

/** Serves a legacy message: within its session, or alone when the endpoint has no sessions. */
function serveLegacyMessage(response: HttpResponse, incoming: IncomingMessage): void | Promise<void> {
  const { kind, message } = incoming;
  const initializes = kind === 'request' && message.method === 'initialize';
  if (!initializes) requireLegacyVersion(response.request.header('mcp-protocol-version'));
  if (isStateless(response.options)) {
    if (kind === 'request') return answerAlone(response, message);
    return response.endEmpty(202);
  }
  if (initializes) return startSession(response, message);
  const session = requireSession(response);
  if (kind === 'request') return answerInSession(response, message, session);
  if (kind === 'notification') acceptLegacyNotification(session, message);
  else acceptLegacyResponse(session, message);
  response.endEmpty(202);
}

async function startSession(response: HttpResponse, message: JsonRpcRequest): Promise<void> {
  const { endpoint, request, options } = response;
  if (request.header('mcp-session-id') !== undefined) {
    requireSession(response);
    throw new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: Server already initialized', {
      httpStatus: 400,
    });
  }
  const principal = principalOf(toAuthInfo(request.auth));
  const caller = callerOf(principal, request);
  endpoint.sessions.requireRoom(caller);
  const id = options.sessionIdGenerator?.() ?? crypto.randomUUID();
  const session = endpoint.sessions.create(id, principal, DEFAULT_LEGACY_VERSION, caller);
  try {
    await options.onsessioninitialized?.(id);
    response.announcesSession = true;
    await answerInSession(response, message, session);
  } finally {
    // A session without a handshake would take the place of another one.
    if (!session.initialized) endpoint.sessions.end(session);
  }
}

async function answerInSession(response: HttpResponse, message: JsonRpcRequest, session: HttpSession): Promise<void> {
  const { endpoint } = response;
  response.session = session;
  const request = new LegacyRequest(endpoint.server, message, response.caller, response, session);
  trackRequest(session, request);
  try {
    await response.run(request, () => answerLegacyRequest(request));
  } finally {
    session.inFlight.delete(message.id);
    endpoint.sessions.touch(session);
  }
}

/** Without a session a client cannot cancel by message, so a client that disconnects cancels. */
function answerAlone(response: HttpResponse, message: JsonRpcRequest): Promise<void> {
  const session = createLegacySession(response.request.header('mcp-protocol-version') ?? DEFAULT_LEGACY_VERSION);
  const request = new LegacyRequest(response.endpoint.server, message, response.caller, response, session);
  response.onClose(() => request.cancel());
  return response.run(request, () => answerLegacyRequest(request));
}

function standardHeadersOf(request: HttpRequest): StandardHeaders {
  return {
    protocolVersion: request.header('mcp-protocol-version'),
    method: request.header('mcp-method'),
    name: request.header('mcp-name'),
  };
}
