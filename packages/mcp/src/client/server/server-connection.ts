import { setMaxListeners } from 'node:events';
import { getDefaultLogger, isQuiverError, QuiverError, toErrorMessage, untilAborted } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { ClientCapabilities } from '../../protocol/client-types.js';
import { defaultClientInfo, type ClientInfo } from '../config/client-info.js';
import type { ServerMessageHandler, ServerTarget } from '../config/server-definition.js';
import type { Engine, EngineRequestOptions, ProgressUpdate, ServerMessage } from '../engine/engine.js';
import { explainRequestError } from '../engine/request-error.js';
import { HttpError } from '../transports/channel.js';
import { createApplication } from '../features/application.js';
import { createBackOff } from './back-off.js';
import { toProtocolLevel, type ServerLog } from './log-message.js';
import { openConnection } from './open-connection.js';
import type { ListKind, ServerHandlers } from '../config/server-handlers.js';
import { describeConnection, type ServerStatus } from './server-status.js';
import { Subscriptions } from './subscriptions.js';

export interface RequestSettings {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; 0 for no limit. Default: the timeout of the connection. */
  readonly timeout?: number | undefined;
  readonly resetTimeoutOnProgress?: boolean | undefined;
  readonly maxTotalTimeout?: number | undefined;
  readonly requestContext?: AnyRequestContext | undefined;
  readonly progressToken?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** How often the request is repeated after the connection was lost. Default 0. */
  readonly retries?: number | undefined;
}

/** Sends the messages of one request over a connection. */
export type SendOver<Result> = (engine: Engine, options: EngineRequestOptions) => Promise<Result>;

export interface ServerConnectionOptions {
  readonly name: string;
  readonly target: ServerTarget;
  /** Milliseconds one request may take; 0 for no limit. */
  readonly timeout: number;
  readonly log: ServerLog;
  readonly handlers: ServerHandlers;
  readonly clientInfo?: ClientInfo | undefined;
  /** Called for changed lists, in addition to the handler of the application. */
  readonly onListChanged: (kind: ListKind) => void;
  /** The connection ended, and cached lists may be out of date. */
  readonly onLost: () => void;
}

/** Milliseconds until a connection must be open. The start of a process may include a download; a busy machine delays both. */
const defaultConnectTimeouts: Readonly<Record<ServerTarget['kind'], number>> = {
  http: 3000,
  'in-process': 30_000,
  stdio: 60_000,
};

/**
 * Connection to one server: opened on first use, by one attempt for all callers, and again after it was lost. A request is not
 * repeated unless the caller allows it, or the server rejected it unread because it no longer knows the session.
 */
export class ServerConnection {
  readonly name: string;
  readonly #options: ServerConnectionOptions;
  readonly #backOff = createBackOff();
  readonly #subscriptions: Subscriptions;
  #connecting: Promise<Engine> | undefined;
  #attempt: AbortController | undefined;
  #current: Engine | undefined;
  /** Capabilities, as JSON, of the current connection or attempt. */
  #declared = '';
  #lastError: QuiverError | undefined;
  #resume = true;
  #revival: NodeJS.Timeout | undefined;

  constructor(options: ServerConnectionOptions) {
    const { name, handlers, log } = options;
    this.name = name;
    this.#options = options;
    this.#subscriptions = new Subscriptions({ serverName: name, handlers, log });
  }

  get sessionId(): string | undefined {
    return this.#current?.channel.sessionId;
  }

  get stderr(): string | undefined {
    return this.#current?.channel.stderrTail;
  }

  status(): ServerStatus {
    return describeConnection({
      engine: this.#current,
      connecting: this.#connecting !== undefined && this.#current === undefined,
      error: this.#lastError,
      retryIn: this.#backOff.remaining(),
    });
  }

  /**
   * Sends one request, over the current connection or a new one.
   *
   * @throws `MCP_CLIENT_CONNECT_FAILED` when the server cannot be reached, `MCP_REQUEST_TIMEOUT`, `MCP_CONNECTION_CLOSED` when the
   *   connection ended before the response (the request may have had effects), `MCP_REQUEST_FAILED` for errors of the protocol;
   *   the reason of `signal`
   */
  async request<Result>(run: SendOver<Result>, settings: RequestSettings = {}): Promise<Result> {
    const { log, target, timeout: defaultTimeout } = this.#options;
    const { retries = 0, ...options } = settings;
    const { signal, timeout = defaultTimeout } = options;
    const { resetTimeoutOnProgress = target.definition.resetTimeoutOnProgress } = options;
    // Many requests may share a signal, and Node 20 warns about the eleventh listener.
    if (signal) setMaxListeners(0, signal);
    for (let attempt = 1, left = retries; ; attempt += 1) {
      signal?.throwIfAborted();
      const engine = await untilAborted(() => this.connect(), signal);
      const { channel } = engine;
      try {
        return await run(engine, { ...options, timeout, resetTimeoutOnProgress });
      } catch (error) {
        signal?.throwIfAborted();
        if (attempt === 1 && isSessionLost(error, engine)) {
          this.#forget(engine);
          continue;
        }
        const explained = explainRequestError({ serverName: this.name, error, channel, timeout });
        if (explained.code !== 'MCP_CONNECTION_CLOSED' || left <= 0) throw explained;
        left -= 1;
        log('info', 'Repeating a request after the connection was lost.', explained);
      } finally {
        this.#closeForgotten(engine);
      }
    }
  }

