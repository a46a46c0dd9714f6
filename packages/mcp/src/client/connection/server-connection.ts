import { QuiverError, toErrorMessage } from '@quiver/core';
import { metaKeys } from '../../protocol/constants.js';
import { createBackOff } from './back-off.js';
import { createChangeStream } from './change-stream.js';
import { ChangeWishes } from './change-wishes.js';
import type { Connected } from './connected.js';
import { maxDelay, type Deadline } from './deadline.js';
import { toProtocolLevel, type ServerLog } from './log-message.js';
import { openLink } from '../link/open-link.js';
import { capabilitiesOf } from './declared-capabilities.js';
import { handleNotification, registerHandlers, type HandlerRegistration } from './register-handlers.js';
import { isForgottenSession } from '../link/request-error.js';
import { runWithContext } from '../link/request-scope.js';
import { sendRequest, type ConnectionSource, type RequestSettings, type SendOver } from './send-request.js';
import type { ServerTarget } from '../definition/server-definition.js';
import type { ListKind, ProgressUpdate, ServerHandlers } from './server-handlers.js';
import { describeConnection, type ServerStatus } from './server-status.js';
import { signInRequired } from '../link/sign-in-required.js';

export interface ServerConnectionOptions {
  readonly name: string;
  readonly target: ServerTarget;
  /** Milliseconds one request may take; 0 for no limit. */
  readonly timeout: number;
  readonly log: ServerLog;
  readonly handlers: ServerHandlers;
  /** Hears of changed lists, also when nobody else does. */
  readonly onListChanged: (kind: ListKind) => void;
  /** The connection is gone, and what was known of the server may be out of date. */
  readonly onLost: () => void;
}

const defaultConnectTimeout = 3000;

/**
 * One server: connected on first use, by one attempt however many callers wait, and again after it was lost. A request is never
 * sent twice unless the caller allows it, or the server refused it unread because it had forgotten the session.
 */
export class ServerConnection {
  readonly name: string;
  readonly #options: ServerConnectionOptions;
  readonly #backOff = createBackOff();
  readonly #wishes: ChangeWishes;
  /** Whether anybody wants to know for whom a request is made; carrying that along costs a little on every call. */
  readonly #tellsContext: boolean;
  #connecting: Promise<Connected> | undefined;
  #attempt: AbortController | undefined;
  #current: Connected | undefined;
  #lastError: QuiverError | undefined;
  #resume = true;
  #revival: NodeJS.Timeout | undefined;

  constructor(options: ServerConnectionOptions) {
    this.name = options.name;
    this.#options = options;
    this.#wishes = new ChangeWishes(options.name, options.handlers);
    const { target } = options;
    this.#tellsContext =
      target.kind === 'http' && (target.definition.fetch !== undefined || target.definition.headers !== undefined);
  }

  get sessionId(): string | undefined {
    return this.#current?.link.sessionId;
  }

  get stderr(): string | undefined {
    return this.#current?.link.process?.stderrTail;
  }

  status(): ServerStatus {
    return describeConnection({
      link: this.#current?.link,
      connecting: this.#connecting !== undefined && this.#current === undefined,
      error: this.#lastError,
      retryIn: this.#backOff.remaining(),
    });
  }

  /**
   * Sends one request.
   *
   * @throws `MCP_CLIENT_CONNECT_FAILED` when the server cannot be reached, `MCP_REQUEST_TIMEOUT`, `MCP_CONNECTION_CLOSED` when it
   *   went away before it answered (the call may have had effects), `MCP_REQUEST_FAILED` for errors of the protocol; the
   *   signal's reason when it fires
   */
  request<Result>(run: SendOver<Result>, settings?: RequestSettings): Promise<Result> {
    const { handlers, target, timeout, log } = this.#options;
    const source: ConnectionSource = {
      serverName: this.name,
      log,
      timeout,
      resetTimeoutOnProgress: target.definition.resetTimeoutOnProgress,
      mayAsk: handlers.elicitation !== undefined || handlers.sampling !== undefined,
      tellsContext: this.#tellsContext,
      connect: () => this.connect(),
      forget: (connected) => this.#forget(connected),
      release: (connected) => this.#closeForgotten(connected),
    };
    return sendRequest(source, run, settings);
  }

