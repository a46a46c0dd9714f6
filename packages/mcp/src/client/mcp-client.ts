import { QuiverError } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  functionValue,
  type OptionChecks,
  valueThat,
  invalidOptions,
  required,
} from '@quiver/core/internal';
import type { AnyRequestContext, ResultLimit } from '@quiver/core/tools';
import type { Root } from '../protocol/types.js';
import { isObject } from '../protocol/json-rpc.js';
import { BoundClient } from './bound-client.js';
import { callerChecks, type CallerHandlers } from './config/caller.js';
import { clientInfoCheck, type ClientInfo } from './config/client-info.js';
import { rootList } from './config/definition-options.js';
import type { ElicitationHandler, ProgressUpdate } from './config/handlers.js';
import type { ServerDefinition } from './config/server-definition.js';
import { createApplication } from './features/application.js';
import type { Identity } from './remote/list-cache.js';
import { RemoteServer } from './remote/remote-server.js';
import type { ServerStatus } from './remote/server-connection.js';
import { askServers, SharedServers } from './remote/shared-servers.js';
import type { DefinitionChanges } from './remote/tool-definitions.js';
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
  /**
   * Returns the identity of the caller behind a request context: lists are cached per identity. Without it, and for `undefined`, lists are
   * not cached where the request context decides what the server receives.
   */
  identity?: Identity;
}

const defaultTimeout = 60_000;

const notNegative = valueThat((value) => typeof value === 'number' && value >= 0, 'a number of at least 0');

const authenticateChecks: OptionChecks<AuthenticateServerOptions> = { scope: anyValue, timeout: notNegative };
const rootChecks: OptionChecks<{ roots: Root[] }> = { roots: rootList };
const instructionChecks: OptionChecks<{ maxLength?: number }> = { maxLength: notNegative };

const clientChecks: OptionChecks<MCPClientOptions> = {
  id: anyValue,
  servers: required(valueThat(isObject, 'an object with one definition per server name')),
  timeout: notNegative,
  clientInfo: clientInfoCheck,
  resultLimit: anyValue,
  identity: functionValue,
};

/** Options of `mcp.authenticate()`. */
export interface AuthenticateServerOptions {
  /** Scopes to request, even when the stored tokens are valid. Default: the scopes that the server names. */
  scope?: string;
  /** Milliseconds until the authorization response must arrive. Default 300 000. */
  timeout?: number;
}

