import { QuiverError, toErrorMessage, withinTime } from '@quiver/core';
import { checkOptions, type OptionChecks } from '@quiver/core/internal';
import { monotonicNow } from '../monotonic-now.js';
import { toAuthInfo } from './caller.js';
import { exitAfter, serveStdio, stdioChecks, type StdioConnection, type StdioOptions } from './connection/stdio.js';
import type { ServerState } from './definition/server-state.js';
import { HttpEndpoint } from './http/endpoint.js';
import type { ServerHealth } from './http/health.js';
import { Listener, type ListenOptions, type McpHttpServer } from './http/listen.js';
import { onShutdownSignal } from './http/shutdown-signals.js';
import { amount, transportChecks } from './http/transport-options.js';
import { until, type Transport } from './lifecycle.js';
import { DEFAULT_GRACE } from './limits.js';

/** Options of `server.drain()` and `server.close()`. */
export interface CloseOptions {
  /**
   * Milliseconds to wait for in-flight calls, for tasks, and then for handlers of `onClose()`. Default 10 000; `close()` waits for the calls
   * of `listen()`, and for tasks and handlers of a server that listens, for its `shutdownGrace`.
   */
  grace?: number;
}

const closeChecks: OptionChecks<CloseOptions> = { grace: amount };

/** Transports that a server has started, and the end of the server: the methods of `MCPServer` with the same names. */
export class Transports {
  readonly http: HttpEndpoint;
  readonly fetch: HttpEndpoint;
  readonly #state: ServerState;
  readonly #listening = new Set<Listener>();
  readonly #signalHandlers = new Set<() => void>();
  #stdio: StdioConnection | undefined;
  readonly #closeHandlers = new Set<() => unknown>();
  /** Whether everything that handlers of `onClose()` may end is no longer used. */
  #mayEnd = false;
  /** The run of the handlers, which every `close()` waits for. */
  #closeHandlersEnd: Promise<unknown> = Promise.resolve();

  constructor(state: ServerState) {
    this.#state = state;
    this.http = this.#createEndpoint();
    this.fetch = this.#createEndpoint();
  }

  get stdio(): StdioConnection | undefined {
    return this.#stdio;
  }

  get #all(): Transport[] {
    const stdio = this.#stdio ? [this.#stdio] : [];
    const further = this.#state.features.flatMap(({ transport }) => transport ?? []);
    return [this.http, this.fetch, ...further, ...this.#listening, ...stdio];
  }

  #createEndpoint(): HttpEndpoint {
    return new HttpEndpoint(this.#state, this.#state.features.find(({ sessions }) => sessions)?.sessions);
  }

