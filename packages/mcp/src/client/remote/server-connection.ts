import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { defined } from '../../defined.js';
import { createBackOff } from '../../back-off.js';
import type { LoggingLevel } from '../../protocol/constants.js';
import type { ClientCapabilities, ServerCapabilities } from '../../protocol/types.js';
import { defaultClientInfo } from '../config/client-info.js';
import type { RequestHandlers } from '../config/handlers.js';
import type { ServerTarget } from '../config/server-definition.js';
import { declareHandlers, relayedCapabilities, UndeliveredError } from '../engine/call.js';
import type { Engine } from '../engine/engine.js';
import type { Channel } from '../transports/channel.js';
import { openConnection } from './open-connection.js';
import type { RemoteServer } from './remote-server.js';

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
  /** Why the last attempt to connect failed. */
  error?: { message: string; code: string };
  /** Milliseconds until the next attempt after a failed one. */
  retryIn?: number;
}

interface Opening {
  readonly attempt: AbortController;
  /** Resolves when the connection is open and set up. */
  readonly opened: Promise<Engine>;
  /** Kinds of handlers that the connection declares. */
  readonly declared: { readonly ofServer: number; readonly ofRequests: number };
}

type State =
  | { readonly kind: 'idle' }
  /** `error`: that of the attempt before. */
  | ({ readonly kind: 'connecting'; readonly error: QuiverError | undefined } & Opening)
  | ({ readonly kind: 'ready'; readonly engine: Engine; isSetUp: boolean } & Opening)
  | { readonly kind: 'failed'; readonly error: QuiverError };

/** Milliseconds until a connection must be open. The start of a process may include a download. */
const defaultConnectTimeouts: Readonly<Record<ServerTarget['kind'], number>> = {
  http: 3000,
  'in-process': 30_000,
  stdio: 60_000,
};

/** Connection of one server. It is opened on first use, by one attempt for all callers, and again after it was lost. */
export class ServerConnection {
  readonly #server: RemoteServer;
  readonly #backOff = createBackOff();
  /** Kinds of handlers of the server that were set since its definition. */
  #serverHandlers = 0;
  /** Kinds of handlers that requests have had. A handshake declares them for all requests of its connection. */
  readonly #requestHandlers = new Set<keyof RequestHandlers | 'relay'>();
  #state: State = { kind: 'idle' };
  /** Whether to resume the session of the definition. */
  #resume = true;
  #revival: NodeJS.Timeout | undefined;

  constructor(server: RemoteServer) {
    this.#server = server;
  }

  get engine(): Engine | undefined {
    return this.#state.kind === 'ready' ? this.#state.engine : undefined;
  }

  /** Error of the last attempt. */
  get error(): QuiverError | undefined {
    return 'error' in this.#state ? this.#state.error : undefined;
  }

