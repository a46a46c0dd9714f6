import type { IncomingMessage, ServerResponse } from 'node:http';
import { toErrorMessage } from '@quiver/core';
import { errorCodes } from '../../protocol/constants.js';
import { errorText, isObject, isRequestId, type RequestId } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { requireJsonExchange, requireTrustedOrigin } from '../request-guard.js';
import type { ServerDefinition } from '../server-definition.js';
import { defaultSessionLimits, SessionStore } from '../sessions.js';
import { sendJson, writeComment, type HttpAnswer } from './http-answer.js';
import { endSession, openStream } from './http-legacy.js';
import type { AuthenticatedRequest, StartHTTPOptions, StreamableHTTPServerTransportOptions } from './http-options.js';
import { servePost } from './http-post.js';
import { defaultMaxBodyBytes, parseJsonBytes, readJsonBody } from './read-json-body.js';

const keepAliveInterval = 15_000;

/** What one endpoint remembers between requests. */
export interface HttpEndpointState {
  readonly server: ServerDefinition;
  readonly sessions: SessionStore;
  /** Answers that are not made yet. */
  readonly waiting: Set<HttpAnswer>;
}

/** Serves MCP over Streamable HTTP, in both eras, on requests of a `node:http` server that may also serve other things. */
export class HttpEndpoint {
  readonly #server: ServerDefinition;
  #state: HttpEndpointState | undefined;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(server: ServerDefinition) {
    this.#server = server;
  }

  /** Answers one request. Never rejects: what goes wrong is told to the client, or to the logger. */
  async handle({ url, httpPath, req, res, options = {} }: StartHTTPOptions): Promise<void> {
    const request: AuthenticatedRequest = req;
    let id: RequestId | null = null;
    try {
      requireTrustedOrigin(req, options);
      if (url.pathname !== httpPath) return void res.writeHead(404).end();
      const state = this.#open(options);
      if (req.method === 'POST') {
        requireJsonExchange(req);
        const body = await bodyOf(request, options.maxBodyBytes ?? defaultMaxBodyBytes);
        id = isObject(body) && isRequestId(body['id']) ? body['id'] : null;
        await servePost({ state, req: request, res, options, body });
      } else if (req.method === 'GET' && !isStateless(options)) openStream(state, request, res);
      else if (req.method === 'DELETE' && !isStateless(options)) endSession(state, request, res);
      else refuseMethod(req, res, options);
    } catch (error) {
      this.#refuse(res, error, id);
    }
  }

  /** Settles when no request is being answered. */
  async drain(): Promise<void> {
    while (this.#state && this.#state.waiting.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Ends all sessions and streams, and cancels what is being answered. */
  close(): void {
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
    this.#state?.sessions.endAll();
    this.#state = undefined;
  }

  /** The first request decides about the limits of sessions. */
  #open(options: StreamableHTTPServerTransportOptions): HttpEndpointState {
    if (this.#state) return this.#state;
    const limits = {
      idleTimeout: options.idleTimeout ?? defaultSessionLimits.idleTimeout,
      maxSessions: options.maxSessions ?? defaultSessionLimits.maxSessions,
    };
    const state: HttpEndpointState = { server: this.#server, sessions: new SessionStore(limits), waiting: new Set() };
    this.#state = state;
    this.#keepAlive = setInterval(() => keepStreamsAlive(state), keepAliveInterval).unref();
    return state;
  }

  #refuse(res: ServerResponse, error: unknown, id: RequestId | null): void {
    if (!(error instanceof ProtocolError)) {
      this.#server.logger.error(`An MCP request over HTTP failed: ${toErrorMessage(error)}`, error);
    }
    const status = error instanceof ProtocolError ? error.httpStatus : 500;
    if (status === 503) res.setHeader('retry-after', '60');
    sendJson(res, status, errorText(id, error));
  }
}

/** Whether every request stands alone. */
export function isStateless(options: StreamableHTTPServerTransportOptions): boolean {
  return options.serverless === true || ('sessionIdGenerator' in options && options.sessionIdGenerator === undefined);
}

function bodyOf(req: AuthenticatedRequest, maxBytes: number): Promise<unknown> | unknown {
  if (req.body === undefined) return readJsonBody(req, maxBytes);
  if (typeof req.body === 'string' || req.body instanceof Uint8Array)
    return parseJsonBytes(Buffer.from(req.body as string));
  return req.body;
}

function refuseMethod(req: IncomingMessage, res: ServerResponse, options: StreamableHTTPServerTransportOptions): void {
  res.setHeader('allow', isStateless(options) ? 'POST' : 'GET, POST, DELETE');
  throw new ProtocolError(errorCodes.refused, `Method not allowed: ${req.method}`, { httpStatus: 405 });
}

function keepStreamsAlive({ sessions, waiting }: HttpEndpointState): void {
  for (const answer of waiting) answer.keepAlive();
  for (const { stream } of sessions) if (stream) writeComment(stream);
}
