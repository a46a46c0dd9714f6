import { randomUUID } from 'node:crypto';
import { getDefaultLogger, QuiverError } from '@quiver/core';
import { executeTool, getToolId } from '@quiver/core/tools';
import { createRequestStateCodec } from './modern/request-state.js';
import type { MCPServerConfig, ServerDetail, ServerInfo, ToolInfo, ToolListInfo } from './server-config.js';
import type { ServerDefinition } from './server-definition.js';
import { ToolRegistry, type RegisteredTool, type ToolsInput } from './tool-registry.js';
import { HttpEndpoint } from './transports/http-endpoint.js';
import type { StartHTTPOptions } from './transports/http-options.js';
import { listen, type ListenOptions, type McpHttpServer } from './transports/listen.js';
import { serveProcessStdio } from './transports/process-stdio.js';
import type { StdioConnection } from './transports/stdio.js';

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
  readonly #config: MCPServerConfig;
  readonly #definition: ServerDefinition;
  readonly #releaseDate: string;
  readonly #http: HttpEndpoint;
  readonly #listening = new Set<McpHttpServer>();
  #stdio: StdioConnection | undefined;

  /** @throws `SERVER_CONFIG_INVALID` without name or version */
  constructor(config: MCPServerConfig) {
    const { name, version, instructions, tools, logger = getDefaultLogger() } = config;
    if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '') {
      throw new QuiverError(
        'SERVER_CONFIG_INVALID',
        'MCPServer needs a name and a version: both are shown to every client.',
      );
    }
    this.id = config.id ?? randomUUID();
    this.#config = config;
    this.#releaseDate = config.releaseDate ?? new Date().toISOString();
    this.#definition = {
      serverInfo: { name, version },
      instructions,
      capabilities: { tools: {}, logging: {} },
      tools: new ToolRegistry(tools, logger),
      requestState: createRequestStateCodec(config.requestState),
      peers: new Set(),
      logger,
    };
    this.#http = new HttpEndpoint(this.#definition);
  }

  /**
   * Serves one client over standard input and output. From here on standard output belongs to the protocol: whatever else is
   * written to it, `console.log` included, goes to standard error.
   *
   * @throws `SERVER_ALREADY_STARTED` when stdio is being served already
   */
  async startStdio(): Promise<void> {
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
  async startHTTP(options: StartHTTPOptions): Promise<void> {
    await this.#http.handle(options);
  }

  /**
   * Starts an HTTP server of its own, with sane time-outs.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`
   * @example
   * const { url, close } = await server.listen({ port: 3000 });
   */
  async listen(options: ListenOptions = {}): Promise<McpHttpServer> {
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

  /** Ends all connections and sessions, and stops the servers that `listen()` started. */
  async close(): Promise<void> {
    this.#stdio?.close();
    this.#http.close();
    await Promise.all([...this.#listening].map((running) => running.close()));
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

function toToolInfo({ name, tool, listed }: RegisteredTool): ToolInfo {
  const { description, inputSchema, outputSchema } = listed;
  return {
    id: getToolId(tool) ?? name,
    name,
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    toolType: 'tool',
  };
}
