import { toErrorMessage } from '@quiver/core';
import { isObject, isRequestId, type RequestId } from '../../protocol/json-rpc.js';
import { requireJsonExchange, requireTrustedOrigin } from '../request-guard.js';
import type { ServerDefinition } from '../server-definition.js';
import { SessionStore } from '../sessions.js';
import { Heartbeat } from './heartbeat.js';
import type { HttpCall, HttpEndpointState } from './http-call.js';
import { endSession } from './http-legacy.js';
import type { HttpReply, HttpRequest } from './http-message.js';
import { isStateless, type StreamableHTTPServerTransportOptions } from './http-options.js';
import { servePost } from './http-post.js';
import { openStream } from './open-stream.js';
import { defaultMaxBodyBytes } from './read-json-body.js';
import { MethodNotAllowed, refuseRequest, shuttingDown } from './refuse-request.js';

/** Serves MCP over Streamable HTTP, in both eras, on requests that some other server has accepted. */
export class HttpEndpoint {
  readonly #server: ServerDefinition;
  #state: HttpEndpointState | undefined;
  #closing = false;

  constructor(server: ServerDefinition) {
    this.#server = server;
  }

  /** Ids of the sessions that are open. */
  get sessionIds(): string[] {
    return [...(this.#state?.sessions ?? [])].map(({ id }) => id);
  }

  /** Whether a request was ever served here. */
  get isUsed(): boolean {
    return this.#state !== undefined;
  }

  /**
   * Answers one request. Never rejects: what goes wrong is told to the client, or to the logger.
   *
   * @param isHere - whether the request's path is the one that MCP is served on
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
      if (this.#closing) throw shuttingDown();
      const call: HttpCall = { state: this.#open(options), request, reply, options };
      const { method } = request;
      if (method === 'POST') {
        requireJsonExchange(request);
        const body = await request.readJson(options.maxBodyBytes ?? defaultMaxBodyBytes);
        if (isObject(body) && isRequestId(body['id'])) id = body['id'];
        // The body may have taken its time.
        if (this.#closing) throw shuttingDown();
        await servePost(call, body);
      } else if (method === 'GET' && !isStateless(options)) await openStream(call);
      else if (method === 'DELETE' && !isStateless(options)) endSession(call);
      else refuseMethod(call);
    } catch (error) {
      refuseRequest(reply, error, id, this.#server.logger);
    }
  }

  /** Takes no new requests, lets those that are being answered finish for a while, then ends everything. */
  async shutDown(graceMilliseconds: number): Promise<void> {
    this.#closing = true;
    await this.#state?.heartbeat.drained(graceMilliseconds);
    this.#state?.heartbeat.cancelAll();
    this.#state?.heartbeat.stop();
    this.#state?.sessions.endAll();
    this.#state = undefined;
  }

  /** The first request decides about the limits of sessions. */
  #open(options: StreamableHTTPServerTransportOptions): HttpEndpointState {
    if (this.#state) return this.#state;
    const server = this.#server;
    const sessions = new SessionStore({ limits: options, peers: server.peers });
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

function refuseMethod({ request, options }: HttpCall): never {
  throw new MethodNotAllowed(request.method, isStateless(options) ? 'POST' : 'GET, POST, DELETE');
}
