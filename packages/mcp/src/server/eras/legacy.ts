import type { ElicitOptions } from '@quiver/core/tools';
import type { EncodedResult } from '../../content.js';
import {
  errorCodes,
  isLoggingLevel,
  LEGACY_VERSIONS,
  loggingLevels,
  type LoggingLevel,
} from '../../protocol/constants.js';
import {
  isObject,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type Params,
  type ResultJson,
} from '../../protocol/json-rpc.js';
import { invalidParams, methodNotFound, ProtocolError } from '../../protocol/protocol-error.js';
import type { ClientCapabilities, Implementation } from '../../protocol/types.js';
import type { ClientRequest } from '../client-requests/client-request.js';
import type { InFlight, LegacySession } from '../legacy-session.js';
import { findMethod } from '../methods/find-method.js';
import { ServerRequest, type Caller, type Channel } from '../request.js';
import type { ServerDefinition } from '../server-definition.js';
import { sendClientRequest } from './send-client-request.js';
import { MAX_SUBSCRIPTIONS } from '../limits.js';

/** A request of a legacy client; what the client declared in the handshake is in its session. */
export class LegacyRequest extends ServerRequest {
  readonly era = 'legacy';
  readonly #session: LegacySession;

  constructor(
    server: ServerDefinition,
    message: JsonRpcRequest,
    caller: Caller,
    channel: Channel,
    session: LegacySession,
  ) {
    super(server, message, caller, channel);
    this.#session = session;
  }

  get session(): LegacySession {
    return this.#session;
  }

  get protocolVersion(): string {
    return this.#session.protocolVersion;
  }

  get clientCapabilities(): ClientCapabilities {
    return this.#session.clientCapabilities;
  }

  get clientInfo(): Implementation | undefined {
    return this.#session.clientInfo;
  }

  get logLevel(): LoggingLevel {
    return this.#session.logLevel;
  }

  sendToClient<Result>(request: ClientRequest<Result>, options: ElicitOptions): Promise<Result> {
    return sendClientRequest({ session: this.#session, request, options, link: this });
  }
}

/**
 * Adds a request to those in flight. The caller removes it after the response.
 *
 * @throws ProtocolError -32600 with HTTP status 400 when a request with this id is in flight, -32000 with HTTP status 429 when too many
 *   requests are
 */
export function trackRequest({ inFlight, maxRequests = Infinity }: LegacySession, request: InFlight): void {
  const { requestId } = request;
  if (inFlight.has(requestId)) {
    throw new ProtocolError(
      errorCodes.invalidRequest,
      `Request id ${JSON.stringify(requestId)} is already being answered; ids must be unique`,
      { httpStatus: 400 },
    );
  }
  if (inFlight.size >= maxRequests) {
    throw new ProtocolError(
      errorCodes.refused,
      `${maxRequests} requests of this session are unfinished, which is the limit; wait for a response and send the request again`,
      { httpStatus: 429 },
    );
  }
  inFlight.set(requestId, request);
}

/**
 * Answers a request of a legacy client (up to 2025-11-25).
 *
 * @returns the result as JSON
 * @throws ProtocolError for every failure that becomes a JSON-RPC error
 */
export function answerLegacyRequest(request: LegacyRequest): ResultJson | Promise<ResultJson> {
  const { server, session, method, params } = request;
  const found = findMethod(server, method);
  if (found) return found.answer(request).then(toResult);
  switch (method) {
    case 'tools/list':
      return server.tools.list('legacy', params, (members) => `{${members}}`);
    case 'initialize':
      return initialize(server, session, params);
    case 'ping':
      return '{}';
    case 'logging/setLevel':
      return setLogLevel(session, params);
    case 'resources/subscribe':
      if (server.capabilities.resources) return subscribe(session, params);
      break;
    case 'resources/unsubscribe':
      if (server.capabilities.resources) return unsubscribe(session, params);
  }
  throw methodNotFound(method);
}

/** Handles a notification of a legacy client. Unknown ones are ignored. */
export function acceptLegacyNotification(session: LegacySession, { method, params }: JsonRpcNotification): void {
  if (method !== 'notifications/cancelled') return;
  const requestId = params?.['requestId'];
  if (isRequestId(requestId)) session.inFlight.get(requestId)?.cancel();
}

function toResult({ members, meta }: EncodedResult): string {
  return meta ? `{${members},"_meta":${JSON.stringify(meta)}}` : `{${members}}`;
}

/** An unknown version is answered with the newest one of the server; the client decides whether to continue. */
function initialize(server: ServerDefinition, session: LegacySession, params: Params | undefined): string {
  const requested = params?.['protocolVersion'];
  if (typeof requested !== 'string') throw invalidParams('initialize needs a protocolVersion.');
  const { clientInfo, capabilities } = params ?? {};
  session.protocolVersion = LEGACY_VERSIONS.find((version) => version === requested) ?? LEGACY_VERSIONS[0];
  session.clientCapabilities = isObject(capabilities) ? capabilities : {};
  // Name and version are shown and never trusted; other members pass.
  if (isObject(clientInfo)) session.clientInfo = clientInfo as unknown as Implementation;
  session.initialized = true;
  return JSON.stringify({
    protocolVersion: session.protocolVersion,
    capabilities: server.capabilities,
    serverInfo: server.serverInfo,
    ...(server.instructions !== undefined && { instructions: server.instructions }),
  });
}

function setLogLevel(session: LegacySession, params: Params | undefined): string {
  const level = params?.['level'];
  if (!isLoggingLevel(level)) throw invalidParams(`The log level must be one of ${loggingLevels.join(', ')}.`);
  session.logLevel = level;
  return '{}';
}

function subscribe(session: LegacySession, params: Params | undefined): string {
  const uri = requireUri(params);
  const subscriptions = (session.subscriptions ??= new Set());
  if (subscriptions.size >= MAX_SUBSCRIPTIONS && !subscriptions.has(uri))
    throw invalidParams(`One client can subscribe to at most ${MAX_SUBSCRIPTIONS} resources.`);
  subscriptions.add(uri);
  return '{}';
}

function unsubscribe(session: LegacySession, params: Params | undefined): string {
  session.subscriptions?.delete(requireUri(params));
  return '{}';
}

function requireUri(params: Params | undefined): string {
  const uri = params?.['uri'];
  if (typeof uri !== 'string' || uri === '') throw invalidParams('The request needs the uri of a resource.');
  return uri;
}
