import type { Relay } from '../../client/engine/call.js';
import { defined } from '../../defined.js';
import { errorCodes, loggingLevels, TASKS_EXTENSION, type LoggingLevel } from '../../protocol/constants.js';
import { isObject, type JsonRpcNotification, type Params } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import { missingCapabilities, passedOnRequest } from '../../server/client/client-requests.js';
import type { ProgressUpdate } from '../../server/continued-run.js';
import type { ServerRequest } from '../../server/request.js';
import { defer } from '../../server/eras/input-round.js';

interface Waiting {
  readonly method: string;
  readonly params: Params;
  readonly resolve: (response: Params) => void;
}

/** State between the rounds of a modern caller: that of a modern upstream, or the call that waits in this process. */
export type RelayState = { readonly requestState?: unknown } | { readonly call: string };

/**
 * A request that is passed on to another server for its caller, with everything that comes back meanwhile.
 *
 * A legacy caller receives the requests of the upstream while its own is open. A modern caller receives them as the result of its request, and
 * calls again: the request to a legacy upstream waits for that, because calling it twice could have effects twice.
 */
export class RelayedCall implements Relay {
  readonly capabilities: ClientCapabilities;
  readonly caller: unknown;
  readonly returnsInput: boolean;
  readonly acceptsTasks: boolean;
  readonly #controller = new AbortController();
  /** Request of the newest round; `undefined` between rounds. */
  #host: ServerRequest | undefined;
  #waiting: Map<string, Waiting> | undefined;
  #count = 0;
  #continues = false;
  #onWaiting: (() => void) | undefined;

  constructor(host: ServerRequest) {
    const { era, client, mayContinue } = host;
    this.#host = host;
    this.capabilities = withoutTasks(client.clientCapabilities);
    this.caller = callerOf(host);
    this.returnsInput = era === 'modern';
    // The proxy waits for a legacy caller, which has no tasks.
    this.acceptsTasks = mayContinue || era === 'legacy';
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#host?.client.logLevel;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get onProgress(): ((update: ProgressUpdate) => void) | undefined {
    return this.#host?.meta?.['progressToken'] === undefined ? undefined : (update) => this.report(update);
  }

  report({ progress, total, message }: ProgressUpdate): void {
    this.#host?.report(defined({ progress, total, message }));
  }

  /** Continues after the response, as this server does it; there the requests and the progress of the upstream go from here on. */
  continueNow(): void {
    if (!this.#host?.mayContinue) return;
    this.#continues = true;
    this.#host.continueNow();
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  notify({ method, params = {} }: JsonRpcNotification): void {
    const host = this.#host;
    if (!host) return;
    if (method === 'notifications/elicitation/complete' && host.era === 'legacy') host.notify(method, params);
    const { logLevel } = host.client;
    if (method !== 'notifications/message' || logLevel === undefined) return;
    const level = params['level'] as LoggingLevel;
    if (loggingLevels.indexOf(level) >= loggingLevels.indexOf(logLevel)) host.notify(method, params);
  }

  async respond(method: string, params: Params, signal: AbortSignal): Promise<Params> {
    const host = this.#host;
    const request = passedOnRequest(method, params);
    const missing = missingCapabilities(request.requires, this.capabilities);
    if (missing) throw notSupported(method, missing);
    if (host && (!this.returnsInput || this.#continues)) {
      try {
        return await host.ask(() => request, { signal });
      } catch (error) {
        const { cause } = error as Error;
        throw cause instanceof ProtocolError ? cause : error;
      }
    }
    return new Promise((resolve, reject) => {
      this.#count += 1;
      const key = `input-${this.#count}`;
      const waiting = (this.#waiting ??= new Map());
      const end = (): void => void waiting.delete(key);
      waiting.set(key, { method, params, resolve: (response: Params) => (end(), resolve(response)) });
      signal.addEventListener('abort', () => (end(), reject(signal.reason as Error)), { once: true });
      // Requests of one turn of the event loop belong to one round.
      defer(() => this.#onWaiting?.());
    });
  }

  /**
   * Waits for the result in one round of the caller.
   *
   * @param running - result of the upstream
   * @param suspend - called when the round ends with requests of the upstream; returns the state of the next one
   */
  async host(host: ServerRequest, running: Promise<Params>, suspend: () => RelayState): Promise<Params> {
    this.#host = host;
    const { signal } = host;
    const onAbort = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const waiting = new Promise<undefined>((resolve) => {
      this.#onWaiting = () => {
        if (this.#waiting?.size) resolve(undefined);
      };
      this.#deliver(host.params?.['inputResponses']);
    });
    try {
      const result = await (this.returnsInput ? Promise.race([running, waiting]) : running);
      if (result) return result;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#onWaiting = undefined;
      this.#host = undefined;
    }
    const requests = [...(this.#waiting ?? [])].map(([key, { method, params }]) => [key, { method, params }] as const);
    return host.endRound(Object.fromEntries(requests), suspend());
  }

  /** Passes the responses of the caller to the upstream. Requests without one are sent again. */
  #deliver(responses: unknown): void {
    for (const [key, { resolve }] of this.#waiting ?? []) {
      const response = isObject(responses) && Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (isObject(response)) resolve(response);
    }
    if (this.#waiting?.size) defer(() => this.#onWaiting?.());
  }
}

/** Returns what stands for the client: over stdio there is one per connection, with one caller; elsewhere it has a session or a principal. */
function callerOf(host: ServerRequest): unknown {
  const { session, caller } = host;
  return session ?? caller.principal ?? (caller.transport === 'stdio' ? caller : host);
}

function withoutTasks({ extensions, ...capabilities }: ClientCapabilities): ClientCapabilities {
  if (!extensions) return capabilities;
  const { [TASKS_EXTENSION]: _, ...others } = extensions;
  return { ...capabilities, extensions: others };
}

function notSupported(method: string, missing: object): ProtocolError {
  const reason = `the client did not declare the capability ${JSON.stringify(missing)}`;
  return new ProtocolError(errorCodes.methodNotFound, `Method not found: ${method} (${reason})`);
}
