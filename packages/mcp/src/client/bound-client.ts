import { QuiverError } from '@quiver/core';
import { checkOptions } from '@quiver/core/internal';
import type { ToolSearchSettings } from '@quiver/core/tool-search';
import type { Tool } from '@quiver/core/tools';
import type { CallToolResult, CompleteResult } from '../protocol/types.js';
import { forCaller, withHandlers, type Caller } from './config/caller.js';
import { complete, completeChecks, type CompleteOptions } from './features/completion.js';
import { createClientPrompts, type ClientPrompts } from './features/prompts.js';
import { createClientResources, type ClientResources } from './features/resources.js';
import type { ListOptions, SharedServers } from './remote/shared-servers.js';
import { callTool, callToolChecks, type CallToolOptions } from './tools/call-tool.js';
import { createClientTasks, type ClientTasks } from './tools/client-tasks.js';
import type { RemoteTool } from './tools/remote-tool.js';
import { toToolSet, toToolsets, type ToolCatalogue, type ToolsWithErrors } from './tools/tool-set.js';
import { createTypedServer, type ToolSignature, type TypedServer } from './tools/typed-server.js';

/** The requests of an `MCPClient`, sent for one caller: see `mcp.forRequest()`. Handlers and subscriptions are those of the client. */
export class BoundClient {
  readonly resources: ClientResources;
  readonly prompts: ClientPrompts;
  readonly tasks: ClientTasks;
  readonly #servers: SharedServers;
  readonly #caller: Caller;

  constructor(servers: SharedServers, caller: Caller) {
    this.#servers = servers;
    this.#caller = caller;
    this.resources = createClientResources(servers, caller);
    this.prompts = createClientPrompts(servers, caller);
    this.tasks = createClientTasks(servers, caller);
  }