  /** @throws `MCP_CLIENT_CONNECT_FAILED`, at once while the pause after a failed attempt lasts */
  connect(): Promise<Connected> {
    const declared = this.#declared();
    if (this.#current && this.#current.declared !== declared) this.#forget(this.#current);
    if (this.#connecting) return this.#connecting;
    if (this.#lastError && this.#backOff.remaining() > 0) return Promise.reject(this.#lastError);
    const attempt = new AbortController();
    this.#attempt = attempt;
    // The connection belongs to nobody's request.
    const open = (): Promise<Connected> => this.#open(declared, attempt.signal);
    const connecting = this.#tellsContext ? runWithContext(undefined, open) : open();
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
      // The server is well, and the user may be back any moment; showing the page again and again helps nobody.
      if (signInRequired(error)) return;
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
    // Nobody hears of changes until it is connected again.
    this.#options.onLost();
    this.#attempt?.abort();
    // One that is up is not waited for: its set-up may be what does not end.
    const connected = current ?? (await connecting?.catch(() => undefined));
    if (!connected) return;
    await this.#close(connected);
    this.#options.log('debug', 'Disconnected.');
  }

  /** Gives up the connection and opens another, whatever pause is left. */
  async reconnect(): Promise<void> {
    await this.disconnect();
    await this.connect();
  }

  /** Asks to be told of changes of a resource, now and after every reconnection. */
  subscribe(uri: string): Promise<void> {
    return this.#wishes.subscribe(uri, (run) => this.request(run));
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#wishes.unsubscribe(uri, (run) => this.request(run));
  }

  /** Opens what is needed to hear of changes, if the server is connected; otherwise that happens when it is. */
  handlersChanged(): Promise<void> {
    return this.#wishes.update(this.#current);
  }

  /** Tells the server that the folders it may work in changed. */
  async rootsChanged(): Promise<void> {
    const { link, changes, declared } = this.#current ?? {};
    // A server that was told of no folders is connected again by the next request; the stateless revision asks each time.
    if (!link || changes || declared !== this.#declared()) return;
    await (await link.client()).sendRootsListChanged();
  }

  #declared(): string {
    const { handlers, target } = this.#options;
    return JSON.stringify(capabilitiesOf(handlers, target.definition.capabilities));
  }

  async #open(declared: string, signal: AbortSignal): Promise<Connected> {
    const { name, target, log, handlers } = this.#options;
    const deadlines = new Set<Deadline>();
    const progress = new Map<string, (update: ProgressUpdate) => void>();
    const registration: HandlerRegistration = {
      serverName: name,
      handlers,
      log,
      deadlines,
      progress,
      enableServerLogs: target.definition.enableServerLogs !== false,
      onListChanged: this.#options.onListChanged,
    };
    let connected: Connected | undefined;
    const link = await openLink(
      {
        name,
        target,
        limit: this.#connectLimit(),
        capabilities: JSON.parse(declared) as ReturnType<typeof capabilitiesOf>,
        maxInputRounds: target.definition.maxInputRounds,
        resume: this.#resume,
        prepare: (client) => registerHandlers(client, registration),
        onNotification: (notification) => handleNotification(registration, notification),
        onError: (error) => {
          log('debug', error.message, error);
          if (connected) this.#notice(connected, error);
        },
        onClosed: () => {
          if (connected) this.#lose(connected);
        },
      },
      signal,
    );
    this.#resume = false;
    connected = {
      link,
      changes: link.server.era === 'modern' ? createChangeStream(link, log) : undefined,
      declared,
      deadlines,
      progress,
      active: 0,
    };
    if (signal.aborted) {
      await this.#close(connected);
      throw disconnected(name);
    }
    if (link.isClosed) {
      throw new QuiverError(
        'MCP_CLIENT_CONNECT_FAILED',
        `MCP server '${name}' ended the connection as soon as it was up.`,
      );
    }
    this.#current = connected;
    this.#backOff.reset();
    this.#lastError = undefined;
    log('debug', `Connected: transport ${link.kind}, protocol version ${link.server.protocolVersion ?? 'unknown'}.`);
    await this.#setUp(connected).catch((error: unknown) => {
      log('warning', `Not everything could be set up: ${toErrorMessage(error)}`, error);
    });
    if (signal.aborted) throw disconnected(name);
    return connected;
  }

