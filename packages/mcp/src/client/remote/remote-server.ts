import { setMaxListeners } from 'node:events';
import { escapeForLog, getDefaultLogger, untilAborted } from '@quiver/core';
import type { AnyRequestContext, ResultLimit } from '@quiver/core/tools';
import { defined } from '../../defined.js';
import type { ProtocolTool } from '../../protocol/types.js';
import type { Params } from '../../protocol/json-rpc.js';
import { requestMethods, type ListKind, type ListMethod } from '../../protocol/methods.js';
import { repeats } from '../../repeats.js';
import { parseResultLimit, type SizeLimit } from '../../result-limit/size-limit.js';
import type { ClientInfo } from '../config/client-info.js';
import type { LoggingLevel, ServerHandlers } from '../config/handlers.js';
import { parseServerDefinition } from '../config/parse-server-definition.js';
import type { ServerDefinition, ServerOptions, ServerTarget } from '../config/server-definition.js';
import type { EngineRequestOptions } from '../engine/call.js';
import type { Engine } from '../engine/engine.js';
import type { Application } from '../engine/respond-to-input.js';
import { explainRequestError, statusOf } from '../engine/request-error.js';
import { CallerLists, fetchList, type Identity, type ListedItems } from './list-cache.js';
import { ServerConnection } from './server-connection.js';
import { ServerTasks } from './server-tasks.js';
import { Subscriptions } from './subscriptions.js';
import { compareDefinitions, type DefinitionChanges } from './tool-definitions.js';

export interface RemoteServerOptions {
  readonly name: string;
  readonly definition: ServerDefinition;
  /** Milliseconds one request may take, unless the definition sets them; 0 for no limit. */
  readonly timeout: number;
  readonly clientInfo?: ClientInfo | undefined;
  /** Limit of results that models receive, unless the definition sets one. */
  readonly resultLimit?: ResultLimit | undefined;
  readonly identity?: Identity | undefined;
  /** Creates the receiver of the server's requests and notifications. */
  readonly createApplication: (server: RemoteServer) => Application;
}

/** Sends the messages of one request over a connection. @param options - those of the request, as they were given */
export type SendOver<Result> = (engine: Engine, options: EngineRequestOptions) => Promise<Result>;

type Lists = { [Method in ListMethod]?: CallerLists<ListedItems[Method]> };

/**
 * One server of the client, with its connection, its cached lists and its tasks. A request is repeated for the causes of {@link repeats} only.
 */
export class RemoteServer {
  readonly name: string;
  readonly settings: RemoteServerOptions;
  readonly target: ServerTarget;
  readonly handlers: ServerHandlers;
  readonly subscriptions: Subscriptions;
  /** Limit of results that models receive. */
  readonly resultLimit: SizeLimit | undefined;
  readonly application: Application;
  readonly tasks: ServerTasks;
  readonly connection: ServerConnection;
  onDefinitionsChanged?: (changes: DefinitionChanges) => void;
  readonly #lists: Lists = {};
  /** Logged reasons why lists are missing, by list. */
  readonly #missing = new Map<string, string>();

  /** @throws `OPTIONS_INVALID` */
  constructor(options: RemoteServerOptions) {
    this.name = options.name;
    this.target = parseServerDefinition(options.name, options.definition);
    this.settings = options;
    const { roots, sampling, resultLimit = options.resultLimit } = this.options;
    this.resultLimit = resultLimit === undefined || resultLimit === false ? undefined : parseResultLimit(resultLimit);
    this.handlers = { onListChanged: {}, ...(roots && { roots }), ...(sampling && { sampling }) };
    this.subscriptions = new Subscriptions(this);
    this.application = options.createApplication(this);
    this.tasks = new ServerTasks(this);
    this.connection = new ServerConnection(this);
  }

  get options(): ServerOptions {
    return this.target.definition;
  }

  /** Whether the request context decides what the server receives: nothing else of it leaves the process. */
  get variesByCaller(): boolean {
    if (this.target.kind !== 'http') return false;
    const { headers, fetch } = this.target.definition;
    return typeof headers === 'function' || fetch !== undefined;
  }

  /** Sends a message to the logger of the definition. Errors of the logger are dropped: they must not break a connection. */
  log(level: LoggingLevel, message: string, details?: unknown, requestContext?: AnyRequestContext): void {
    const { logger = this.options.log } = this.options;
    try {
      logger?.({
        level,
        message: `[${this.name}] ${escapeForLog(message)}`,
        timestamp: new Date(),
        serverName: this.name,
        ...defined({ details, requestContext }),
      });
    } catch {
      // Nowhere is left to report it.
    }
  }

  /**
   * Logs why something of this server is missing: a failure once until it has ended, also for several lists, and not again if the logger has
   * received it as a failed connection.
   *
   * @param what - plural, as in `Tools`
   * @param reason - one failure per line; `undefined` when nothing is missing
   */
  logMissing(what: string, reason: string | undefined): void {
    const missing = this.#missing;
    const isLogged = reason !== undefined && [...missing.values()].includes(reason);
    const before = missing.get(what);
    if (reason !== undefined) missing.set(what, reason);
    else for (const [other, its] of missing) if (its === before) missing.delete(other);
    if (reason === undefined || isLogged) return;
    const { logger = this.options.log } = this.options;
    if (logger && reason === this.connection.error?.message) return;
    for (const line of reason.split('\n')) {
      const message = `${what} are missing. ${line}`;
      if (logger) this.log('error', message);
      else getDefaultLogger().error(escapeForLog(message));
    }
  }

