import { QuiverError } from '@quiver/core';
import { executeTool, getToolId } from '@quiver/core/tools';
import { createServerDefinition } from './create-server-definition.js';
import { createElicitationActions, type ElicitationActions } from './elicitation-actions.js';
import {
  createPromptActions,
  createResourceActions,
  createToolActions,
  type PromptActions,
  type ResourceActions,
  type ToolActions,
} from './server-actions.js';
import type { MCPServerConfig, ServerDetail, ServerInfo, ToolInfo, ToolListInfo } from './server-config.js';
import type { ServerDefinition } from './server-definition.js';
import type { RegisteredTool, ToolsInput } from './tool-registry.js';
import { HttpEndpoint } from './transports/http-endpoint.js';
import type { StartHTTPOptions, StreamableHTTPServerTransportOptions } from './transports/http-options.js';
import type { ListenOptions, McpHttpServer } from './transports/listen.js';
import { NodeReply, NodeRequest } from './transports/node-http.js';
import type {
  SSEServerTransport,
  SSETransport,
  StdioServerTransport,
  StreamableHTTPServerTransport,
} from './transports/server-transports.js';
import { SSEEndpoint, type SSEConnection } from './transports/sse-endpoint.js';
import {
  toHonoExchange,
  toStartHonoSSE,
  type ConnectHonoSSEOptions,
  type ConnectSSEOptions,
  type StartHonoSSEOptions,
  type StartSSEOptions,
} from './transports/sse-options.js';
import type { StdioConnection } from './transports/stdio.js';
import { WebReply, WebRequest } from './transports/web-http.js';

/** Milliseconds that running calls get when the server closes. */
const defaultGrace = 10_000;

export interface CloseOptions {
  /** Milliseconds that running calls get; servers of `listen()` have their own `shutdownGrace`. Default 10 000. */
  grace?: number;
}

export interface FetchOptions extends StreamableHTTPServerTransportOptions {
  /** Who calls, as your authentication found out; reaches tools as `context.mcp.extra.authInfo`. */
  authInfo?: unknown;
}

/**
 * Offers tools to MCP clients such as Cursor and Claude Desktop, over stdio and Streamable HTTP.
 *
 * One server answers both generations of the protocol at the same place: revisions with a handshake (up to 2025-11-25) and the
 * stateless one (2026-07-28).
 *
 * @example
 * const server = new MCPServer({ name: 'Weather', version: '1.0.0', tools: { getWeather } });
 * await server.startStdio();
 */
export class MCPServer implements AsyncDisposable {
  readonly id: string;
  /** Adds and removes tools at run time. */
  readonly toolActions: ToolActions;
  /** Tells clients that resources changed. */
  readonly resources: ResourceActions;
  /** Tells clients that prompts changed. */
  readonly prompts: PromptActions;
  /** Asks the user of a connected client outside of any call. */
  readonly elicitation: ElicitationActions;
  readonly #config: MCPServerConfig;
  readonly #definition: ServerDefinition;
  readonly #releaseDate: string;
  readonly #http: HttpEndpoint;
  readonly #fetching: HttpEndpoint;
  readonly #sse: SSEEndpoint;
  readonly #honoSse: SSEEndpoint;
  readonly #listening = new Set<McpHttpServer>();
  #stdio: StdioConnection | undefined;