  async startStdio(options: StdioOptions): Promise<void> {
    checkOptions('startStdio', options, stdioChecks);
    const { authInfo, input, output, exitOnDisconnect = !input && !output } = options;
    this.#requireOpen();
    if (this.#stdio) {
      throw new QuiverError(
        'SERVER_ALREADY_STARTED',
        'This MCPServer serves stdio already, and a process has one standard input.',
      );
    }
    this.#stdio = serveStdio({
      server: this.#state,
      authInfo: toAuthInfo(authInfo),
      input,
      output,
      onClose: () => {
        this.#stdio = undefined;
      },
      onDisconnect: exitOnDisconnect ? () => void exitAfter(() => this.close(), this.#state.logger) : undefined,
    });
  }

  async listen(options: ListenOptions): Promise<McpHttpServer> {
    checkOptions('listen', options, transportChecks.listen);
    this.#requireOpen();
    const listener = await Listener.start(this.#createEndpoint(), options, () => this.health());
    const { shutdownSignals = [] } = options;
    const removeHandlers = onShutdownSignal(shutdownSignals, () => {
      this.close().catch((error: unknown) =>
        this.#state.logger.error(`The server could not be closed: ${toErrorMessage(error)}`, error),
      );
    });
    this.#signalHandlers.add(removeHandlers);
    this.#listening.add(listener);
    const close = async (): Promise<void> => {
      this.#signalHandlers.delete(removeHandlers);
      removeHandlers();
      await listener.shutDown();
      this.#listening.delete(listener);
    };
    if (!this.#isOpen) await close();
    this.#requireOpen();
    for (const feature of this.#state.features) feature.onListen?.();
    return { url: listener.url, port: listener.port, close };
  }

  get #isOpen(): boolean {
    return this.#state.lifecycle.state === 'open';
  }

  #requireOpen(): void {
    if (!this.#isOpen)
      throw new QuiverError(
        'SERVER_CLOSED',
        'This MCPServer was closed, or drains, and cannot be started again; create a new one.',
      );
  }

  health(): ServerHealth {
    const { lifecycle, sessions, features } = this.#state;
    const { state } = lifecycle;
    return {
      status: state === 'open' ? 'ok' : state,
      inFlight: this.#all.reduce((sum, { inFlight }) => sum + inFlight, 0),
      sessions: sessions.size,
      tasks: features.reduce((sum, { runs = 0 }) => sum + runs, 0),
    };
  }

  onClose(handler: () => unknown): void {
    this.#closeHandlers.add(handler);
    // Otherwise it would never run, and its pool would keep the process alive.
    if (this.#mayEnd) void this.#runCloseHandlers(DEFAULT_GRACE);
  }

  async drain(options: CloseOptions): Promise<void> {
    checkOptions('drain', options, closeChecks);
    this.#beginDraining();
    await until(() => this.health().inFlight === 0, options.grace ?? DEFAULT_GRACE);
  }

  #beginDraining(): void {
    this.#state.lifecycle.drain();
    for (const transport of this.#all) transport.drain();
  }

  async close(options: CloseOptions = {}): Promise<void> {
    checkOptions('close', options, closeChecks);
    this.#beginDraining();
    for (const remove of this.#signalHandlers) remove();
    this.#signalHandlers.clear();
    const listening = [...this.#listening];
    const delay = Math.max(0, ...listening.map(({ drainDelay }) => drainDelay));
    const longest = listening.length === 0 ? DEFAULT_GRACE : Math.max(...listening.map(({ grace }) => grace));
    const { grace = longest } = options;
    const deadline = monotonicNow() + delay + grace;
    const { features, work, subscribers, instance, lifecycle } = this.#state;
    let left = options.grace;
    const isAwaited = (): boolean => features.some((feature) => feature.isAwaited);
    if (isAwaited()) {
      // Their clients poll: a transport without a request in flight would end before the next poll.
      await until(() => !isAwaited(), grace);
      left = Math.max(0, deadline - delay - monotonicNow());
    }
    await Promise.all(this.#all.map((transport) => transport.shutDown(left)));
    lifecycle.close();
    // After the transports: a call in flight may have begun to continue after its response.
    const rest = Math.max(0, deadline - monotonicNow());
    await Promise.all(features.map((feature) => feature.close?.(rest)));
    // Hooks of calls that were canceled just now have work too.
    await until(() => work.size === 0, grace);
    subscribers.close();
    await instance.close();
    this.#mayEnd = true;
    await this.#runCloseHandlers(grace);
  }

  async #runCloseHandlers(timeout: number): Promise<void> {
    const { logger } = this.#state;
    const handlers = [...this.#closeHandlers];
    this.#closeHandlers.clear();
    const run = async (handler: () => unknown): Promise<void> => {
      try {
        const running = Promise.resolve(handler());
        await withinTime(running, timeout, (limit) => new Error(`It did not end within ${limit} ms.`));
      } catch (error) {
        logger.warn(`A handler of onClose() failed: ${toErrorMessage(error)}`, error);
      }
    };
    const running = handlers.map(run);
    this.#closeHandlersEnd = Promise.all([this.#closeHandlersEnd, ...running]);
    await this.#closeHandlersEnd;
  }
}
