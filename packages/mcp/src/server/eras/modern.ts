import type { ElicitOptions } from '@quiver/core/tools';
import type { Result } from '../../content.js';
import { isLoggingLevel, metaKeys, MODERN_VERSION } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import type { Implementation } from '../../protocol/types.js';
import { notSupported } from '../client/client-request-errors.js';
import type { ClientRequest } from '../client/client-requests.js';
import type { ClientDeclarations } from '../client/legacy-session.js';
import { requireMethod } from '../methods/methods.js';
import { ServerRequest, type Handler } from '../request.js';
import type { RequestState } from '../client/request-state.js';
import type { ContinuedRun, Continuation, ProgressUpdate } from '../continued-run.js';
import { InputRound, readRequestState } from './input-round.js';
import { cacheableMethods, listMethods, type ListMethod } from '../../protocol/methods.js';
import type { CacheHints } from '../definition/server-config.js';

/** A request of the modern era (2026-07-28); everything about the client is in its `_meta`. */
export class ModernRequest extends ServerRequest {
  readonly era = 'modern';
  #client: ClientDeclarations | undefined;
  /** Ends the request. Present while its handler may send requests to the client; the first one begins the round. */
  #settle: ((result: Promise<Result> | Result) => void) | undefined;
  #round: InputRound | undefined;
  #previous: RequestState | undefined;
  /** Present while the run may continue after the response. */
  #continuation: Continuation | undefined;
  #continued: ContinuedRun | undefined;
  #progress: ProgressUpdate | undefined;

  get client(): ClientDeclarations {
    return (this.#client ??= declarationsOf(this.meta));
  }

  /**
   * Returns the result of an earlier round at once; otherwise the promise never settles and the round ends. A run that
   * continues waits for the result.
   */
  protected async sendToClient<Value>(request: ClientRequest<Value>, options: ElicitOptions): Promise<Value> {
    if (this.#continued) return this.#continued.request(request, options);
    const round = this.#beginRound();
    if (round) return round.request(request, options);
    throw notSupported(
      request,
      'A client of this protocol version accepts requests only from tools/call, prompts/get and resources/read.',
    );
  }

  override get callId(): string {
    return this.#previous?.id ?? super.callId;
  }

  override get kept(): unknown {
    return this.#previous?.kept;
  }

  override get mayContinue(): boolean {
    return this.#continuation !== undefined;
  }

  override continueNow(): void {
    this.#continuation?.continueNow();
  }

  override endRound(inputRequests: unknown, kept: unknown): Promise<never> {
    const round = this.#beginRound();
    if (!round) return super.endRound(inputRequests, kept);
    round.endWith(inputRequests, kept);
    return new Promise(() => {});
  }

  #beginRound(): InputRound | undefined {
    return (this.#round ??= this.#settle && new InputRound(this, this.#previous, this.#settle));
  }

  override report(update: ProgressUpdate): void {
    if (this.#continued) return this.#continued.report(update);
    this.#progress = update;
    super.report(update);
  }

  protected membersFor(result: Result): object {
    return this.server.modernMembers(this.method, result);
  }

  /**
   * A handler may send requests to the client. The response is the result, or an `input_required` result that
   * the client answers by sending its request again. The handler then runs again from its start, and requests that have a result
   * return at once.
   *
   * @throws ProtocolError -32602 for a `requestState` that was not issued for this request, -32021 when the client lacks a capability
   * @see [MCP 2026-07-28, multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
   */
  protected answer(): Promise<Result> {
    const method = requireMethod(this);
    if (!method.isInteractive) return this.runMethod(method);
    const state = this.params?.['requestState'];
    return state === undefined ? this.#runRound(method, undefined) : this.#runNextRound(method, state);
  }

  async #runNextRound(method: Handler, state: unknown): Promise<Result> {
    const previous = await readRequestState(this, state);
    return this.server.answeredRounds.once(state, this, () => this.#runRound(method, previous));
  }

  /** Runs a handler that may send requests to the client. The round may end before the run, whose result is then ignored. */
  #runRound(method: Handler, previous: RequestState | undefined): Promise<Result> {
    this.#previous = previous;
    const continuation = method.continuation?.(this);
    if (continuation) return this.#runContinuable(method, previous, continuation);
    return new Promise((resolve, reject) => {
      // Not a function that begins the round: V8 puts one that is assigned to a property into its old generation.
      this.#settle = resolve;
      this.runMethod(method).then(resolve, reject);
    });
  }

  /** As {@link ModernRequest.#runRound}, for a run that may continue after the response. */
  #runContinuable(method: Handler, previous: RequestState | undefined, continuation: Continuation): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { signal } = this;
      const round = new InputRound(this, previous, resolve, continuation.takesRequests);
      let running: Promise<Result>;
      let isOver = false;
      continuation.start({
        get isOpen() {
          return !isOver && !signal.aborted;
        },
        round,
        continueAs: (continued) => {
          this.#continued = continued;
          round.handOver(continued);
          if (this.#progress) continued.report(this.#progress);
          return running.then((result) => result.toText(this.membersFor(result)));
        },
        respond: resolve,
        fail: (error) => {
          this.stop(error);
          reject(error);
        },
      });
      this.#round = round;
      this.#continuation = continuation;
      running = this.runMethod(method);
      const end = (): void => {
        isOver = true;
        continuation.end();
      };
      running.then(end, end);
      running.then(resolve, reject);
    });
  }

  async repeat(continued: ContinuedRun): Promise<string> {
    this.#continued = continued;
    const result = await this.runMethod(requireMethod(this));
    return result.toText(this.membersFor(result));
  }
}

/** The shapes of implementation and capabilities were checked when the request was classified. */
function declarationsOf(meta: Params = {}): ClientDeclarations {
  const { [metaKeys.clientInfo]: info, [metaKeys.clientCapabilities]: capabilities, [metaKeys.logLevel]: level } = meta;
  return {
    protocolVersion: MODERN_VERSION,
    clientInfo: isObject(info) ? (info as unknown as Implementation) : undefined,
    clientCapabilities: isObject(capabilities) ? capabilities : {},
    // Clients request log messages per request; without a level they receive none.
    logLevel: isLoggingLevel(level) ? level : undefined,
  };
}

/** Milliseconds for which clients may cache a list that they have not subscribed to changes of. */
const defaultListLifetime = 5000;

/** Returns the members of the modern era for a result of a method: a cache hint, the type of the result and the identity of the server. */
export type ModernMembers = (method: string, result: Result) => object;

export function createModernMembers(serverInfo: Implementation, hints: CacheHints = {}): ModernMembers {
  const own = { [metaKeys.serverInfo]: serverInfo };
  const byMethod = new Map<string, object>(
    cacheableMethods.map((method) => {
      // The cast: a test for membership.
      const lifetime = listMethods.includes(method as ListMethod) ? defaultListLifetime : 0;
      const { ttlMs = lifetime, cacheScope = 'private' } = hints[method] ?? {};
      return [method, { ttlMs, cacheScope }];
    }),
  );
  return (method, { meta, isPrivate, type }) => {
    const hint = type === 'complete' ? byMethod.get(method) : undefined;
    return {
      ...hint,
      ...(hint && isPrivate && { cacheScope: 'private' }),
      resultType: type,
      _meta: meta ? { ...own, ...meta } : own,
    };
  };
}