/** Returns a server of a client, for a proxy. Programs cannot reach it: only the class reads the private member. @throws `MCP_SERVER_UNKNOWN` */
export let remoteServerOf: (client: MCPClient, serverName: string) => RemoteServer;

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
export class MCPClient extends BoundClient implements AsyncDisposable {
  readonly id: string | undefined;
  readonly tools: {
    /** Sets the handler for changes of a server's list of tools. */
    onListChanged(serverName: string, handler: () => void): Promise<void>;
    /** Sets the handler for changed tool definitions, called when the tools are listed again. */
    onDefinitionsChanged(serverName: string, handler: (changes: DefinitionChanges) => void): Promise<void>;
  };
  readonly elicitation: {
    /**
     * Sets the handler for elicitation requests of a server. A connected server is connected again, which declares the capability.
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

  static {
    remoteServerOf = (client, serverName) => client.#servers.require(serverName);
  }

  /**
   * Clients with the same `id` and the same configuration share their connections, and the last one that disconnects ends them. With
   * the same `id` and another configuration, the connections of the previous client are ended.
   *
   * @throws `MCP_CLIENT_DUPLICATE` without id, when a live client has the same configuration
   * @throws `OPTIONS_INVALID`
   */
  constructor(options: MCPClientOptions) {
    checkOptions('MCPClient', options, clientChecks);
    const { id, servers, timeout = defaultTimeout, clientInfo, resultLimit, identity } = options;
    const shared = SharedServers.for(options, () => {
      const settings = { timeout, clientInfo, resultLimit, identity, createApplication };
      const created = Object.entries(servers).map(
        ([name, definition]) => new RemoteServer({ name, definition, ...settings }),
      );
      return new Map(created.map((server) => [server.name, server]));
    });
    super(shared, {});
    this.id = id;
    this.#servers = shared;
    shared.acquire(this);
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
        this.#servers.run('ON_REQUEST_ELICITATION', serverName, async (server) =>
          server.setHandler('elicitation', handler),
        ),
    };
    this.progress = {
      onUpdate: (serverName, handler) =>
        this.#servers.run('ON_UPDATE_PROGRESS', serverName, async ({ handlers }) => {
          handlers.onProgress = handler;
        }),
    };
  }

  /**
   * Returns the methods of this client for one caller: everything that they send carries the request context. A view holds no
   * connection: create one per request of the application.
   *
   * @param handlers - for the calls and reads of the view, also those of its tools. They precede the handlers of the servers
   *
   * @throws `OPTIONS_INVALID` for a value that is not a request context
   * @example
   * const tools = await mcp.forRequest(requestContext).listTools(); // the caller's own tools, which send the caller's headers
   */
  forRequest(requestContext: AnyRequestContext, handlers: CallerHandlers = {}): BoundClient {
    checkOptions('mcp.forRequest', handlers, callerChecks);
    // `undefined` would send the requests of a user without the user's headers. Programs in JavaScript pass it.
    if (typeof (requestContext as AnyRequestContext | undefined)?.get !== 'function')
      throw invalidOptions('mcp.forRequest needs a request context: `new RequestContext()`.');
    return new BoundClient(this.#servers, { ...handlers, requestContext });
  }

  /** Replaces the roots of a server, and notifies it. @throws `OPTIONS_INVALID`, `MCP_CLIENT_SET_ROOTS_FAILED` */
  async setRoots(serverName: string, roots: Root[]): Promise<void> {
    checkOptions('mcp.setRoots', { roots }, rootChecks);
    return this.#servers.run('SET_ROOTS', serverName, (server) => server.setRoots(roots));
  }

  /** Returns the connection status of each server, without a request. */
  status(): Record<string, ServerStatus> {
    return this.#perServer(({ connection }) => connection.status());
  }

  /** Session ids of the servers that have one. */
  get sessionIds(): Record<string, string> {
    return this.#perServer(({ connection }) => connection.engine?.channel.sessionId);
  }

  /**
   * Returns the `instructions` of each server. They come from the server: show or forward them as such. Connects servers that are not
   * connected.
   *
   * @param options.maxLength - characters per server; the rest is cut. Default 512
   */
  async getServerInstructions(options: { maxLength?: number } = {}): Promise<Record<string, string>> {
    checkOptions('mcp.getServerInstructions', options, instructionChecks);
    return this.#askForInstructions(this.#servers.byName.values(), options);
  }

  /**
   * Returns text for a model's instructions: those of the servers with `includeInstructions`, each introduced by the server's name,
   * because they come from the server. Connects servers that are not connected.
   *
   * @param options.maxLength - characters per server. Default 512
   * @returns `undefined` when no such server has instructions
   */
  async getInstructions(options: { maxLength?: number } = {}): Promise<string | undefined> {
    checkOptions('mcp.getInstructions', options, instructionChecks);
    const included = [...this.#servers.byName.values()].filter(
      ({ options: { includeInstructions } }) => includeInstructions,
    );
    const instructions = Object.entries(await this.#askForInstructions(included, options));
    if (instructions.length === 0) return undefined;
    return instructions.map(([name, text]) => `Instructions of the MCP server '${name}':\n${text}`).join('\n\n');
  }

  /** Returns the standard error of a server's process, also after a failed connection; of a long text the beginning and the end. */
  getServerStderr(serverName: string): string | undefined {
    const { engine, error } = this.#servers.require(serverName).connection;
    return engine ? engine.channel.stderr : (error?.details?.['stderr'] as string | undefined);
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
   * Ends all connections and the processes behind them, unless other clients share them. The next request
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

  async #askForInstructions(
    servers: Iterable<RemoteServer>,
    { maxLength = 512 }: { maxLength?: number },
  ): Promise<Record<string, string>> {
    const answers = await askServers(servers, async (server) => ({
      answer: (await server.connection.connect()).server.instructions ?? '',
    }));
    this.#servers.logMissing('Instructions', answers);
    const entries = Object.entries(answers.data).filter(([, text]) => text !== '');
    return Object.fromEntries(entries.map(([name, text]) => [name, text.slice(0, maxLength)]));
  }
}