  /** @throws `MCP_CLIENT_CONNECT_FAILED`, at once during the pause after a failed attempt */
  connect(): Promise<Engine> {
    const declared = this.#capabilities();
    if (this.#current && this.#declared !== declared) this.#forget(this.#current);
    if (this.#connecting) return this.#connecting;
    if (this.#lastError && this.#backOff.remaining() > 0) return Promise.reject(this.#lastError);
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#declared = declared;
    const connecting = this.#open(attempt.signal);
    this.#connecting = connecting;
    const release = (): void => {
      if (this.#attempt === attempt) this.#attempt = undefined;
    };
    connecting.then(release, (error: QuiverError) => {
      release();
      if (this.#connecting !== connecting) return;
      this.#options.log('error', error.message, error);
      this.#connecting = undefined;
      this.#lastError = error;
      // The server works, and the user may sign in at any moment; showing the page again and again does not help.
      if (isQuiverError(error) && error.code === 'OAUTH_AUTHORIZATION_REQUIRED') return;
      this.#backOff.failed();
      this.#reviveLater();
    });
    return connecting;
  }

  /** Ends the session and the connection. The next request connects again. */
  async disconnect(): Promise<void> {
    const connecting = this.#connecting;
    const current = this.#current;
    this.#connecting = undefined;
    this.#current = undefined;
    this.#lastError = undefined;
    this.#backOff.reset();
    clearTimeout(this.#revival);
    // Changes go unnoticed until the next connection.
    this.#options.onLost();
    this.#attempt?.abort(new Error('the client was disconnected'));
    // Does not wait for the set-up of an open connection: it may be what never settles.
    const engine = current ?? (await connecting?.catch(() => undefined));
    if (!engine) return;
    await this.#close(engine);
    this.#options.log('debug', 'Disconnected.');
  }

  /** Closes the connection and opens another, regardless of the pause after a failed attempt. */
  async reconnect(): Promise<void> {
    await this.disconnect();
    await this.connect();
  }

  /** Subscribes to a resource, now and after every reconnect. */
  subscribe(uri: string): Promise<void> {
    return this.#subscriptions.subscribe(uri, (run) => this.request(run));
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#subscriptions.unsubscribe(uri, (run) => this.request(run));
  }

  /** Requests the changes that the handlers are set for, if the server is connected; otherwise the next connection does. */
  handlersChanged(): Promise<void> {
    return this.#subscriptions.update(this.#current);
  }

  /** Notifies the server of changed roots. */
  async rootsChanged(): Promise<void> {
    const engine = this.#current;
    // A modern server requests the roots each time; a server that roots were not declared to is connected again.
    if (!engine || engine.isModern || this.#declared !== this.#capabilities()) return;
    await engine.notify('notifications/roots/list_changed');
  }

  #capabilities(): string {
    const { handlers, target } = this.#options;
    return JSON.stringify(capabilitiesOf(handlers, target.definition.capabilities));
  }

  async #open(signal: AbortSignal): Promise<Engine> {
    const { name, target, log, handlers, onListChanged } = this.#options;
    const { enableServerLogs = true, maxInputRounds, logger, log: alsoLogger, serverLogLevel } = target.definition;
    const wantsLogs = enableServerLogs && (logger ?? alsoLogger ?? serverLogLevel) !== undefined;
    let opened: Engine | undefined;
    const engine = await openConnection(
      {
        name,
        target,
        limit: this.#connectLimit,
        clientInfo: this.#options.clientInfo ?? defaultClientInfo,
        onMessage: target.definition.onMessage && isolate(target.definition.onMessage, name),
        capabilities: JSON.parse(this.#declared) as ClientCapabilities,
        application: createApplication({ serverName: name, handlers, log, enableServerLogs, onListChanged }),
        maxInputRounds,
        logLevel: wantsLogs ? toProtocolLevel(serverLogLevel ?? 'info') : undefined,
        resume: this.#resume,
        onError: (error) => log('debug', toErrorMessage(error), error),
        onSessionLost: () => {
          if (!opened || opened.active > 0) return;
          this.#lose(opened);
          this.#closeForgotten(opened);
        },
        onClosed: () => {
          if (opened) this.#lose(opened);
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
    this.#backOff.reset();
    this.#lastError = undefined;
    const { channel, server } = engine;
    log('debug', `Connected: transport ${channel.kind}, protocol version ${server.protocolVersion ?? 'unknown'}.`);
    await this.#setUp(engine).catch((error: unknown) => {
      log('warning', `The connection could not be set up completely: ${toErrorMessage(error)}`, error);
    });
    if (signal.aborted) throw disconnected(name);
    return engine;
  }

  /** Sends what every new connection has to receive. */
  async #setUp(engine: Engine): Promise<void> {
    const { target, timeout } = this.#options;
    const { serverLogLevel } = target.definition;
    if (!engine.isModern && serverLogLevel !== undefined && engine.server.capabilities?.logging)
      await engine.request('logging/setLevel', { level: toProtocolLevel(serverLogLevel) }, { timeout });
    await this.#subscriptions.restore(engine, { timeout });
  }

  /** The connection ended, and the client did not close it. */
  #lose(lost: Engine): void {
    if (this.#current !== lost) return;
    this.#options.log('warning', 'The connection was lost. The next request connects again.');
    this.#forget(lost);
    this.#reviveLater();
  }

  /** Connects again without a request if there are subscriptions. */
  #reviveLater(): void {
    if (this.#subscriptions.isEmpty) return;
    clearTimeout(this.#revival);
    this.#revival = setTimeout(() => {
      this.connect().catch(() => {});
    }, this.#backOff.remaining() + 1);
    this.#revival.unref?.();
  }

  /** Makes the next request connect again. Requests in progress are not disturbed. */
  #forget(lost: Engine): void {
    this.#subscriptions.release(lost);
    if (this.#current !== lost) return;
    this.#current = undefined;
    this.#connecting = undefined;
    this.#options.onLost();
    queueMicrotask(() => this.#closeForgotten(lost));
  }

  #closeForgotten(engine: Engine): void {
    if (engine === this.#current || engine.active > 0 || engine.isClosed) return;
    engine.close().catch((error: unknown) => this.#options.log('debug', toErrorMessage(error), error));
  }

  async #close(engine: Engine): Promise<void> {
    this.#subscriptions.release(engine);
    // A request that ends meanwhile leaves the connection open for the end of the session.
    engine.active += 1;
    // A server that does not respond to the end of its session delays nothing: the end of the connection ends the request.
    const timer = setTimeout(() => void engine.close().catch(() => {}), this.#connectLimit);
    try {
      await engine.channel.endSession?.();
    } catch (error) {
      this.#options.log('debug', `The session could not be ended: ${toErrorMessage(error)}`, error);
    } finally {
      clearTimeout(timer);
      await engine.close().catch((error: unknown) => this.#options.log('debug', toErrorMessage(error), error));
    }
  }

  /** Milliseconds until a connection must be open, and until its session must have ended. */
  get #connectLimit(): number {
    const { kind, definition } = this.#options.target;
    return definition.connectTimeout ?? defaultConnectTimeouts[kind];
  }
}

/** An error of the application's handler is not an error of the server. */
function isolate(handler: ServerMessageHandler, serverName: string): (message: ServerMessage) => void {
  return (message) => {
    try {
      handler(message, { serverName });
    } catch (error) {
      getDefaultLogger().error(`\`onMessage\` of MCP server '${serverName}' threw: ${toErrorMessage(error)}`, error);
    }
  };
}

/** Returns whether the server rejected a request unread, because it no longer knows the session. */
function isSessionLost(error: unknown, { channel }: Engine): boolean {
  return error instanceof HttpError && error.status === 404 && channel.sessionId !== undefined;
}

function disconnected(name: string): QuiverError {
  return new QuiverError('MCP_CLIENT_CONNECT_FAILED', `The client was disconnected from MCP server '${name}'.`);
}

/** Returns the capabilities that follow from the handlers, extended by those of the definition. */
function capabilitiesOf(
  { elicitation, sampling, roots }: ServerHandlers,
  declared: ClientCapabilities = {},
): ClientCapabilities {
  return {
    ...(elicitation && { elicitation: { form: {} } }),
    ...(sampling && { sampling: {} }),
    ...(roots && { roots: { listChanged: true } }),
    ...declared,
  };
}
