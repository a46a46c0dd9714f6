import type { ClientRequest, IncomingMessage } from 'node:http';
import { currentContext } from '../request-scope.js';
import { toResponse } from '../transports/http-answer.js';
import { openHttpRequest, toHttpTarget, type HttpTarget } from '../transports/http-request.js';
import { linkError } from './link-error.js';
import type { PlainRoute } from './plain-route.js';

/** What a connection is known by; a handshake fills it. */
export interface HttpSession {
  sessionId: string | undefined;
  protocolVersion: string | undefined;
  /** Whether the stateless revision is spoken, whose requests say what they are about in headers. */
  isModern: boolean;
}

/** What is sent. */
export interface HttpMessage {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly accept?: string;
  readonly body?: string;
  /** The method of the protocol, and what the request names. */
  readonly about?: { readonly method: string; readonly name: string | undefined };
}

/** What is sent, and who hears what comes back. */
export interface Exchange extends HttpMessage {
  readonly onResponse: (message: IncomingMessage) => void;
  readonly onError: (error: unknown) => void;
}

/** Sends requests to one server, each with the headers of its session and of the application. */
export class HttpExchanger {
  readonly #target: HttpTarget;
  readonly #route: PlainRoute;
  readonly #session: HttpSession;
  readonly #running = new Set<ClientRequest>();
  #isClosed = false;

  constructor(route: PlainRoute, session: HttpSession) {
    this.#target = toHttpTarget(route.url);
    this.#route = route;
    this.#session = session;
  }

  /** @returns what ends the exchange */
  start(exchange: Exchange): () => void {
    const { headers } = this.#route;
    let sent: ClientRequest | undefined;
    let isOver = false;
    const send = (added?: Record<string, string>): void => {
      if (isOver) return;
      if (this.#isClosed) return exchange.onError(linkError('CONNECTION_CLOSED', 'Connection closed'));
      let request: ClientRequest;
      try {
        request = openHttpRequest(this.#target, exchange.method, this.#headersOf(exchange, added));
      } catch (error) {
        // A value that no header can have.
        return exchange.onError(error);
      }
      sent = request;
      this.#running.add(request);
      request.on('response', exchange.onResponse);
      request.on('error', (error) => exchange.onError(new TypeError('fetch failed', { cause: error })));
      request.on('close', () => this.#running.delete(request));
      request.end(exchange.body);
    };
    if (typeof headers === 'function') {
      Promise.resolve(currentContext())
        .then((requestContext) => headers({ requestContext }))
        .then(send)
        .catch(exchange.onError);
    } else send(headers);
    return () => {
      isOver = true;
      sent?.destroy();
    };
  }

  /** Sends something, and reads what comes back unless it is an event stream. */
  fetch(sent: HttpMessage): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.start({ ...sent, onResponse: (message) => void toResponse(message).then(resolve, reject), onError: reject });
    });
  }

  /** Ends whatever is under way: also what a server sends on after its answer, or never answers. */
  close(): void {
    this.#isClosed = true;
    for (const request of this.#running) request.destroy();
  }

  #headersOf({ accept, body, about }: HttpMessage, added: Record<string, string> | undefined): string[] {
    const { sessionId, protocolVersion, isModern } = this.#session;
    const all: Record<string, string> = {
      host: this.#target.host,
      'accept-encoding': 'identity',
      ...this.#route.requestHeaders,
    };
    all['accept'] = accept ?? '*/*';
    if (body !== undefined) {
      all['content-type'] = 'application/json';
      all['content-length'] = String(Buffer.byteLength(body));
    }
    if (sessionId !== undefined) all['mcp-session-id'] = sessionId;
    if (protocolVersion !== undefined) all['mcp-protocol-version'] = protocolVersion;
    if (isModern && about) {
      all['mcp-method'] = about.method;
      if (about.name !== undefined) all['mcp-name'] = about.name;
    }
    if (added) for (const key in added) all[key.toLowerCase()] = added[key] as string;
    const flat: string[] = [];
    for (const key in all) flat.push(key, all[key] as string);
    return flat;
  }
}
