import { setMaxListeners } from 'node:events';
import { escapeForLog, getDefaultLogger, isQuiverError, QuiverError, toErrorMessage, untilAborted } from '@quiver/core';
import type { AnyRequestContext, ResultLimit } from '@quiver/core/tools';
import type { ClientCapabilities, ProtocolTool, ServerCapabilities } from '../../protocol/types.js';
import type { LoggingLevel as ProtocolLoggingLevel } from '../../protocol/constants.js';
import { requestMethods, type ListMethod } from '../../protocol/methods.js';
import { parseResultLimit, type SizeLimit } from '../../result-limit/size-limit.js';
import { defaultClientInfo, type ClientInfo } from '../config/client-info.js';
import {
  declareHandlers,
  type ListKind,
  type LoggingLevel,
  type RequestHandlers,
  type ServerHandlers,
} from '../config/handlers.js';
import { parseServerDefinition } from '../config/parse-server-definition.js';
import type { ServerDefinition, ServerOptions, ServerTarget } from '../config/server-definition.js';
import type { Engine, EngineRequestOptions } from '../engine/engine.js';
import type { Application } from '../engine/provide-input.js';
import { explainRequestError } from '../engine/request-error.js';
import { HttpError, type Channel } from '../transports/channel.js';
import { createBackOff } from '../../back-off.js';
import { CallerLists, type Identity } from './caller-lists.js';
import { fetchList, type ListedItems } from './list-cache.js';
import { openConnection } from './open-connection.js';
import { ServerTasks } from './server-tasks.js';
import { Subscriptions } from './subscriptions.js';
import { TimeoutBreaker } from './timeout-breaker.js';
import { compareDefinitions, type DefinitionChanges } from './tool-definitions.js';

/** Connection status of one server. */
export interface ServerStatus {
  /** `idle`: not used yet, or disconnected. `failed`: the last attempt to connect failed. */
  state: 'idle' | 'connecting' | 'ready' | 'failed';
  transport?: Channel['kind'];
  protocolVersion?: string;
  serverInfo?: { name: string; version: string; title?: string };
  capabilities?: ServerCapabilities;
  /** The server's description of its use. It comes from the server. */
  instructions?: string;
  /** Why the last attempt to connect failed, or why a connected server is suspended; see `maxConsecutiveTimeouts`. */
  error?: { message: string; code: string };
  /** Milliseconds until the next attempt after a failed one, or until the next request to a suspended server. */
  retryIn?: number;
}

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

/** Milliseconds until a connection must be open. The start of a process may include a download; a busy machine delays both. */
const defaultConnectTimeouts: Readonly<Record<ServerTarget['kind'], number>> = {
  http: 3000,
  'in-process': 30_000,
  stdio: 60_000,
};

/**
 * One server of the client, with its cached lists. It is connected on first use, by one attempt for all callers, and again after the
 * connection was lost. A request is not repeated unless the caller allows it, or the server rejected it unread because it no longer
 * knows the session.
 */
export class RemoteServer {
  readonly name: string;
  readonly target: ServerTarget;
  readonly handlers: ServerHandlers;
  readonly subscriptions: Subscriptions;
  /** Limit of results that models receive. */
  readonly resultLimit: SizeLimit | undefined;
  readonly application: Application;
  readonly tasks: ServerTasks = new ServerTasks(this);
  onDefinitionsChanged?: (changes: DefinitionChanges) => void;
  readonly #options: RemoteServerOptions;
  readonly #lists: Lists = {};
  /** Logged reasons why lists are missing, by list. */
  readonly #missing = new Map<string, string>();
  readonly #backOff = createBackOff();
  readonly #breaker: TimeoutBreaker | undefined;
  #connecting: Promise<Engine> | undefined;
  #attempt: AbortController | undefined;
  #current: Engine | undefined;
  /** What the current connection or attempt declares: `#handlerKinds`, and the number of `#requestHandlers`. */
  #declared = { always: 0, byRequests: 0 };
  /** Kinds of handlers that requests have had. A handshake declares them for all requests of its connection. */
  readonly #requestHandlers = new Set<keyof RequestHandlers>();
  #lastError: QuiverError | undefined;
  #resume = true;
  #revival: NodeJS.Timeout | undefined;

