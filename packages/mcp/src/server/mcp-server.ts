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
import type { StartHTTPOptions } from './transports/http-options.js';
import type { ListenOptions, McpHttpServer } from './transports/listen.js';
import { ServedTransports, type CloseOptions, type FetchOptions } from './transports/served-transports.js';
import type {
  SSEServerTransport,
  SSETransport,
  StdioServerTransport,
  StreamableHTTPServerTransport,
} from './transports/server-transports.js';
import type {
  ConnectHonoSSEOptions,
  ConnectSSEOptions,
  StartHonoSSEOptions,
  StartSSEOptions,
} from './transports/sse-options.js';

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
  readonly name: string;
  readonly version: string;
  readonly description: string | undefined;
  /** ISO 8601. */
  readonly releaseDate: string;
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
  readonly #transports: ServedTransports;

  /** @throws `SERVER_CONFIG_INVALID`, `AGENT_DESCRIPTION_MISSING`, `WORKFLOW_DESCRIPTION_MISSING` */
  constructor(config: MCPServerConfig) {
    this.#definition = createServerDefinition(config);
    this.id = config.id ?? crypto.randomUUID();
    this.#config = config;
    this.name = config.name;
    this.version = config.version;
    this.description = config.description;
    this.releaseDate = config.releaseDate ?? new Date().toISOString();
    this.#transports = new ServedTransports(this.#definition);
    this.toolActions = createToolActions(this.#definition);
    this.resources = createResourceActions(this.#definition);
    this.prompts = createPromptActions(this.#definition);
    this.elicitation = createElicitationActions(this.#definition);
  }

  /**
   * Serves one client over standard input and output. From here on standard output belongs to the protocol: whatever else is
   * written to it, `console.log` included, goes to standard error.
   *
   * @throws `SERVER_ALREADY_STARTED` when stdio is being served already, `SERVER_CLOSED` after `close()`
   */
  async startStdio(): Promise<void> {
    await this.#transports.startStdio();
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
  async startHTTP(options: StartHTTPOptions): Promise<void> {
    await this.#transports.startHTTP(options);
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
    return this.#transports.fetch(request, options);
  }

  /**
   * Answers one request of your own `node:http` server over the older HTTP+SSE transport. Never rejects.
   *
   * @example
   * http.createServer((req, res) =>
   *   server.startSSE({ url: new URL(req.url ?? '', 'http://localhost:1234'), ssePath: '/sse', messagePath: '/message', req, res }),
   * );
   */
  async startSSE(options: StartSSEOptions): Promise<void> {
    await this.#transports.startSSE(options);
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
    // With `context` there is a response, without it there is none.
    return (await this.#transports.startHonoSSE(options)) as Options extends { context: unknown } ? Response : void;
  }

  /** Opens the event stream of one client, where you do the routing; hand its posts to {@link MCPServer.startSSE}. */
  async connectSSE(options: ConnectSSEOptions): Promise<void> {
    this.#transports.connectSSE(options);
  }

  /** As {@link MCPServer.connectSSE}, for Hono: return the response, and hand posts to {@link MCPServer.startHonoSSE}. */
  async connectHonoSSE(options: ConnectHonoSSEOptions): Promise<Response> {
    return this.#transports.connectHonoSSE(options);
  }

  /** What `startStdio()` serves, or `undefined`. */
  getStdioTransport(): StdioServerTransport | undefined {
    return this.#transports.getStdio();
  }

  /** The connection of `startSSE()` with this session id, or the newest; `undefined` when there is none. */
  getSseTransport(sessionId?: string): SSEServerTransport | undefined {
    return this.#transports.getSse('node', sessionId);
  }

  /** As {@link MCPServer.getSseTransport}, for `startHonoSSE()`. */
  getSseHonoTransport(sessionId?: string): SSETransport | undefined {
    return this.#transports.getSse('hono', sessionId);
  }

  /** What `startHTTP()` serves, or `undefined` before the first request. */
  getStreamableHTTPTransport(): StreamableHTTPServerTransport | undefined {
    return this.#transports.getStreamableHTTP();
  }

  /**
   * Starts an HTTP server of its own, with sane time-outs.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `SERVER_CLOSED` after `close()`
   * @example
   * const { url, close } = await server.listen({ port: 3000 });
   */
  async listen(options: ListenOptions = {}): Promise<McpHttpServer> {
    return this.#transports.listen(options);
  }

  /**
   * Takes no new requests, lets running calls finish, then ends all connections and sessions and stops the servers that
   * `listen()` started. For good: the server answers nothing afterwards.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    await this.#transports.close(options);
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
      version_detail: { version, release_date: this.releaseDate, is_latest: isLatest },
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
