import { getDefaultLogger, QuiverError, toErrorMessage } from '@quiver/core';
import { toToolName } from '../tool-name.js';
import type { ProtocolTool } from '../protocol/client-types.js';
import { findLiveClient, registerLiveClient, releaseLiveClient } from './live-clients.js';
import { createRemoteTool, type RemoteTool } from './remote-tool.js';
import { ServerConnection } from './server-connection.js';
import { parseServerDefinition, type LoggingLevel, type MastraMCPServerDefinition } from './server-definition.js';
import { isSameConfiguration } from './same-configuration.js';

export interface MCPClientOptions {
  /** Tells clients of the same configuration apart. */
  id?: string;
  /** The servers by the name their tools are prefixed with. */
  servers: Record<string, MastraMCPServerDefinition>;
  /** Milliseconds one request may take. Default 60 000. */
  timeout?: number;
}

/** Tools of the servers that answered, and why the others did not. */
export interface ToolsWithErrors<Tools> {
  tools: Tools;
  /** The reason per server that could not be asked. */
  errors: Record<string, string>;
  errorDetails: Record<string, { message: string; code?: string }>;
}

const defaultTimeout = 60_000;

/**
 * Connects to any number of MCP servers and offers their tools as one set. Servers are connected when they are first needed,
 * in parallel, and a server that is down does not take the others with it.
 *
 * @example
 * await using mcp = new MCPClient({
 *   servers: {
 *     files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] },
 *     weather: { url: 'https://weather.example/mcp' },
 *   },
 * });
 * const tools = await mcp.listTools(); // { files_read_file, weather_forecast, ... }
 */
export class MCPClient {
  readonly id: string | undefined;
  /** What the client was made of; decides whether another one repeats it. */
  readonly configuration!: Readonly<MCPClientOptions>;
  readonly #connections!: ReadonlyMap<string, ServerConnection>;
  #disconnecting: Promise<void> | undefined;