  /** @throws `SERVER_CONFIG_INVALID`, `AGENT_DESCRIPTION_MISSING`, `WORKFLOW_DESCRIPTION_MISSING` */
  constructor(config: MCPServerConfig) {
    this.#definition = createServerDefinition(config);
    this.id = config.id ?? crypto.randomUUID();
    this.#config = config;
    this.#releaseDate = config.releaseDate ?? new Date().toISOString();
    this.#http = new HttpEndpoint(this.#definition);
    this.#fetching = new HttpEndpoint(this.#definition);
    this.#sse = new SSEEndpoint(this.#definition);
    this.#honoSse = new SSEEndpoint(this.#definition);
    this.toolActions = createToolActions(this.#definition);
    this.resources = createResourceActions(this.#definition);
    this.prompts = createPromptActions(this.#definition);
    this.elicitation = createElicitationActions(this.#definition);
  }

  /**
   * Serves one client over standard input and output. From here on standard output belongs to the protocol: whatever else is
   * written to it, `console.log` included, goes to standard error.
   *
   * @throws `SERVER_ALREADY_STARTED` when stdio is being served already
   */
  async startStdio(): Promise<void> {
    // Loaded here: other platforms have no standard streams, and HTTP servers no use for them.
    const { serveProcessStdio } = await import('./transports/process-stdio.js');
    if (this.#stdio)
      throw new QuiverError(
        'SERVER_ALREADY_STARTED',
        'This MCPServer serves stdio already; a process has one standard input.',
      );
    this.#stdio = serveProcessStdio(this.#definition, () => {
      this.#stdio = undefined;
    });
  }

  /**
   * Answers one request of your own `node:http` server (or Express, Fastify, ...) over Streamable HTTP. Never rejects.
   *
   * Sessions are on by default; `options.serverless` turns them off. What authentication middleware sets on `req.auth` reaches
   * tools as `context.mcp.extra.authInfo`, and a session belongs to the caller that opened it.
   *
   * @example
   * http.createServer((req, res) =>
   *   server.startHTTP({ url: new URL(req.url ?? '', 'http://localhost:1234'), httpPath: '/mcp', req, res }),
   * );
   */
  async startHTTP({ url, httpPath, req, res, options = {} }: StartHTTPOptions): Promise<void> {
    await this.#http.handle(new NodeRequest(req), new NodeReply(res), options, url.pathname === httpPath);
  }

  /**
   * Answers one request of the web platform over Streamable HTTP: Hono, Next, Deno, Bun, Workers. Never rejects. Every path is
   * served; route to it what is meant for it.
   *
   * Sessions live in this process; where each request may meet another one, set `serverless: true`.
   *
   * @example
   * app.all('/mcp', (c) => server.fetch(c.req.raw));
   */
  async fetch(request: Request, options: FetchOptions = {}): Promise<Response> {
    const { authInfo, ...transportOptions } = options;
    const reply = new WebReply(request);
    await Promise.race([
      reply.response,
      this.#fetching.handle(new WebRequest(request, authInfo), reply, transportOptions),
    ]);
    return reply.response;
  }

  /**
   * Answers one request of your own `node:http` server over the older HTTP+SSE transport. Never rejects.
   *
   * @example
   * http.createServer((req, res) =>
   *   server.startSSE({ url: new URL(req.url ?? '', 'http://localhost:1234'), ssePath: '/sse', messagePath: '/message', req, res }),
   * );
   */
  async startSSE({ url, ssePath, messagePath, req, res, options }: StartSSEOptions): Promise<void> {
    await this.#sse.handle(new NodeRequest(req), new NodeReply(res), { url, ssePath, messagePath }, options);
  }

  /**
   * As {@link MCPServer.startSSE}, for Hono: pass its context and return the response. Also takes `req` and `res` of `node:http`.
   *
   * @example
   * app.all('/sse', (context) => server.startHonoSSE({ url: new URL(context.req.url), ssePath: '/sse', messagePath: '/message', context }));
   */
  async startHonoSSE<Options extends StartHonoSSEOptions>(
    options: Options,
  ): Promise<Options extends { context: unknown } ? Response : void> {
    const { request, reply, response } = toStartHonoSSE(options);
    const handled = this.#honoSse.handle(request, reply, options, options.options);
    // A stream is a response long before it is over.
    await (response ? Promise.race([response, handled]) : handled);
    return (await response) as Options extends { context: unknown } ? Response : void;
  }

  /** Opens the event stream of one client, where you do the routing; hand its posts to {@link MCPServer.startSSE}. */
  async connectSSE({ messagePath, res, options }: ConnectSSEOptions): Promise<void> {
    this.#sse.open(new NodeRequest(res.req), new NodeReply(res), messagePath, options);
  }

  /** As {@link MCPServer.connectSSE}, for Hono: return the response, and hand posts to {@link MCPServer.startHonoSSE}. */
  async connectHonoSSE({ messagePath, context, options }: ConnectHonoSSEOptions): Promise<Response> {
    const { request, reply, response } = toHonoExchange(context);
    this.#honoSse.open(request, reply, messagePath, options);
    return response;
  }

  /** What `startStdio()` serves, or `undefined`. */
  getStdioTransport(): StdioServerTransport | undefined {
    const connection = this.#stdio;
    return connection && { close: async () => connection.close() };
  }

  /** The connection of `startSSE()` with this session id, or the newest; `undefined` when there is none. */
  getSseTransport(sessionId?: string): SSEServerTransport | undefined {
    return toSseTransport(this.#sse, this.#sse.find(sessionId));
  }

  /** As {@link MCPServer.getSseTransport}, for `startHonoSSE()`. */
  getSseHonoTransport(sessionId?: string): SSETransport | undefined {
    return toSseTransport(this.#honoSse, this.#honoSse.find(sessionId));
  }

  /** What `startHTTP()` serves, or `undefined` before the first request. */
  getStreamableHTTPTransport(): StreamableHTTPServerTransport | undefined {
    const endpoint = this.#http;
    if (!endpoint.isUsed) return undefined;
    return {
      get sessionIds() {
        return endpoint.sessionIds;
      },
      close: () => endpoint.shutDown(defaultGrace),
    };
  }

  /**
   * Starts an HTTP server of its own, with sane time-outs.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`
   * @example
   * const { url, close } = await server.listen({ port: 3000 });
   */
  async listen(options: ListenOptions = {}): Promise<McpHttpServer> {
    const { listen } = await import('./transports/listen.js');
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
    return handle;
  }

  /**
   * Takes no new requests, lets running calls finish, then ends all connections and sessions and stops the servers that
   * `listen()` started. For good: the server answers nothing afterwards.
   */
  async close({ grace = defaultGrace }: CloseOptions = {}): Promise<void> {
    await Promise.all([
      this.#stdio?.shutDown(grace),
      this.#http.shutDown(grace),
      this.#fetching.shutDown(grace),
      this.#sse.shutDown(grace),
      this.#honoSse.shutDown(grace),
      ...[...this.#listening].map((running) => running.close()),
    ]);
    this.#definition.audience.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  getServerInfo(): ServerInfo {
    const { name, version, description, repository, isLatest = true } = this.#config;
    return {
      id: this.id,
      name,
      ...(description !== undefined && { description }),
      ...(repository && { repository }),
      version_detail: { version, release_date: this.#releaseDate, is_latest: isLatest },
    };
  }

  getServerDetail(): ServerDetail {
    const { packageCanonical, packages, remotes } = this.#config;
    return {
      ...this.getServerInfo(),
      ...(packageCanonical !== undefined && { package_canonical: packageCanonical }),
      ...(packages && { packages }),
      ...(remotes && { remotes }),
    };
  }

  /** The tools as clients see them. */
  getToolListInfo(): ToolListInfo {
    return { tools: [...this.#definition.tools.values()].map(toToolInfo) };
  }

  /** One tool as clients see it, or `undefined`. */
  getToolInfo(toolName: string): ToolInfo | undefined {
    const registered = this.#definition.tools.get(toolName);
    return registered && toToolInfo(registered);
  }

  /**
   * Runs a tool without a client. Invalid input is returned, as `{ error: true, message, validationErrors }`.
   *
   * @returns the tool's own value
   * @throws `TOOL_NOT_FOUND`; whatever the tool throws
   */
  async executeTool(
    toolName: string,
    args: unknown,
    executionContext: { messages?: readonly unknown[]; toolCallId?: string } = {},
  ): Promise<unknown> {
    const registered = this.#definition.tools.get(toolName);
    if (!registered) {
      const known = [...this.#definition.tools.values()].map(({ name }) => name).join(', ');
      throw new QuiverError(
        'TOOL_NOT_FOUND',
        `MCPServer '${this.#config.name}' has no tool '${toolName}'. It has: ${known || 'none'}.`,
      );
    }
    return executeTool(registered.tool, args, { toolName, ...executionContext });
  }

  /** The tools that are served, by name. */
  tools(): ToolsInput {
    return Object.fromEntries([...this.#definition.tools.values()].map(({ name, tool }) => [name, tool]));
  }
}

function toToolInfo({ name, tool, toolType, listed }: RegisteredTool): ToolInfo {
  const { description, inputSchema, outputSchema } = listed;
  return {
    id: getToolId(tool) ?? name,
    name,
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    toolType,
  };
}

function toSseTransport(endpoint: SSEEndpoint, connection: SSEConnection | undefined): SSEServerTransport | undefined {
  if (!connection) return undefined;
  const { sessionId } = connection;
  return { sessionId, close: async () => endpoint.close(sessionId) };
}
