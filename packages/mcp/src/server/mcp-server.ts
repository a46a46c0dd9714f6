import { QuiverError } from '@quiver/core';
import { checkOptions, type OptionChecks, unchecked } from '@quiver/core/internal';
import { executeTool, type Tool, type ToolCallOptions } from '@quiver/core/tools';
import type { StdioOptions, StdioServerTransport } from './connection/stdio.js';
import { createServerState } from './create-server-state.js';
import {
  toServerDetail,
  toServerInfo,
  toToolInfo,
  type ServerDetail,
  type ServerInfo,
  type ToolInfo,
  type ToolListInfo,
} from './definition/server-info.js';
import type { ServerState } from './definition/server-state.js';
import type {
  ConnectHonoSSEOptions,
  ConnectSSEOptions,
  Features,
  MCPServerConfig,
  ProxyOptions,
  ProxyTarget,
  SSEServerTransport,
  SSETransport,
  StartHonoSSEOptions,
  StartSSEOptions,
} from './features.js';
import type { StreamableHTTPServerTransport } from './http/endpoint.js';
import { sendHealth, type ServerHealth } from './http/health.js';
import type { ListenOptions, McpHttpServer } from './http/listen.js';
import { NodeReply, NodeRequest, type StartHTTPOptions } from './http/node-http.js';
import { resolveOptions, transportChecks, type FetchOptions } from './http/transport-options.js';
import { WebReply, WebRequest } from './http/web-http.js';
import type { Middleware } from './middleware/middleware.js';
import { addMiddleware } from './middleware/run-middleware.js';
import {
  createServerActions,
  type ElicitationActions,
  type PromptActions,
  type ResourceActions,
  type ToolActions,
} from './server-actions.js';
import type { ToolsInput } from './tools/tool-registry.js';
import { Transports, type CloseOptions } from './transports.js';

/** Options of `server.executeTool()`. */
export type ExecuteOptions = Pick<ToolCallOptions, 'messages' | 'toolCallId' | 'requestContext' | 'abortSignal'>;

const executeChecks: OptionChecks<ExecuteOptions> = {
  ...unchecked<ExecuteOptions>()('messages', 'toolCallId', 'requestContext', 'abortSignal'),
};

/**
 * Serves tools, agents, workflows, resources and prompts to MCP clients such as Cursor and Claude Desktop, over stdio, Streamable
 * HTTP and HTTP+SSE.
 *
 * One server answers both protocol eras at the same URL: legacy (up to 2025-11-25) and modern (2026-07-28).
 *
 * @example
 * const server = new MCPServer({ name: 'Weather', version: '1.0.0', tools: { getWeather } });
 * await server.startStdio();
 */
export class MCPServer implements AsyncDisposable {
  readonly name: string;
  readonly version: string;
  readonly description: string | undefined;
  /** ISO 8601. */
  readonly releaseDate: string;
  /** Adds and removes tools at run time. */
  readonly toolActions: ToolActions;
  /** Notifies clients that resources changed. */
  readonly resources: ResourceActions;
  /** Notifies clients that prompts changed. */
  readonly prompts: PromptActions;
  /** Sends elicitation requests outside of a call. */
  readonly elicitation: ElicitationActions;
  #id: string | undefined;
  readonly #config: MCPServerConfig;
  readonly #state: ServerState;
  readonly #features: Features;
  readonly #transports: Transports;