  list<Method extends ListMethod>(method: Method): CallerLists<ListedItems[Method]> {
    // A member has the type that its key selects.
    const lists = this.#lists as { [Key in Method]?: CallerLists<ListedItems[Method]> };
    return (lists[method] ??= new CallerLists({
      variesByCaller: this.variesByCaller,
      identity: this.settings.identity,
      // The request is repeated after a lost connection, because it has no effects.
      fetch: ({ requestContext, via, signal }, isAgain) =>
        this.request((engine, options) => fetchList(this, method, engine, { ...options, isAgain, via }), {
          requestContext,
          signal,
          retries: repeats.lostConnection.ofReads,
        }),
      onFetched: (items, previous) => {
        if (method !== 'tools/list' || !previous || !this.onDefinitionsChanged) return;
        // The items of this list are tools.
        const changes = compareDefinitions(previous as readonly ProtocolTool[], items as readonly ProtocolTool[]);
        if (changes) this.onDefinitionsChanged(changes);
      },
    }));
  }

  /** Makes the next callers fetch the lists of a kind; of every kind without one. */
  invalidate(kind?: ListKind): void {
    for (const [method, list] of Object.entries(this.#lists))
      if (kind === undefined || requestMethods[method as ListMethod].capability === kind) list.invalidate();
  }

  /**
   * Sends one request, over the current connection or a new one.
   *
   * @throws `MCP_CLIENT_CONNECT_FAILED` when the server cannot be reached, `MCP_REQUEST_TIMEOUT`, `MCP_CONNECTION_CLOSED` when the
   *   connection ended before the response (the request may have had effects), `MCP_REQUEST_FAILED` for errors of the protocol;
   *   `signal.reason`
   */
  async request<Result>(run: SendOver<Result>, options: EngineRequestOptions = {}): Promise<Result> {
    const { retries = 0, signal } = options;
    // Many requests may share a signal, and Node 20 warns about the eleventh listener.
    if (signal) setMaxListeners(0, signal);
    for (let attempt = 1, left = retries; ; attempt += 1) {
      signal?.throwIfAborted();
      const connection = this.connection;
      const engine = connection.readyFor(options) ?? (await untilAborted(() => connection.connectFor(options), signal));
      engine.hold();
      try {
        return await run(engine, options);
      } catch (error) {
        signal?.throwIfAborted();
        if (attempt === 1 && repeats.lostSession.isCause(statusOf(error), engine.channel.sessionId)) {
          connection.forget(engine);
          continue;
        }
        const explained = explainRequestError(error, this.name, engine.channel);
        if (left <= 0 || !repeats.lostConnection.isCause(explained)) throw explained;
        left -= 1;
        this.log('info', 'Repeating a request after the connection was lost.', explained);
      } finally {
        engine.release();
      }
    }
  }

  /** Sends a request without effects, and once more if the connection was lost. @throws as {@link request} */
  read(method: string, params: Params, options: EngineRequestOptions): Promise<Params> {
    const settings = { ...options, retries: repeats.lostConnection.ofReads };
    return this.request((engine, to) => engine.request(method, params, to), settings);
  }

  /** Ends the session, the connection and the wait for tasks. The next request connects again. */
  disconnect(): Promise<void> {
    // Without tasks, the state changes at once.
    if (this.tasks.isEmpty) return this.#disconnect();
    return this.tasks.stop().then(() => this.#disconnect());
  }

  #disconnect(): Promise<void> {
    this.#missing.clear();
    return this.connection.disconnect();
  }

  /** Closes the connection and opens another, regardless of the pause after a failed attempt. */
  async reconnect(): Promise<void> {
    // Tasks that callers wait for continue over the next connection.
    const ending = this.tasks.lateEnded();
    if (ending) await ending;
    await this.#disconnect();
    await this.connection.connect();
  }

  /** Sets the handler for changes of a list, and subscribes to them if the server is connected; otherwise the next connection does. */
  async setListHandler(kind: ListKind, handler: () => void): Promise<void> {
    this.handlers.onListChanged[kind] = handler;
    if (this.connection.engine?.isModern) await this.subscriptions.sync();
  }

  /** Sets a handler whose kind connections declare: a connection that does not is replaced with the next request. */
  setHandler<Kind extends 'elicitation' | 'roots'>(kind: Kind, handler: NonNullable<ServerHandlers[Kind]>): void {
    if (!this.handlers[kind]) this.connection.declareHandler();
    this.handlers[kind] = handler;
  }

  /** Replaces the roots, and notifies the server. */
  async setRoots(roots: NonNullable<ServerHandlers['roots']>): Promise<void> {
    this.setHandler('roots', roots);
    const { engine, declaresHandlers } = this.connection;
    // A modern server requests the roots each time; a server that roots were not declared to is connected again.
    if (!engine || engine.isModern || !declaresHandlers) return;
    await engine.notify('notifications/roots/list_changed');
  }
}