  /**
   * With the id and the configuration of a live client, that client is returned. With the id and another configuration, the
   * old client is disconnected.
   *
   * @throws `MCP_CLIENT_DUPLICATE` without id, when a live client has the same configuration
   * @throws `SERVER_DEFINITION_INVALID`
   */
  constructor(options: MCPClientOptions) {
    const { id, servers, timeout = defaultTimeout } = options;
    this.id = id;
    const known = findLiveClient<MCPClient>(id, options);
    if (known && isSameConfiguration(known.configuration, options)) return known;
    if (known) void known.disconnect();
    this.configuration = options;
    this.#connections = new Map(
      Object.entries(servers).map(([name, definition]) => [
        name,
        createConnection(name, definition, definition.timeout ?? timeout),
      ]),
    );
    registerLiveClient(this);
  }

  /**
   * The tools of all servers, named `<server>_<tool>`. A server that cannot be asked is logged and left out.
   *
   * @throws `MCP_CLIENT_GET_TOOLS_FAILED` when no server could be asked
   */
  async listTools(): Promise<Record<string, RemoteTool>> {
    const { tools, errors } = await this.listToolsWithErrors();
    this.#reportErrors(errors);
    return tools;
  }

  /**
   * The tools by server: `{ <server>: { <tool>: … } }`. A server that cannot be asked is logged and left out.
   *
   * @throws `MCP_CLIENT_GET_TOOLSETS_FAILED` when no server could be asked
   */
  async listToolsets(): Promise<Record<string, Record<string, RemoteTool>>> {
    const { tools, errors } = await this.listToolsetsWithErrors();
    this.#reportErrors(errors, 'MCP_CLIENT_GET_TOOLSETS_FAILED');
    return tools;
  }

  /** As {@link listTools}, with the reasons instead of a log line, and never rejecting because of a server. */
  async listToolsWithErrors(): Promise<ToolsWithErrors<Record<string, RemoteTool>>> {
    const { lists, ...errors } = await this.#listAll();
    const tools: Record<string, RemoteTool> = {};
    const taken = new Set<string>();
    for (const [connection, list] of lists) {
      for (const tool of list) {
        const id = toToolName(connection.name, tool.name, taken);
        taken.add(id);
        tools[id] = this.#toRemoteTool(connection, id, tool);
      }
    }
    return { tools, ...errors };
  }

  /** As {@link listToolsets}, with the reasons instead of a log line, and never rejecting because of a server. */
  async listToolsetsWithErrors(): Promise<ToolsWithErrors<Record<string, Record<string, RemoteTool>>>> {
    const { lists, ...errors } = await this.#listAll();
    const tools: Record<string, Record<string, RemoteTool>> = {};
    for (const [connection, list] of lists) {
      tools[connection.name] = Object.fromEntries(
        list.map((tool) => [
          tool.name,
          this.#toRemoteTool(connection, toToolName(connection.name, tool.name, new Set()), tool),
        ]),
      );
    }
    return { tools, ...errors };
  }

  /** @deprecated Use {@link listTools}. */
  getTools(): Promise<Record<string, RemoteTool>> {
    return this.listTools();
  }

  /** @deprecated Use {@link listToolsets}. */
  getToolsets(): Promise<Record<string, Record<string, RemoteTool>>> {
    return this.listToolsets();
  }

  /** Ends all connections and the processes behind them. Calls at the same time share the work. */
  disconnect(): Promise<void> {
    this.#disconnecting ??= Promise.all(
      [...this.#connections.values()].map((connection) => connection.disconnect()),
    ).then(() => {
      releaseLiveClient(this);
      this.#disconnecting = undefined;
      return undefined;
    });
    return this.#disconnecting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
  }

  async #listAll(): Promise<{ lists: [ServerConnection, ProtocolTool[]][] } & Omit<ToolsWithErrors<never>, 'tools'>> {
    const connections = [...this.#connections.values()];
    const outcomes = await Promise.allSettled(connections.map((connection) => connection.listTools()));
    const lists: [ServerConnection, ProtocolTool[]][] = [];
    const errors: Record<string, string> = {};
    const errorDetails: Record<string, { message: string; code?: string }> = {};
    for (const [index, outcome] of outcomes.entries()) {
      const connection = connections[index] as ServerConnection;
      if (outcome.status === 'fulfilled') {
        lists.push([connection, outcome.value]);
      } else {
        const message = toErrorMessage(outcome.reason);
        const code = outcome.reason instanceof QuiverError ? outcome.reason.code : undefined;
        errors[connection.name] = message;
        errorDetails[connection.name] = { message, ...(code !== undefined && { code }) };
      }
    }
    return { lists, errors, errorDetails };
  }

  #toRemoteTool(connection: ServerConnection, id: string, tool: ProtocolTool): RemoteTool {
    return createRemoteTool({
      serverName: connection.name,
      id,
      tool,
      onToolError: this.configuration.servers[connection.name]?.onToolError ?? 'throw',
      call: (args, options) => connection.callTool(tool.name, args, options),
    });
  }

  #reportErrors(errors: Record<string, string>, code = 'MCP_CLIENT_GET_TOOLS_FAILED'): void {
    const failed = Object.entries(errors);
    if (failed.length === 0) return;
    if (failed.length === this.#connections.size) {
      throw new QuiverError(
        code,
        `No MCP server could be asked for its tools. ${failed.map(([, reason]) => reason).join(' ')}`,
        {
          details: { errors },
        },
      );
    }
    for (const [, reason] of failed) getDefaultLogger().error(`Tools are missing. ${reason}`);
  }
}

function createConnection(name: string, definition: MastraMCPServerDefinition, timeout: number): ServerConnection {
  const handler = definition.logger ?? definition.log;
  const log = (level: LoggingLevel, message: string, details?: unknown): void => {
    handler?.({
      level,
      message: `[${name}] ${message}`,
      timestamp: new Date(),
      serverName: name,
      ...(details !== undefined && { details }),
    });
  };
  return new ServerConnection({ name, target: parseServerDefinition(name, definition), timeout, log });
}
