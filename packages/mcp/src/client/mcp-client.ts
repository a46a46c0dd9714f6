import { QuiverError } from '@quiver/core';
import { anyValue, checkOptions, valueThat, type OptionChecks } from '@quiver/core/options';
import type { ResultLimit } from '@quiver/core/tools';
import type { CallToolResult, CompleteResult, Root } from '../protocol/types.js';
import { isObject } from '../protocol/json-rpc.js';
import { clientInfoCheck, type ClientInfo } from './config/client-info.js';
import { rootList } from './config/definition-options.js';
import type { ElicitationHandler, ProgressUpdate } from './config/handlers.js';
import type { ServerDefinition } from './config/server-definition.js';
import { createApplication } from './features/application.js';
import { complete, completeChecks, type CompleteOptions } from './features/completion.js';
import { createClientPrompts, type ClientPrompts } from './features/prompts.js';
import { createClientResources, type ClientResources } from './features/resources.js';
import { RemoteServer, type ServerStatus } from './server/remote-server.js';
import { askServers, logMissing, SharedServers, type ListOptions } from './server/shared-servers.js';
import type { DefinitionChanges } from './server/tool-definitions.js';
import { callTool, callToolChecks, type CallToolOptions } from './tools/call-tool.js';
import { createClientTasks, type ClientTasks } from './tools/client-tasks.js';
import type { RemoteTool } from './tools/remote-tool.js';
import { toToolSet, toToolsets, type ToolCatalogue, type ToolsWithErrors } from './tools/tool-set.js';
import { resolveOAuthOptions } from './transports/http-options.js';

/** Options of `MCPClient`. */
export interface MCPClientOptions {
  /** Identity of this client among clients of the same configuration. */
  id?: string;
  /** Server definitions by server name. The name is the prefix of tool names. */
  servers: Record<string, ServerDefinition>;
  /** Milliseconds that one request may take; 0 for no limit. Default 60 000. */
  timeout?: number;
  /** Name and version that servers receive. Default: name and version of Quiver. */
  clientInfo?: ClientInfo;
  /** Limit of the text of results that models receive, for servers whose definition has none. Default: no limit. */
  resultLimit?: ResultLimit;
}

const defaultTimeout = 60_000;

const milliseconds = valueThat(
  (value) => typeof value === 'number' && value >= 0,
  'a number of milliseconds of at least 0',
);

const authenticateChecks: OptionChecks<AuthenticateServerOptions> = { scope: anyValue, timeout: milliseconds };
const rootChecks: OptionChecks<{ roots: Root[] }> = { roots: rootList };
const instructionChecks: OptionChecks<{ maxLength?: number }> = {
  maxLength: valueThat((value) => typeof value === 'number' && value >= 0, 'a number of at least 0'),
};

const clientChecks: OptionChecks<MCPClientOptions> = {
  id: anyValue,
  servers: valueThat(isObject, 'an object with one definition per server name'),
  timeout: milliseconds,
  clientInfo: clientInfoCheck,
  resultLimit: anyValue,
};

/** Options of `mcp.authenticate()`. */
export interface AuthenticateServerOptions {
  /** Scopes to request, even when the stored tokens are valid. Default: the scopes that the server names. */
  scope?: string;
  /** Milliseconds until the authorization response must arrive. Default 300 000. */
  timeout?: number;
}

/** One use of a client's connections. */
export interface ClientLease extends AsyncDisposable {
  /** Ends the connections, unless there are other users. */
  release(): Promise<void>;
}