  /** @throws `SERVER_DEFINITION_INVALID`, `RESULT_LIMIT_INVALID` */
  constructor(options: RemoteServerOptions) {
    this.name = options.name;
    this.target = parseServerDefinition(options.name, options.definition);
    this.#options = options;
    const { roots, sampling, resultLimit = options.resultLimit, maxConsecutiveTimeouts = 0 } = this.options;
    if (maxConsecutiveTimeouts > 0) this.#breaker = new TimeoutBreaker(this.name, maxConsecutiveTimeouts);
    this.resultLimit = resultLimit === undefined || resultLimit === false ? undefined : parseResultLimit(resultLimit);
    this.handlers = { onListChanged: {}, ...(roots && { roots }), ...(sampling && { sampling }) };
    this.subscriptions = new Subscriptions(this);
    this.application = options.createApplication(this);
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

  get sessionId(): string | undefined {
    return this.#current?.channel.sessionId;
  }

  get stderr(): string | undefined {
    const { details } = this.#lastError ?? {};
    return this.#current ? this.#current.channel.stderr : (details?.['stderr'] as string | undefined);
  }

  status(): ServerStatus {
    if (!this.#current) {
      if (this.#connecting) return { state: 'connecting' };
      if (!this.#lastError) return { state: 'idle' };
      const { message, code } = this.#lastError;
      return { state: 'failed', error: { message, code }, retryIn: this.#backOff.remaining() };
    }
    const { channel, server } = this.#current;
    const { protocolVersion, info, capabilities, instructions } = server;
    const suspension = this.#breaker?.suspension;
    return {
      state: 'ready',
      transport: channel.kind,
      ...(protocolVersion !== undefined && { protocolVersion }),
      ...(info && {
        serverInfo: { name: info.name, version: info.version, ...(info.title !== undefined && { title: info.title }) },
      }),
      ...(capabilities && { capabilities }),
      ...(instructions !== undefined && { instructions }),
      ...(suspension && {
        error: { message: suspension.message, code: suspension.code },
        retryIn: Number(suspension.details?.['retryIn']),
      }),
    };
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
        ...(details !== undefined && { details }),
        ...(requestContext !== undefined && { requestContext }),
      });
    } catch {
      // Nowhere is left to report it.
    }
  }

  /**
   * Logs why something of this server is missing. A failure is logged once until it has ended, also when several lists are missing
   * because of it, and not when the logger has received it as a failed connection.
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
    if (logger && reason === this.#lastError?.message) return;
    for (const line of reason.split('\n')) {
      const message = `${what} are missing. ${line}`;
      if (logger) this.log('error', message);
      else getDefaultLogger().error(escapeForLog(message));
    }
  }

  list<Method extends ListMethod>(method: Method): CallerLists<ListedItems[Method]> {
    // A member has the type that its key selects.
    const lists = this.#lists as { [Key in Method]?: CallerLists<ListedItems[Method]> };
    return (lists[method] ??= new CallerLists<ListedItems[Method]>({
      variesByCaller: this.variesByCaller,
      identity: this.#options.identity,
      // The request is repeated after a lost connection, because it has no effects.
      fetch: (requestContext) =>
        this.request((engine, options) => fetchList(this, method, engine, options), { requestContext, retries: 1 }),
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
   *   `MCP_SERVER_SUSPENDED` after `maxConsecutiveTimeouts`; `signal.reason`
   */
  request<Result>(run: SendOver<Result>, options: EngineRequestOptions = {}): Promise<Result> {
    if (!this.#breaker) return this.#request(run, options);
    return this.#breaker.run(() => this.#request(run, options));
  }

  async #request<Result>(run: SendOver<Result>, options: EngineRequestOptions): Promise<Result> {
    const { retries = 0, signal } = options;
    // Many requests may share a signal, and Node 20 warns about the eleventh listener.
    if (signal) setMaxListeners(0, signal);
    for (let attempt = 1, left = retries; ; attempt += 1) {
      signal?.throwIfAborted();
      const engine = await untilAborted(() => this.#connectFor(options), signal);
      const { channel } = engine;
      try {
        return await run(engine, options);
      } catch (error) {
        signal?.throwIfAborted();
        if (attempt === 1 && isSessionLost(error, engine)) {
          this.#forget(engine);
          continue;
        }
        const explained = explainRequestError(error, this.name, channel);
        if (explained.code !== 'MCP_CONNECTION_CLOSED' || left <= 0) throw explained;
        left -= 1;
        this.log('info', 'Repeating a request after the connection was lost.', explained);
      } finally {
        this.#closeForgotten(engine);
      }
    }
  }

  /** Connects with the capabilities that the handlers of a request need, for which a legacy server is connected again. */
  #connectFor({ onElicitation, onSampling }: RequestHandlers): Promise<Engine> {
    if (!onElicitation && !onSampling) return this.connect();
    const { elicitation, sampling } = this.#capabilities;
    if (onElicitation && !elicitation) this.#requestHandlers.add('onElicitation');
    if (onSampling && !sampling) this.#requestHandlers.add('onSampling');
    // An attempt in progress may declare less.
    return this.connect().then((engine) => (this.#declaresAll(engine) ? engine : this.connect()));
  }

  /** Returns whether a connection declares what the handlers need. Modern requests declare their own handlers. */
  #declaresAll({ isModern }: Engine): boolean {
    const { always, byRequests } = this.#declared;
    return always === this.#handlerKinds && (isModern || byRequests === this.#requestHandlers.size);
  }

  /** @throws `MCP_CLIENT_CONNECT_FAILED`, at once during the pause after a failed attempt */
  connect(): Promise<Engine> {
    if (this.#current && !this.#declaresAll(this.#current)) this.#forget(this.#current);
    if (this.#connecting) return this.#connecting;
    if (this.#lastError && this.#backOff.remaining() > 0) return Promise.reject(this.#lastError);
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#declared = { always: this.#handlerKinds, byRequests: this.#requestHandlers.size };
    const connecting = this.#open(attempt.signal);
    this.#connecting = connecting;
    const release = (): void => {
      if (this.#attempt === attempt) this.#attempt = undefined;
    };
    connecting.then(release, (error: QuiverError) => {
      release();
      if (this.#connecting !== connecting) return;
      this.log('error', error.message, error);
      this.#connecting = undefined;
      this.#lastError = error;
      // The server works, and the user may sign in at any moment; showing the page again and again does not help.
      if (isQuiverError(error, 'OAUTH_AUTHORIZATION_REQUIRED')) return;
      this.#backOff.failed();
      this.#reviveLater();
    });
    return connecting;
  }

  /** Ends the session, the connection and the wait for tasks. The next request connects again. */
  disconnect(): Promise<void> {
    // Without tasks, the state changes at once.
    if (this.tasks.isEmpty) return this.#disconnect();
    return this.tasks.stop().then(() => this.#disconnect());
  }

  async #disconnect(): Promise<void> {
    const connecting = this.#connecting;
    const current = this.#current;
    this.#connecting = undefined;
    this.#current = undefined;
    this.#lastError = undefined;
    this.#backOff.reset();
    this.#breaker?.reset();
    this.#missing.clear();
    clearTimeout(this.#revival);
    // Changes go unnoticed until the next connection.
    this.invalidate();
    this.#attempt?.abort(new Error('the client was disconnected'));
    // Does not wait for the set-up of an open connection: it may be what never settles.
    const engine = current ?? (await connecting?.catch(() => undefined));
    if (!engine) return;
    await this.#close(engine);
    this.log('debug', 'Disconnected.');
  }

  /** Closes the connection and opens another, regardless of the pause after a failed attempt. */
  async reconnect(): Promise<void> {
    // Tasks that callers wait for continue over the next connection.
    const ending = this.tasks.lateEnded();
    if (ending) await ending;
    await this.#disconnect();
    await this.connect();
  }

  /** Sets the handler for changes of a list, and subscribes to them if the server is connected; otherwise the next connection does. */
  async setListHandler(kind: ListKind, handler: () => void): Promise<void> {
    this.handlers.onListChanged[kind] = handler;
    if (this.#current?.isModern) await this.subscriptions.sync(this.#current);
  }

  /** Replaces the roots, and notifies the server. */
  async setRoots(roots: NonNullable<ServerHandlers['roots']>): Promise<void> {
    this.handlers.roots = roots;
    const engine = this.#current;
    // A modern server requests the roots each time; a server that roots were not declared to is connected again.
    if (!engine || engine.isModern || !this.#declaresAll(engine)) return;
    await engine.notify('notifications/roots/list_changed');
  }

  /** Kinds of handlers of the server, as a sum: every request compares them. */
  get #handlerKinds(): number {
    const { elicitation, sampling, roots } = this.handlers;
    return (elicitation ? 1 : 0) + (sampling ? 2 : 0) + (roots ? 4 : 0);
  }

  /** The capabilities that follow from the handlers of the server, extended by those of the definition. */
  get #capabilities(): ClientCapabilities {
    const { elicitation, sampling, roots } = this.handlers;
    return {
      ...declareHandlers(elicitation, sampling),
      ...(roots && { roots: { listChanged: true } }),
      ...this.options.capabilities,
    };
  }

  async #open(signal: AbortSignal): Promise<Engine> {
    const { name, target, options } = this;
    const { enableServerLogs = true, maxInputRounds, logger = options.log, clientInfo } = options;
    const isLogging = enableServerLogs && (logger ?? this.#logLevel) !== undefined;
    const capabilities = this.#capabilities;
    const ofRequests = this.#requestHandlers;
    let opened: Engine | undefined;
    const engine = await openConnection(
      {
        name,
        application: this.application,
        target,
        limit: this.#connectLimit,
        clientInfo: clientInfo ?? this.#options.clientInfo ?? defaultClientInfo,
        capabilities,
        handshakeCapabilities: {
          ...declareHandlers(ofRequests.has('onElicitation'), ofRequests.has('onSampling')),
          ...capabilities,
        },
        maxInputRounds,
        timeout: options.timeout ?? this.#options.timeout,
        resetTimeoutOnProgress: options.resetTimeoutOnProgress,
        tasks: options.tasks !== false,
        logLevel: isLogging ? (this.#logLevel ?? 'info') : undefined,
        resume: this.#resume,
        onError: (error) => this.#logError(error),
        onSessionLost: () => {
          if (!opened || opened.active > 0) return;
          this.#lose(opened);
          this.#closeForgotten(opened);
        },
        onClosed: () => {
          if (opened) this.#lose(opened);
        },
        onAbandoned: (taskId, requestContext) => {
          const engine = opened;
          if (engine) void this.tasks.cancelLate(taskId, requestContext).then(() => this.#closeForgotten(engine));
        },
      },
      signal,
    );
    this.#resume = false;
    opened = engine;
    if (signal.aborted) {
      await this.#close(engine);
      throw disconnected(name);
    }
    if (engine.isClosed) {
      throw new QuiverError(
        'MCP_CLIENT_CONNECT_FAILED',
        `MCP server '${name}' ended the connection as soon as it was open.`,
      );
    }
    this.#current = engine;
    if (this.#lastError) this.#backOff.reset();
    this.#lastError = undefined;
    const { channel, server } = engine;
    this.log('debug', `Connected: transport ${channel.kind}, protocol version ${server.protocolVersion ?? 'unknown'}.`);
    await this.#setUp(engine).catch((error: unknown) => {
      this.log('warning', `The connection could not be set up completely: ${toErrorMessage(error)}`, error);
    });
    if (signal.aborted) throw disconnected(name);
    return engine;
  }

  /** Sends the log level and the subscriptions to a new connection. */
  async #setUp(engine: Engine): Promise<void> {
    const level = this.#logLevel;
    if (!engine.isModern && level !== undefined && engine.server.capabilities?.logging)
      await engine.request('logging/setLevel', { level });
    if (!this.subscriptions.isEmpty) await this.subscriptions.restore(engine);
  }

  /** The connection ended, and the client did not close it. */
  #lose(lost: Engine): void {
    if (this.#current !== lost) return;
    this.log('warning', 'The connection was lost. The next request connects again.');
    this.#forget(lost);
    this.#reviveLater();
  }

  /** Connects again without a request if there are subscriptions. */
  #reviveLater(): void {
    if (this.subscriptions.isEmpty) return;
    clearTimeout(this.#revival);
    this.#revival = setTimeout(() => {
      this.connect().catch(() => {});
    }, this.#backOff.remaining() + 1);
    this.#revival.unref?.();
  }

  /** Makes the next request connect again. Requests in progress are not disturbed. */
  #forget(lost: Engine): void {
    this.subscriptions.release(lost);
    if (this.#current !== lost) return;
    this.#current = undefined;
    this.#connecting = undefined;
    this.invalidate();
    queueMicrotask(() => this.#closeForgotten(lost));
  }

  #closeForgotten(engine: Engine): void {
    if (engine === this.#current || engine.active > 0 || engine.isClosed) return;
    engine.close().catch((error: unknown) => this.#logError(error));
  }

  async #close(engine: Engine): Promise<void> {
    this.subscriptions.release(engine);
    // A request that ends meanwhile leaves the connection open for the end of the session.
    engine.active += 1;
    // A server that does not respond to the end of its session delays nothing: the end of the connection ends the request.
    const timer = setTimeout(() => void engine.close().catch(() => {}), this.#connectLimit);
    try {
      await engine.channel.endSession?.();
    } catch (error) {
      this.log('debug', `The session could not be ended: ${toErrorMessage(error)}`, error);
    } finally {
      clearTimeout(timer);
      await engine.close().catch((error: unknown) => this.#logError(error));
    }
  }

  #logError(error: unknown): void {
    this.log('debug', toErrorMessage(error), error);
  }

  /** Milliseconds until a connection must be open, and until its session must have ended. */
  get #connectLimit(): number {
    return this.options.connectTimeout ?? defaultConnectTimeouts[this.target.kind];
  }

  get #logLevel(): ProtocolLoggingLevel | undefined {
    const { serverLogLevel } = this.options;
    return serverLogLevel === 'warn' ? 'warning' : serverLogLevel;
  }
}

/** Returns whether the server rejected a request unread, because it no longer knows the session. */
function isSessionLost(error: unknown, { channel }: Engine): boolean {
  return error instanceof HttpError && error.status === 404 && channel.sessionId !== undefined;
}

function disconnected(name: string): QuiverError {
  return new QuiverError('MCP_CLIENT_CONNECT_FAILED', `The client was disconnected from MCP server '${name}'.`);
}
