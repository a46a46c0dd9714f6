import { toErrorMessage } from '@quiver/core';
import { errorCodes } from '../../protocol/constants.js';
import { errorText, isObject, isRequestId, type RequestId } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ServerDefinition } from '../server-definition.js';
import { requireAcceptedResponse, requireJsonBody, requireTrustedOrigin } from './guard.js';
import { Heartbeat } from './heartbeat.js';
import { jsonHeaders, type HttpReply, type HttpRequest } from './message.js';
import { openStream } from './open-stream.js';
import type { StreamableHTTPServerTransportOptions } from './options.js';
import { servePost } from './post.js';
import { HttpResponse, type HttpEndpointState } from './response.js';
import { isStateless, requireSession, SessionStore } from './sessions.js';
import { DEFAULT_MAX_BODY_BYTES, RETRY_AFTER_SECONDS } from '../limits.js';

/** Serves MCP over Streamable HTTP, in both eras, for requests that another server accepted. */
export class HttpEndpoint {
  readonly #server: ServerDefinition;
  #state: HttpEndpointState | undefined;
  #isClosing = false;

  constructor(server: ServerDefinition) {
    this.#server = server;
  }

  /** Ids of the open sessions. */
  get sessionIds(): string[] {
    return [...(this.#state?.sessions ?? [])].map(({ id }) => id);
  }

  /** Whether the endpoint has served a request. */
  get isUsed(): boolean {
    return this.#state !== undefined;
  }

  /**
   * Serves one request. Never rejects: errors go to the client or to the logger.
   *
   * @param isHere - whether the path of the request is the path of the endpoint
   */
  async handle(
    request: HttpRequest,
    reply: HttpReply,
    options: StreamableHTTPServerTransportOptions,
    isHere = true,
  ): Promise<void> {
    let id: RequestId | null = null;
    try {
      requireTrustedOrigin(request, options);
      if (!isHere) return reply.send(404, {});
      this.#requireOpen();
      const response = new HttpResponse(this.#open(options), request, reply, options);
      const { method } = request;
      if (method === 'POST') {
        requireJsonBody(request);
        requireAcceptedResponse(request);
        const body = await request.readJson(options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES);
        if (isObject(body) && isRequestId(body['id'])) id = body['id'];
        // The server may have closed while the body arrived.
        this.#requireOpen();
        await servePost(response, body);
      } else if (method === 'GET' && !isStateless(options)) await openStream(response);
      else if (method === 'DELETE' && !isStateless(options)) {
        response.endpoint.sessions.end(requireSession(response));
        response.endEmpty(200);
      } else throw new MethodNotAllowed(method, isStateless(options) ? 'POST' : 'GET, POST, DELETE');
    } catch (error) {
      refuseRequest(reply, error, id, this.#server);
    }
  }

  /** Refuses new requests, waits for those in flight, then ends all sessions. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    this.#isClosing = true;
    await this.#state?.heartbeat.drained(graceMilliseconds);
    this.#state?.heartbeat.cancelAll();
    this.#state?.heartbeat.stop();
    this.#state?.sessions.endAll();
    this.#state = undefined;
  }

  #requireOpen(): void {
    if (this.#isClosing) throw shuttingDown();
  }

  /** The first request decides the limits of sessions. */
  #open(options: StreamableHTTPServerTransportOptions): HttpEndpointState {
    if (this.#state) return this.#state;
    const server = this.#server;
    const sessions = new SessionStore({ limits: options, connected: server.sessions });
    const state: HttpEndpointState = {
      server,
      sessions,
      heartbeat: new Heartbeat(sessions),
      onStoreError: (error) => server.logger.error(`The event store failed: ${toErrorMessage(error)}`, error),
    };
    this.#state = state;
    return state;
  }
}

/** HTTP status 405, with the supported methods. */
class MethodNotAllowed extends ProtocolError {
  readonly allow: string;

  constructor(method: string | undefined, allow: string) {
    super(errorCodes.refused, `Method not allowed: ${method}`, { httpStatus: 405 });
    this.allow = allow;
  }
}

const retryStatuses: ReadonlySet<number> = new Set([429, 503]);

/** Sends an error response. Unexpected errors become 500 without details. */
export function refuseRequest(
  reply: HttpReply,
  error: unknown,
  id: RequestId | null,
  { logger }: ServerDefinition,
): void {
  if (!(error instanceof ProtocolError)) {
    logger.error(`An MCP request over HTTP failed: ${toErrorMessage(error)}`, error);
  }
  const status = error instanceof ProtocolError ? error.httpStatus : 500;
  const retry = retryStatuses.has(status) ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : undefined;
  const allow = error instanceof MethodNotAllowed ? { allow: error.allow } : undefined;
  const response = error instanceof ProtocolError ? error.response : undefined;
  if (response) return reply.send(status, response.headers, JSON.stringify(response.body));
  reply.send(status, { ...jsonHeaders, ...retry, ...allow }, errorText(id, error));
}

export function shuttingDown(): ProtocolError {
  return new ProtocolError(errorCodes.refused, 'The server is shutting down', { httpStatus: 503 });
}