  /**
   * Returns the tools of all servers, named `<server>_<tool>`. An unavailable server is logged; its last known tools stay. Tools that
   * are not for models (`_meta.ui.visibility` without `model`) are left out: call them by name, see {@link listToolDefinitions}.
   *
   * With `search`, settings or `true`, a model sees a search in place of many tools: see `withToolSearch` of `@quiver/core/tool-search`.
   *
   * @throws `MCP_CLIENT_GET_TOOLS_FAILED` when no server is available
   * @example
   * const tools = await mcp.listTools({ search: { pinned: ['docs_search'], over: 5000 } });
   */
  // Two overloads: the search is a tool of this process, whose type has more members than those of a remote tool.
  async listTools(
    options: ListOptions & { search: ToolSearchSettings | true },
  ): Promise<Record<string, RemoteTool | Tool>>;
  async listTools(options?: ListOptions): Promise<Record<string, RemoteTool>>;
  async listTools({ search, ...options }: ListOptions & { search?: ToolSearchSettings | boolean } = {}): Promise<
    Record<string, RemoteTool | Tool>
  > {
    const catalog = await this.#requireDefinitions('MCP_CLIENT_GET_TOOLS_FAILED', options);
    const tools = toToolSet(this.#servers, catalog, this.#caller);
    if (!search) return tools;
    const { withToolSearch } = await import('@quiver/core/tool-search');
    return withToolSearch(tools, search === true ? {} : search);
  }

  /**
   * Returns the tools by server: `{ <server>: { <tool>: … } }`. Otherwise as {@link listTools}.
   *
   * @throws `MCP_CLIENT_GET_TOOLSETS_FAILED` when no server is available
   */
  async listToolsets(options?: ListOptions): Promise<Record<string, Record<string, RemoteTool>>> {
    const catalog = await this.#requireDefinitions('MCP_CLIENT_GET_TOOLSETS_FAILED', options);
    return toToolsets(this.#servers, catalog, this.#caller);
  }

  /** As {@link listTools}, with the reasons instead of a log line, and never rejecting because of a server. */
  async listToolsWithErrors(options: ListOptions = {}): Promise<ToolsWithErrors> {
    const { data, ...rest } = await this.#servers.list('tools/list', forCaller(this.#caller, options));
    return { tools: toToolSet(this.#servers, data, this.#caller), ...rest };
  }

  /** @deprecated Use {@link listTools}. */
  getTools(options?: ListOptions): Promise<Record<string, RemoteTool>> {
    return this.listTools(options);
  }

  /** @deprecated Use {@link listToolsets}. */
  getToolsets(options?: ListOptions): Promise<Record<string, Record<string, RemoteTool>>> {
    return this.listToolsets(options);
  }

  /**
   * Returns all tools as plain data, to store in a file or a database and to create tools from with {@link toolsFromDefinitions}.
   *
   * @throws `MCP_CLIENT_GET_TOOLS_FAILED` when no server is available
   */
  listToolDefinitions(options?: ListOptions): Promise<ToolCatalogue> {
    return this.#requireDefinitions('MCP_CLIENT_GET_TOOLS_FAILED', options);
  }

  /**
   * Creates tools from stored definitions without a request: a server is connected when one of its tools is called.
   *
   * @throws `MCP_SERVER_UNKNOWN` for a server that is not configured
   */
  toolsFromDefinitions(catalogue: ToolCatalogue): Record<string, RemoteTool> {
    return toToolSet(this.#servers, catalogue, this.#caller);
  }

  /**
   * Calls a tool directly. An error result is returned, with `isError: true`.
   *
   * @throws `MCP_REQUEST_TIMEOUT`; otherwise `MCP_CLIENT_TOOL_EXECUTION_FAILED`, and `details.reason` is the code of the cause, for example
   *   `MCP_CONNECTION_CLOSED`. The signal's reason when it fires.
   * @example
   * const { content } = await mcp.callTool({ serverName: 'files', name: 'read_file', args: { path: 'a.txt' }, timeout: 5000 });
   */
  async callTool(given: CallToolOptions): Promise<CallToolResult> {
    checkOptions('mcp.callTool', given, callToolChecks);
    const { serverName, ...options } = withHandlers(this.#caller, given);
    return this.#servers.run('TOOL_EXECUTION', serverName, (server) => callTool(server, options), options.signal);
  }

  /**
   * Returns the tools of one server as methods by their names, typed by an interface that `npx @quiver/devtools types` writes. Sends what
   * {@link callTool} sends. A method returns the structured content of the result; otherwise the whole result with its `content`. The
   * client checks neither the input nor the output: the types are what the server declared.
   *
   * @throws `MCP_SERVER_UNKNOWN`. Methods reject with a `RemoteToolError` for an error result, and with the errors of {@link callTool}
   * @example
   * interface Weather { forecast: { input: { city: string }; output: { celsius: number } } }
   * const { celsius } = await mcp.server<Weather>('weather').forecast({ city: 'Oslo' });
   */
  server<Tools extends { [Name in keyof Tools]: ToolSignature }>(serverName: string): TypedServer<Tools> {
    this.#servers.require(serverName);
    // The names of the methods are known to the types only.
    return createTypedServer(serverName, (options) => this.callTool(options)) as TypedServer<Tools>;
  }

  /** Returns suggestions for an argument of a prompt or a variable of a resource template. @throws `OPTIONS_INVALID`, `MCP_CLIENT_COMPLETE_FAILED` */
  async complete(given: CompleteOptions): Promise<CompleteResult['completion']> {
    checkOptions('mcp.complete', given, completeChecks);
    const { serverName, ...options } = forCaller(this.#caller, given);
    return this.#servers.run('COMPLETE', serverName, (server) => complete(server, options), options.signal);
  }

  async #requireDefinitions(code: string, options: ListOptions = {}): Promise<ToolCatalogue> {
    const answers = await this.#servers.list('tools/list', forCaller(this.#caller, options));
    const { data, errors, errorDetails } = answers;
    const reasons = Object.values(errors);
    if (reasons.length > 0 && Object.keys(data).length === 0 && reasons.length === this.#servers.byName.size) {
      throw new QuiverError(code, `Could not list the tools of any MCP server. ${reasons.join(' ')}`, {
        // The message contains the texts.
        details: { reasons: Object.fromEntries(Object.entries(errorDetails).map(([name, { code }]) => [name, code])) },
      });
    }
    this.#servers.logMissing('Tools', answers);
    return data;
  }
}