  /** What has to be said anew on every connection. */
  async #setUp(connected: Connected): Promise<void> {
    const { link, changes } = connected;
    const { target, timeout } = this.#options;
    const { serverLogLevel } = target.definition;
    const options = { timeout: timeout > 0 ? timeout : maxDelay };
    if (!changes && serverLogLevel !== undefined && link.server.capabilities?.logging)
      await (await link.client()).setLoggingLevel(toProtocolLevel(serverLogLevel), options);
    await this.#wishes.announce(connected, options);
  }

  /** The keys of `_meta` that go with every request of this connection. */
  metaFor({ link }: Connected): Record<string, unknown> {
    const { definition } = this.#options.target;
    if (link.server.era !== 'modern' || definition.enableServerLogs === false) return {};
    if (!definition.logger && !definition.log && definition.serverLogLevel === undefined) return {};
    return { [metaKeys.logLevel]: toProtocolLevel(definition.serverLogLevel ?? 'info') };
  }

  #notice(connected: Connected, error: Error): void {
    // A broken HTTP+SSE stream does not come back with its session; a 404 for the event stream says that the session is gone.
    const { link } = connected;
    const isSseLost = link.kind === 'sse' && 'event' in error;
    const isStreamRefused = link.sessionId !== undefined && isForgottenSession(error);
    if (isSseLost) link.close().catch(() => {});
    else if (isStreamRefused && connected.active === 0) {
      this.#lose(connected);
      this.#closeForgotten(connected);
    }
  }

  /** The connection ended, and not because this side wanted it. */
  #lose(lost: Connected): void {
    if (this.#current !== lost) return;
    this.#options.log('warning', 'The connection was lost. The next request connects again.');
    this.#forget(lost);
    this.#reviveLater();
  }

  /** Somebody waits for news of the server, so it is connected again without being asked. */
  #reviveLater(): void {
    if (this.#wishes.isEmpty) return;
    clearTimeout(this.#revival);
    this.#revival = setTimeout(() => {
      this.connect().catch(() => {});
    }, this.#backOff.remaining() + 1);
    this.#revival.unref?.();
  }

  /** The next request connects again; requests that still wait on the lost connection are not disturbed. */
  #forget(lost: Connected): void {
    lost.changes?.close();
    if (this.#current !== lost) return;
    this.#current = undefined;
    this.#connecting = undefined;
    this.#options.onLost();
    queueMicrotask(() => this.#closeForgotten(lost));
  }

  #closeForgotten(connected: Connected): void {
    if (connected === this.#current || connected.active > 0) return;
    connected.link.close().catch((error: unknown) => this.#options.log('debug', toErrorMessage(error), error));
  }

  async #close(connected: Connected): Promise<void> {
    const { link, changes } = connected;
    changes?.close();
    // A request that ends meanwhile leaves the link open for the end of the session.
    connected.active += 1;
    // A server that does not answer to the end of its session is not waited for: the end of the link ends the question too.
    const timer = setTimeout(() => void link.close().catch(() => {}), this.#connectLimit());
    try {
      await link.endSession();
      await link.close();
    } catch (error) {
      this.#options.log('debug', `Disconnecting was not clean: ${toErrorMessage(error)}`, error);
      await link.close().catch(() => {});
    } finally {
      clearTimeout(timer);
    }
  }

  /** Milliseconds until a connection must be up, and until its session must be ended. */
  #connectLimit(): number {
    const { target, timeout } = this.#options;
    const usual = target.kind === 'stdio' && timeout > 0 ? timeout : defaultConnectTimeout;
    return target.definition.connectTimeout ?? usual;
  }
}

function disconnected(name: string): QuiverError {
  return new QuiverError('MCP_CLIENT_CONNECT_FAILED', `The client was disconnected from MCP server '${name}'.`);
}