  status(): ServerStatus {
    const state = this.#state;
    if (state.kind === 'failed') {
      const { message, code } = state.error;
      return { state: 'failed', error: { message, code }, retryIn: this.#backOff.remaining() };
    }
    if (state.kind !== 'ready') return { state: state.kind };
    const { channel, server } = state.engine;
    const { protocolVersion, info, capabilities, instructions } = server;
    const serverInfo = info && defined({ name: info.name, version: info.version, title: info.title });
    const described = defined({ protocolVersion, serverInfo, capabilities, instructions });
    return { state: 'ready', transport: channel.kind, ...described };
  }

  /** Returns the connection if it is set up and declares what the handlers of a request need; otherwise {@link connectFor} opens one. */
  readyFor({ onElicitation, onSampling }: RequestHandlers): Engine | undefined {
    const state = this.#state;
    if (state.kind !== 'ready' || !state.isSetUp || !this.#declaresAll(state)) return undefined;
    return (onElicitation || onSampling) && !state.engine.isModern ? undefined : state.engine;
  }

  /** Connects with the capabilities that the handlers of a request need, for which a legacy server is connected again. */
  connectFor({ onElicitation, onSampling }: RequestHandlers): Promise<Engine> {
    if (!onElicitation && !onSampling) return this.connect();
    const { elicitation, sampling } = this.#capabilities;
    if (onElicitation && !elicitation) this.#requestHandlers.add('onElicitation');
    if (onSampling && !sampling) this.#requestHandlers.add('onSampling');
    // An attempt in progress may declare less.
    return this.connect().then((engine) => (this.declaresHandlers ? engine : this.connect()));
  }

  /** Lets handshakes declare what the callers behind relays may be able to do. */
  declareRelays(): void {
    this.#requestHandlers.add('relay');
  }

  /** Lets the next connection declare a new kind of handlers of the server. */
  declareHandler(): void {
    this.#serverHandlers += 1;
  }

  /** Whether the connection declares all handlers that are set. */
  get declaresHandlers(): boolean {
    return this.#state.kind === 'ready' && this.#declaresAll(this.#state);
  }

  /** Modern requests declare their own handlers. */
  #declaresAll({ engine, declared: { ofServer, ofRequests } }: State & { kind: 'ready' }): boolean {
    return ofServer === this.#serverHandlers && (engine.isModern || ofRequests === this.#requestHandlers.size);
  }

  /** @throws `MCP_CLIENT_CONNECT_FAILED`, at once during the pause after a failed attempt */
  connect(): Promise<Engine> {
    const state = this.#state;
    if (state.kind === 'ready' && !this.#declaresAll(state)) this.forget(state.engine);
    else if ('opened' in state) return state.opened;
    else if (state.kind === 'failed' && this.#backOff.remaining() > 0) return Promise.reject(state.error);
    const attempt = new AbortController();
    const declared = { ofServer: this.#serverHandlers, ofRequests: this.#requestHandlers.size };
    const opened = this.#open(attempt.signal, (engine) => {
      this.#state = { kind: 'ready', engine, isSetUp: false, attempt, opened, declared };
    });
    const connecting: State = { kind: 'connecting', error: this.error, attempt, opened, declared };
    this.#state = connecting;
    opened.catch((error: QuiverError) => {
      if (this.#state !== connecting) return;
      this.#server.log('error', error.message, error);
      this.#state = { kind: 'failed', error };
      // The server works, and the user may sign in at any moment; showing the page again and again does not help.
      if (isQuiverError(error, 'OAUTH_AUTHORIZATION_REQUIRED')) return;
      this.#backOff.failed();
      this.#reviveLater();
    });
    return opened;
  }

  /** Ends the session and the connection, or the attempt. */
  async disconnect(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'idle' };
    this.#backOff.reset();
    clearTimeout(this.#revival);
    // Changes go unnoticed until the next connection.
    this.#server.invalidate();
    if (!('opened' in state)) return;
    state.attempt.abort(new Error('the client was disconnected'));
    // Does not wait for the set-up of an open connection: it may be what never settles.
    const engine = state.kind === 'ready' ? state.engine : await state.opened.catch(() => undefined);
    if (!engine) return;
    await this.#close(engine);
    this.#server.log('debug', 'Disconnected.');
  }

  /** Makes the next request connect again. Requests in progress are not disturbed. */
  forget(lost: Engine): void {
    this.#server.subscriptions.release(lost);
    if (this.engine !== lost) return;
    this.#state = { kind: 'idle' };
    this.#server.invalidate();
    lost.retire();
  }

  /** The capabilities that follow from the handlers of the server, extended by those of the definition. */
  get #capabilities(): ClientCapabilities {
    const { handlers, options } = this.#server;
    const { elicitation, sampling, roots } = handlers;
    return {
      ...declareHandlers(elicitation, sampling),
      ...(roots && { roots: { listChanged: true } }),
      ...options.capabilities,
    };
  }

  async #open(signal: AbortSignal, onOpen: (engine: Engine) => void): Promise<Engine> {
    const { name, target, options, application, settings } = this.#server;
    const { enableServerLogs = true, maxInputRounds, resetTimeoutOnProgress, logger = options.log } = options;
    const isLogging = enableServerLogs && (logger ?? this.#logLevel) !== undefined;
    const capabilities = this.#capabilities;
    const ofRequests = this.#requestHandlers;
    const disconnected = `The client was disconnected from MCP server '${name}'.`;
    let opened: Engine | undefined;
    const engine = await openConnection(
      {
        name,
        application,
        target,
        limit: this.#connectLimit,
        clientInfo: options.clientInfo ?? settings.clientInfo ?? defaultClientInfo,
        capabilities,
        handshakeCapabilities: {
          ...declareHandlers(ofRequests.has('onElicitation'), ofRequests.has('onSampling')),
          ...(ofRequests.has('relay') && relayedCapabilities),
          ...capabilities,
        },
        maxInputRounds,
        timeout: options.timeout ?? settings.timeout,
        resetTimeoutOnProgress,
        logLevel: isLogging ? (this.#logLevel ?? 'info') : undefined,
        resume: this.#resume,
        onError: (error) => this.#logError(error),
        onSessionLost: () => {
          if (opened && !opened.isHeld) this.#lose(opened);
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
      throw failed(disconnected);
    }
    if (engine.isClosed) throw failed(`MCP server '${name}' ended the connection as soon as it was open.`);
    if (this.error) this.#backOff.reset();
    onOpen(engine);
    const { channel, server } = engine;
    const version = server.protocolVersion ?? 'unknown';
    this.#server.log('debug', `Connected: transport ${channel.kind}, protocol version ${version}.`);
    await this.#setUp(engine);
    if (signal.aborted) throw failed(disconnected);
    if (this.#state.kind === 'ready' && this.#state.engine === engine) this.#state.isSetUp = true;
    this.#server.handlers.onConnected?.();
    return engine;
  }

  /** Sends the log level and the subscriptions to a new connection. A failure is logged. */
  async #setUp(engine: Engine): Promise<void> {
    const { subscriptions } = this.#server;
    const level = this.#logLevel;
    engine.hold();
    try {
      if (!engine.isModern && level !== undefined && engine.server.capabilities?.logging)
        await engine.request('logging/setLevel', { level });
      await subscriptions.restore(engine);
    } catch (error) {
      this.#server.log('warning', `The connection could not be set up completely: ${toErrorMessage(error)}`, error);
    } finally {
      engine.release();
    }
  }

  /** The connection ended, and the client did not close it. */
  #lose(lost: Engine): void {
    if (this.engine !== lost) return;
    this.#server.log('warning', 'The connection was lost. The next request connects again.');
    this.forget(lost);
    this.#reviveLater();
  }

  /** Connects again without a request for subscriptions, and for a gateway, whose clients ask for a list once. */
  #reviveLater(): void {
    if (this.#server.subscriptions.isEmpty && !this.#requestHandlers.has('relay')) return;
    clearTimeout(this.#revival);
    this.#revival = setTimeout(() => {
      this.connect().catch(() => {});
    }, this.#backOff.remaining() + 1);
    this.#revival.unref?.();
  }

  async #close(engine: Engine): Promise<void> {
    this.#server.subscriptions.release(engine);
    // A server that does not respond to the end of its session delays nothing: the end of the connection ends the request.
    const timer = setTimeout(() => void engine.close().catch(() => {}), this.#connectLimit);
    try {
      await engine.channel.endSession?.();
    } catch (error) {
      this.#server.log('debug', `The session could not be ended: ${toErrorMessage(error)}`, error);
    } finally {
      clearTimeout(timer);
      await engine.close().catch((error: unknown) => this.#logError(error));
    }
  }

  #logError(error: unknown): void {
    this.#server.log(error instanceof UndeliveredError ? 'warning' : 'debug', toErrorMessage(error), error);
  }

  /** Milliseconds until a connection must be open, and until its session must have ended. */
  get #connectLimit(): number {
    const { options, target } = this.#server;
    return options.connectTimeout ?? defaultConnectTimeouts[target.kind];
  }

  get #logLevel(): LoggingLevel | undefined {
    const { serverLogLevel } = this.#server.options;
    return serverLogLevel === 'warn' ? 'warning' : serverLogLevel;
  }
}

function failed(message: string): QuiverError {
  return new QuiverError('MCP_CLIENT_CONNECT_FAILED', message);
}