/**
 * Connects to any number of MCP servers and offers their tools as one set, with their resources and prompts. Servers are connected
 * when they are first needed, in parallel, and a server that is down does not take the others with it.
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
export class MCPClient implements AsyncDisposable {
  readonly id: string | undefined;
  readonly resources: ClientResources;
  readonly prompts: ClientPrompts;
  readonly tasks: ClientTasks;
  readonly tools: {
    /** Sets the handler for changes of a server's list of tools. */
    onListChanged(serverName: string, handler: () => void): Promise<void>;
    /** Sets the handler for changed tool definitions, called when the tools are listed again. */
    onDefinitionsChanged(serverName: string, handler: (changes: DefinitionChanges) => void): Promise<void>;
  };
  readonly elicitation: {
    /**
     * Sets the handler for elicitation requests of a server. Set it before the server is used: a connected server is
     * connected again, because the capability is declared when it connects.
     *
     * @throws `MCP_CLIENT_ON_REQUEST_ELICITATION_FAILED`
     */
    onRequest(serverName: string, handler: ElicitationHandler): Promise<void>;
  };
  readonly progress: {
    /** Sets the handler for progress of a server's calls. @throws `MCP_CLIENT_ON_UPDATE_PROGRESS_FAILED` */
    onUpdate(serverName: string, handler: (params: ProgressUpdate) => void): Promise<void>;
  };
  readonly #servers: SharedServers;

  /**
   * Clients with the same `id` and the same configuration share their connections, and the last one that disconnects ends them. With
   * the same `id` and another configuration, the connections of the previous client are ended.
   *
   * @throws `MCP_CLIENT_DUPLICATE` without id, when a live client has the same configuration
   * @throws `MCP_CLIENT_OPTIONS_INVALID`, `SERVER_DEFINITION_INVALID`
   */
  constructor(options: MCPClientOptions) {
    checkOptions('MCPClient', options, clientChecks, { code: 'MCP_CLIENT_OPTIONS_INVALID' });
    const { id, servers, timeout = defaultTimeout, clientInfo, resultLimit } = options;
    if (servers === undefined)
      throw new QuiverError('MCP_CLIENT_OPTIONS_INVALID', 'MCPClient needs `servers`, with one definition per name.');
    this.id = id;
    this.#servers = SharedServers.for(options, () => {
      const created = Object.entries(servers).map(
        ([name, definition]) =>
          new RemoteServer({ name, definition, timeout, clientInfo, resultLimit, createApplication }),
      );
      return new Map(created.map((server) => [server.name, server]));
    });
    this.#servers.acquire(this);
    this.resources = createClientResources(this.#servers);
    this.prompts = createClientPrompts(this.#servers);
    this.tasks = createClientTasks(this.#servers);
    this.tools = {
      onListChanged: (serverName, handler) =>
        this.#servers.run('ON_LIST_CHANGED_TOOL', serverName, (server) => server.setListHandler('tools', handler)),
      onDefinitionsChanged: (serverName, handler) =>
        this.#servers.run('ON_LIST_CHANGED_TOOL', serverName, async (server) => {
          server.onDefinitionsChanged = handler;
        }),
    };
    this.elicitation = {
      onRequest: (serverName, handler) =>
        this.#servers.run('ON_REQUEST_ELICITATION', serverName, async ({ handlers }) => {
          handlers.elicitation = handler;
        }),
    };
    this.progress = {
      onUpdate: (serverName, handler) =>
        this.#servers.run('ON_UPDATE_PROGRESS', serverName, async ({ handlers }) => {
          handlers.onProgress = handler;
        }),
    };
  }

  /**
   * Returns the tools of all servers, named `<server>_<tool>`. An unavailable server is logged; its last known tools stay. Tools that
   * are not for models (`_meta.ui.visibility` without `model`) are left out: call them by name, see {@link listToolDefinitions}.
   *
   * @throws `MCP_CLIENT_GET_TOOLS_FAILED` when no server is available
   */
  async listTools(): Promise<Record<string, RemoteTool>> {
    return toToolSet(this.#servers, await this.#requireDefinitions('MCP_CLIENT_GET_TOOLS_FAILED'));
  }

  /**
   * Returns the tools by server: `{ <server>: { <tool>: … } }`. Otherwise as {@link listTools}.
   *
   * @throws `MCP_CLIENT_GET_TOOLSETS_FAILED` when no server is available
   */
  async listToolsets(): Promise<Record<string, Record<string, RemoteTool>>> {
    return toToolsets(this.#servers, await this.#requireDefinitions('MCP_CLIENT_GET_TOOLSETS_FAILED'));
  }

  /** As {@link listTools}, with the reasons instead of a log line, and never rejecting because of a server. */
  async listToolsWithErrors(options: ListOptions = {}): Promise<ToolsWithErrors<Record<string, RemoteTool>>> {
    const { data, ...rest } = await this.#servers.list('tools/list', options);
    return { tools: toToolSet(this.#servers, data), ...rest };
  }

  /** As {@link listToolsets}, with the reasons instead of a log line, and never rejecting because of a server. */
  async listToolsetsWithErrors(
    options: ListOptions = {},
  ): Promise<ToolsWithErrors<Record<string, Record<string, RemoteTool>>>> {
    const { data, ...rest } = await this.#servers.list('tools/list', options);
    return { tools: toToolsets(this.#servers, data), ...rest };
  }

  /** @deprecated Use {@link listTools}. */
  getTools(): Promise<Record<string, RemoteTool>> {
    return this.listTools();
  }

  /** @deprecated Use {@link listToolsets}. */
  getToolsets(): Promise<Record<string, Record<string, RemoteTool>>> {
    return this.listToolsets();
  }

  /**
   * Returns all tools as plain data, to store in a file or a database and to create tools from with {@link toolsFromDefinitions}.
   *
   * @throws `MCP_CLIENT_GET_TOOLS_FAILED` when no server is available
   */
  listToolDefinitions(): Promise<ToolCatalogue> {
    return this.#requireDefinitions('MCP_CLIENT_GET_TOOLS_FAILED');
  }

  /**
   * Creates tools from stored definitions without a request: a server is connected when one of its tools is called.
   *
   * @throws `MCP_SERVER_UNKNOWN` for a server that is not configured
   */
  toolsFromDefinitions(catalogue: ToolCatalogue): Record<string, RemoteTool> {
    return toToolSet(this.#servers, catalogue);
  }

  /**
   * Calls a tool directly. An error result is returned, with `isError: true`.
   *
   * @throws `MCP_CLIENT_TOOL_EXECUTION_FAILED`; `details.reason` is the code of the cause, for example `MCP_REQUEST_TIMEOUT`. The signal's
   *   reason when it fires.
   * @example
   * const { content } = await mcp.callTool({ serverName: 'files', name: 'read_file', args: { path: 'a.txt' }, timeout: 5000 });
   */
  async callTool(given: CallToolOptions): Promise<CallToolResult> {
    checkOptions('mcp.callTool', given, callToolChecks);
    const { serverName, ...options } = given;
    return this.#servers.run('TOOL_EXECUTION', serverName, (server) => callTool(server, options), options.signal);
  }

  /** Returns suggestions for an argument of a prompt or a variable of a resource template. @throws `OPTIONS_INVALID`, `MCP_CLIENT_COMPLETE_FAILED` */
  async complete(given: CompleteOptions): Promise<CompleteResult['completion']> {
    checkOptions('mcp.complete', given, completeChecks);
    const { serverName, ...options } = given;
    return this.#servers.run('COMPLETE', serverName, (server) => complete(server, options), options.signal);
  }

  /** Replaces the roots of a server, and notifies it. @throws `OPTIONS_INVALID`, `MCP_CLIENT_SET_ROOTS_FAILED` */
  async setRoots(serverName: string, roots: Root[]): Promise<void> {
    checkOptions('mcp.setRoots', { roots }, rootChecks);
    return this.#servers.run('SET_ROOTS', serverName, (server) => server.setRoots(roots));
  }

  /** Returns the connection status of each server, without a request. */
  status(): Record<string, ServerStatus> {
    return this.#perServer((server) => server.status());
  }

  /** Session ids of the servers that have one. */
  get sessionIds(): Record<string, string> {
    return this.#perServer(({ sessionId }) => sessionId);
  }

  /**
   * Returns the `instructions` of each server. They come from the server: show or forward them as such. Connects servers that are not
   * connected.
   *
   * @param maxLength - characters per server; the rest is cut. Default 512
   */
  async getServerInstructions(options: { maxLength?: number } = {}): Promise<Record<string, string>> {
    checkOptions('mcp.getServerInstructions', options, instructionChecks);
    return askForInstructions(this.#servers.byName.values(), options);
  }

  /**
   * Returns text for a model's instructions: those of the servers with `includeInstructions`, each introduced by the server's name,
   * because they come from the server. Connects servers that are not connected.
   *
   * @param maxLength - characters per server. Default 512
   * @returns `undefined` when no such server has instructions
   */
  async getInstructions(options: { maxLength?: number } = {}): Promise<string | undefined> {
    checkOptions('mcp.getInstructions', options, instructionChecks);
    const included = [...this.#servers.byName.values()].filter(
      ({ options: { includeInstructions } }) => includeInstructions,
    );
    const instructions = Object.entries(await askForInstructions(included, options));
    if (instructions.length === 0) return undefined;
    return instructions.map(([name, text]) => `Instructions of the MCP server '${name}':\n${text}`).join('\n\n');
  }

  /** Returns the protocol version of each connected server. */
  getServerProtocolVersions(): Record<string, string> {
    return this.#perServer((server) => server.status().protocolVersion);
  }

  /** Returns the standard error of a server's process, also after a failed connection; of a long text the beginning and the end. */
  getServerStderr(serverName: string): string | undefined {
    return this.#servers.require(serverName).stderr;
  }

  /**
   * Signs the user in to a server with an `authProvider`, for command-line applications: waits on the provider's redirect URL and
   * shows the sign-in page. Shows nothing while the server takes the tokens there are.
   *
   * @throws `MCP_CLIENT_AUTHENTICATE_FAILED`; `details.reason` is the code of the cause, for example `OAUTH_SIGN_IN_TIMEOUT`
   */
  async authenticate(serverName: string, options: AuthenticateServerOptions = {}): Promise<void> {
    checkOptions('mcp.authenticate', options, authenticateChecks);
    return this.#servers.run('AUTHENTICATE', serverName, async ({ target }) => {
      const { authenticate } = await import('../auth/client/authenticate.js');
      const oauth = target.kind === 'http' ? await resolveOAuthOptions(target.definition, target.url) : undefined;
      if (!oauth) {
        throw new QuiverError(
          'OAUTH_PROVIDER_MISSING',
          `Cannot sign in to MCP server '${serverName}': its definition has no \`authProvider\`. Set \`auth: 'oauth'\`, or pass \`createLoopbackProvider()\` or \`new MCPOAuthClientProvider()\`.`,
        );
      }
      await authenticate({ ...options, ...oauth });
    });
  }

  /** Closes the connection to a server and opens another. @throws `MCP_CLIENT_RECONNECT_FAILED` */
  reconnectServer(serverName: string): Promise<void> {
    return this.#servers.run('RECONNECT', serverName, (server) => server.reconnect());
  }

  /**
   * Keeps the connections open until the lease is released, also when another user of this client disconnects.
   *
   * @example
   * await using lease = mcp.acquire();
   * await mcp.callTool({ serverName: 'files', name: 'index' }); // not ended by another user's `mcp.disconnect()`
   */
  acquire(): ClientLease {
    const lease: ClientLease = {
      release: () => this.#servers.release(lease),
      [Symbol.asyncDispose]: () => this.#servers.release(lease),
    };
    this.#servers.acquire(lease);
    return lease;
  }

  /**
   * Ends all connections and the processes behind them, unless there are leases or other clients that share them. The next request
   * connects again.
   */
  disconnect(): Promise<void> {
    return this.#servers.release(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
  }

  #perServer<Value>(valueOf: (server: RemoteServer) => Value | undefined): Record<string, Value> {
    const entries = [...this.#servers.byName].map(([name, server]) => [name, valueOf(server)] as const);
    return Object.fromEntries(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined));
  }

  async #requireDefinitions(code: string): Promise<ToolCatalogue> {
    const { data, errors } = await this.#servers.list('tools/list');
    const reasons = Object.values(errors);
    if (reasons.length > 0 && Object.keys(data).length === 0 && reasons.length === this.#servers.byName.size) {
      throw new QuiverError(code, `Could not list the tools of any MCP server. ${reasons.join(' ')}`, {
        details: { errors },
      });
    }
    logMissing('Tools', errors);
    return data;
  }
}

async function askForInstructions(
  servers: Iterable<RemoteServer>,
  { maxLength = 512 }: { maxLength?: number },
): Promise<Record<string, string>> {
  const { data, errors } = await askServers(servers, async (server) => ({
    answer: (await server.connect()).server.instructions ?? '',
  }));
  logMissing('Instructions', errors);
  const entries = Object.entries(data).filter(([, text]) => text !== '');
  return Object.fromEntries(entries.map(([name, text]) => [name, text.slice(0, maxLength)]));
}
