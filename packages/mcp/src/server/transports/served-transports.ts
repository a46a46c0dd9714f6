import { QuiverError } from '@quiver/core';
import type { ServerDefinition } from '../server-definition.js';
import { HttpEndpoint } from './http-endpoint.js';
import type { StartHTTPOptions, StreamableHTTPServerTransportOptions } from './http-options.js';
import type { ListenOptions, McpHttpServer } from './listen.js';
import { NodeReply, NodeRequest } from './node-http.js';
import type { SSEServerTransport, StdioServerTransport, StreamableHTTPServerTransport } from './server-transports.js';
import { SSEEndpoint } from './sse-endpoint.js';
import {
  toHonoExchange,
  toStartHonoSSE,
  type ConnectHonoSSEOptions,
  type ConnectSSEOptions,
  type StartHonoSSEOptions,
  type StartSSEOptions,
} from './sse-options.js';
import type { StdioConnection } from './stdio.js';
import { WebReply, WebRequest } from './web-http.js';

export interface FetchOptions extends StreamableHTTPServerTransportOptions {
  /** Who calls, as your authentication found out; reaches tools as `context.mcp.extra.authInfo`. */
  authInfo?: unknown;
}

export interface CloseOptions {
  /** Milliseconds that running calls get; servers of `listen()` have their own `shutdownGrace`. Default 10 000. */
  grace?: number;
}

const defaultGrace = 10_000;

/** Everything that one server is reachable by. What needs Node is loaded when it is asked for. */
export class ServedTransports {
  readonly #definition: ServerDefinition;
  readonly #http: HttpEndpoint;
  readonly #fetch: HttpEndpoint;
  readonly #sse: SSEEndpoint;
  readonly #honoSse: SSEEndpoint;
  readonly #listening = new Set<McpHttpServer>();
  #stdio: StdioConnection | undefined;
  #isClosed = false;

  constructor(definition: ServerDefinition) {
    this.#definition = definition;
    this.#http = new HttpEndpoint(definition);
    this.#fetch = new HttpEndpoint(definition);
    this.#sse = new SSEEndpoint(definition);
    this.#honoSse = new SSEEndpoint(definition);
  }

  async startStdio(): Promise<void> {
    const { serveProcessStdio } = await import('./process-stdio.js');
    this.#requireOpen();
    if (this.#stdio) {
      throw new QuiverError(
        'SERVER_ALREADY_STARTED',
        'This MCPServer serves stdio already; a process has one standard input.',
      );
    }
    this.#stdio = serveProcessStdio(this.#definition, () => {
      this.#stdio = undefined;
    });
  }

  startHTTP({ url, httpPath, req, res, options = {} }: StartHTTPOptions): Promise<void> {
    return this.#http.handle(new NodeRequest(req), new NodeReply(res), options, url.pathname === httpPath);
  }

  async fetch(request: Request, { authInfo, ...options }: FetchOptions): Promise<Response> {
    const reply = new WebReply(request);
    void this.#fetch.handle(new WebRequest(request, authInfo), reply, options);
    return reply.response;
  }

  startSSE({ url, ssePath, messagePath, req, res, options }: StartSSEOptions): Promise<void> {
    return this.#sse.handle(new NodeRequest(req), new NodeReply(res), { url, ssePath, messagePath }, options);
  }

  async startHonoSSE(options: StartHonoSSEOptions): Promise<Response | undefined> {
    const { request, reply, response } = toStartHonoSSE(options);
    const handled = this.#honoSse.handle(request, reply, options, options.options);
    // A stream is a response long before it is over.
    if (!response) await handled;
    return response;
  }

  connectSSE({ messagePath, res, options }: ConnectSSEOptions): void {
    this.#sse.open(new NodeRequest(res.req), new NodeReply(res), messagePath, options);
  }

  connectHonoSSE({ messagePath, context, options }: ConnectHonoSSEOptions): Promise<Response> {
    const { request, reply, response } = toHonoExchange(context);
    this.#honoSse.open(request, reply, messagePath, options);
    return response;
  }

  async listen(options: ListenOptions): Promise<McpHttpServer> {
    const { listen } = await import('./listen.js');
    this.#requireOpen();
    const endpoint = new HttpEndpoint(this.#definition);
    const running = await listen({ ...options, endpoint, logger: this.#definition.logger });
    const handle: McpHttpServer = {
      ...running,
      close: async () => {
        this.#listening.delete(handle);
        await running.close();
      },
    };
    this.#listening.add(handle);
    if (this.#isClosed) await handle.close();
    this.#requireOpen();
    return handle;
  }

  #requireOpen(): void {
    if (this.#isClosed)
      throw new QuiverError('SERVER_CLOSED', 'This MCPServer was closed, which is for good; make a new one.');
  }

  getStdio(): StdioServerTransport | undefined {
    const connection = this.#stdio;
    return connection && { close: async () => connection.close() };
  }

  getSse(kind: 'node' | 'hono', sessionId: string | undefined): SSEServerTransport | undefined {
    const endpoint = kind === 'node' ? this.#sse : this.#honoSse;
    const connection = endpoint.find(sessionId);
    return connection && { sessionId: connection.sessionId, close: async () => endpoint.close(connection.sessionId) };
  }

  getStreamableHTTP(): StreamableHTTPServerTransport | undefined {
    const endpoint = this.#http;
    if (!endpoint.isUsed) return undefined;
    return {
      get sessionIds() {
        return endpoint.sessionIds;
      },
      close: () => endpoint.shutDown(defaultGrace),
    };
  }

  async close({ grace = defaultGrace }: CloseOptions): Promise<void> {
    this.#isClosed = true;
    await Promise.all([
      this.#stdio?.shutDown(grace),
      this.#http.shutDown(grace),
      this.#fetch.shutDown(grace),
      this.#sse.shutDown(grace),
      this.#honoSse.shutDown(grace),
      ...[...this.#listening].map((running) => running.close()),
    ]);
  }
}