  /** @throws `OPTIONS_INVALID`, `AGENT_DESCRIPTION_MISSING`, `WORKFLOW_DESCRIPTION_MISSING` */
  constructor(config: MCPServerConfig) {
    ({ state: this.#state, features: this.#features } = createServerState(config));
    this.#id = config.id;
    this.#config = config;
    this.name = config.name;
    this.version = config.version;
    this.description = config.description;
    this.releaseDate = config.releaseDate ?? new Date().toISOString();
    this.#transports = new Transports(this.#state);
    const { toolActions, resources, prompts, elicitation } = createServerActions(this.#state);
    this.toolActions = toolActions;
    this.resources = resources;
    this.prompts = prompts;
    this.elicitation = elicitation;
  }

  /** `id` of the configuration. Default: random. */
  get id(): string {
    // Not before it is needed: edge runtimes forbid random values while a module loads.
    return (this.#id ??= crypto.randomUUID());
  }

  /**
   * Serves one client over standard input and output. From here on only the protocol writes to standard output: other writes,
   * `console.log` included, go to standard error. When the client disconnects, the process exits: see `exitOnDisconnect`.
   *
   * @throws `OPTIONS_INVALID`; `SERVER_ALREADY_STARTED` when stdio is served already, `SERVER_CLOSED` after `close()`
   */
  async startStdio(options: StdioOptions = {}): Promise<void> {
    return this.#transports.startStdio(options);
  }

  /**
   * Serves one request of a `node:http` server (or Express, Fastify, Koa) over Streamable HTTP. Errors of the request go to the client.
   *
   * Sessions are on by default; `serverless: true` turns them off. Options are given next to the request, or under `options`. The caller that `authenticate`
   * returns, or authentication middleware sets on `req.auth`, reaches tools as `context.mcp.extra.authInfo`, and a session belongs to the caller that opened it.
   *
   * @throws `OPTIONS_INVALID`
   * @example
   * http.createServer((req, res) =>
   *   server.startHTTP({ url: new URL(req.url ?? '', 'http://localhost:1234'), httpPath: '/mcp', req, res }),
   * );
   */
  async startHTTP(given: StartHTTPOptions): Promise<void> {
    // Options of the transport stand in `options`, as in Mastra, or beside it, as in the other methods.
    const { url, httpPath, healthPath, req, res, options, ...flat } = given;
    const resolved = resolveOptions('startHTTP', transportChecks.startHTTP, given, options, flat);
    const reply = new NodeReply(res);
    if (url.pathname === healthPath) return sendHealth(reply, this.health());
    return this.#transports.http.handle(new NodeRequest(req), reply, resolved, url.pathname === httpPath);
  }

  /**
   * Serves one request of the web platform over Streamable HTTP: Hono, Next, Deno, Bun, Workers. It serves every path, so pass it only MCP requests. Errors of the request go to the client.
   *
   * Sessions are in memory; set `serverless: true` where each request may reach another process.
   *
   * @throws `OPTIONS_INVALID`
   * @example
   * app.all('/mcp', (c) => server.fetch(c.req.raw));
   */
  async fetch(request: Request, given: FetchOptions = {}): Promise<Response> {
    checkOptions('fetch', given, transportChecks.fetch);
    const { authInfo, ...options } = given;
    const reply = new WebReply(request);
    void this.#transports.fetch.handle(new WebRequest(request, authInfo), reply, options);
    return reply.response;
  }

  /**
   * Serves one request of a `node:http` server over the older HTTP+SSE transport. Errors of the request go to the client.
   *
   * @throws `OPTIONS_INVALID`
   * @example
   * http.createServer((req, res) =>
   *   server.startSSE({ url: new URL(req.url ?? '', 'http://localhost:1234'), ssePath: '/sse', messagePath: '/message', req, res }),
   * );
   */
  async startSSE(given: StartSSEOptions): Promise<void> {
    await this.#features.sse.serve('startSSE', given);
  }

  /**
   * As {@link MCPServer.startSSE}, for Hono: pass its context and return the response. Also takes `req` and `res` of `node:http`.
   *
   * @example
   * app.all('/sse', (context) => server.startHonoSSE({ url: new URL(context.req.url), ssePath: '/sse', messagePath: '/message', context }));
   */
  async startHonoSSE<Options extends StartHonoSSEOptions>(
    given: Options,
  ): Promise<Options extends { context: unknown } ? Response : void> {
    // The cast: with `context` there is a response, without it there is none.
    type Result = Options extends { context: unknown } ? Response : void;
    return this.#features.sse.serve('startHonoSSE', given as StartSSEOptions) as Promise<Result>;
  }

  /** Opens the event stream of one client in your own route; pass its posts to {@link MCPServer.startSSE}. */
  async connectSSE(given: ConnectSSEOptions): Promise<void> {
    await this.#features.sse.serve('connectSSE', given);
  }

  /** As {@link MCPServer.connectSSE}, for Hono: return the response, and pass posts to {@link MCPServer.startHonoSSE}. */
  async connectHonoSSE(given: ConnectHonoSSEOptions): Promise<Response> {
    // The cast: the context of Hono has a response.
    return (await this.#features.sse.serve('connectHonoSSE', given)) as Response;
  }

  /**
   * Adds hooks around the requests of all transports and both eras. They run after authentication and before validation, in the order
   * of `use()`.
   *
   * @returns the server
   * @throws `OPTIONS_INVALID` for a value without hooks
   * @example
   * server.use(rateLimit({ capacity: 20, perMinute: 60 })).use(timeLimit(60_000));
   */
  use(middleware: Middleware): this {
    addMiddleware(this.#state.middleware, middleware);
    return this;
  }

  /**
   * Offers the tools, resources, templates and prompts of another server as its own. The server is reached as by `MCPClient`: connected once
   * for all callers, and again when it is needed. Requests of the server during a call, such as elicitation, go to the caller.
   *
   * The token of a caller is never passed on. `headers` of a definition receives the request context, with the caller as `mcp.extra`.
   *
   * @param name - begin of the names of tools and prompts, before `_`. Without it, they keep their names
   * @param target - `{ client, server }` for a server of an `MCPClient`, or a definition as in its `servers`
   * @returns the server, when the lists of the other one are known or it is unavailable: then it is retried automatically
   * @throws `PROXY_NAME_TAKEN` when two items have the same name or URI; `OPTIONS_INVALID`,
   *   `MCP_SERVER_UNKNOWN`
   * @example
   * await server.proxy('files', { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] });
   */
  async proxy(name: string, target: ProxyTarget, options?: ProxyOptions): Promise<this>;
  async proxy(target: ProxyTarget, options?: ProxyOptions): Promise<this>;
  async proxy(
    name: string | ProxyTarget,
    target: ProxyTarget | ProxyOptions = {},
    options: ProxyOptions = {},
  ): Promise<this> {
    await this.#features.gateway.proxy(this, name, target, options);
    return this;
  }

  /**
   * As {@link MCPServer.proxy}, for another `MCPServer` of this process. Its tools receive the identity of the caller. Closing it is up to
   * the application.
   *
   * @throws as {@link MCPServer.proxy}; `OPTIONS_INVALID` for a value that is not an `MCPServer`
   * @example
   * await server.mount('billing', billingServer);
   */
  async mount(name: string, server: MCPServer, options: ProxyOptions = {}): Promise<this> {
    await this.#features.gateway.mount(this, name, server, options);
    return this;
  }

  /**
   * Runs a function when the server closes, after its calls have ended: to end pools, watchers and clients. `close()` waits for it, at most
   * as long as for calls in flight; an error is logged. A function that is added to a closed server runs at once.
   *
   * @returns the server
   * @example
   * server.onClose(() => pool.end());
   */
  onClose(handler: () => unknown): this {
    this.#transports.onClose(handler);
    return this;
  }

  /** Returns the transport of `startStdio()`, or `undefined`. */
  getStdioTransport(): StdioServerTransport | undefined {
    const connection = this.#transports.stdio;
    return connection && { close: async () => connection.close() };
  }

  /** Returns the connection of `startSSE()` with this session id, or the newest; `undefined` when there is none. */
  getSseTransport(sessionId?: string): SSEServerTransport | undefined {
    return this.#features.sse.transport.find('startSSE', sessionId);
  }

  /** As {@link MCPServer.getSseTransport}, for `startHonoSSE()`. */
  getSseHonoTransport(sessionId?: string): SSETransport | undefined {
    return this.#features.sse.transport.find('startHonoSSE', sessionId);
  }

  /** Returns the sessions of `startHTTP()`, or `undefined` before the first request. */
  getStreamableHTTPTransport(): StreamableHTTPServerTransport | undefined {
    return this.#transports.http.transport;
  }

  /**
   * Starts an HTTP server with timeouts.
   *
   * @throws `OPTIONS_INVALID`, `PORT_IN_USE`, `LISTEN_FAILED`, `SERVER_CLOSED` after `close()`; as `createOAuthMiddleware()` for
   *   `authenticate`
   * @example
   * const { url, close } = await server.listen({ port: 3000 });
   * @example
   * await server.listen({ port: 3000, authenticate: ({ token }) => users.find(token) });
   */
  async listen(options: ListenOptions = {}): Promise<McpHttpServer> {
    return this.#transports.listen(options);
  }

  /** Returns whether the server accepts requests, and the work that it is doing. */
  health(): ServerHealth {
    return this.#transports.health();
  }

  /**
   * Prepares the end of the server, so that balancers and clients leave: `health()` reports `draining`, the responses of HTTP/1.1 end their
   * connections, and requests are served as before. Open subscriptions, and with a shared store the GET streams of sessions, end, so that
   * clients open them elsewhere. Settles when no call is in flight, or after `grace`. The server does not open again; `close()` follows.
   *
   * @throws `OPTIONS_INVALID`
   */
  async drain(options: CloseOptions = {}): Promise<void> {
    return this.#transports.drain(options);
  }

  /**
   * Drains as `drain()`, stops the servers of `listen()`, and waits for in-flight calls. Requests that come in the meantime are served:
   * among them are the responses of users that those calls wait for. Calls that do not end in time are answered with an error. Then all
   * connections and sessions end, and requests are refused with status 503. Waits as long again, at most, for work of hooks, and
   * for handlers of `onClose()`. A closed server cannot be started again.
   *
   * @throws `OPTIONS_INVALID`
   */
  async close(options: CloseOptions = {}): Promise<void> {
    return this.#transports.close(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  getServerInfo(): ServerInfo {
    return toServerInfo(this.#config, this);
  }

  getServerDetail(): ServerDetail {
    return toServerDetail(this.#config, this);
  }

  /** Returns the tools as clients see them. */
  getToolListInfo(): ToolListInfo {
    return { tools: [...this.#state.tools.values()].map(toToolInfo) };
  }

  /** Returns one tool as clients see it, or `undefined`. */
  getToolInfo(toolName: string): ToolInfo | undefined {
    const registered = this.#state.tools.get(toolName);
    return registered && toToolInfo(registered);
  }

  /**
   * Runs a tool without a client. Invalid input is returned, as `{ error: true, message, validationErrors }`.
   *
   * @returns the tool's own value
   * @throws `OPTIONS_INVALID`, `TOOL_NOT_FOUND`, and the errors of the tool
   */
  async executeTool(toolName: string, args: unknown, executionContext: ExecuteOptions = {}): Promise<unknown> {
    checkOptions('server.executeTool', executionContext, executeChecks);
    const registered = this.#state.tools.get(toolName);
    if (!registered) {
      const known = [...this.#state.tools.values()].map(({ name }) => name).join(', ');
      throw new QuiverError(
        'TOOL_NOT_FOUND',
        `MCPServer '${this.#config.name}' has no tool '${toolName}'. It has: ${known || 'none'}.`,
      );
    }
    return executeTool(registered.tool, args, { toolName, ...executionContext });
  }

  /** Returns the tools by name, also of agents and workflows. They work outside of MCP: `generateText({ model, tools: server.tools() })`. */
  tools(): Record<string, Tool> {
    // Tools of other libraries have the same members, which their types name differently.
    const tools: ToolsInput = Object.fromEntries([...this.#state.tools.values()].map(({ name, tool }) => [name, tool]));
    return tools as Record<string, Tool>;
  }
}
