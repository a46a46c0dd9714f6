import type { ElicitOptions } from '@quiver/core/tools';
import { canceledResult, Result } from '../../content.js';
import { errorCodes } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import { findFailure, invalidResult, requireCapabilities } from '../client/client-request-errors.js';
import { digestOfRequest, type ClientRequest, type MissingCapabilities } from '../client/client-requests.js';
import { digestOf } from '../digest.js';
import { MAX_INPUT_ROUNDS } from '../limits.js';
import type { ServerRequest } from '../request.js';
import { repeatOutcome, type RequestState } from '../client/request-state.js';
import type { ContinuedRun } from '../continued-run.js';

/** A request to the client without a result. A run that continues may still receive it; otherwise its promise never settles. */
interface OutstandingRequest {
  readonly request: ClientRequest<unknown>;
  readonly options: ElicitOptions;
  readonly resolve: (result: Promise<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

/** One round of a request: collects the requests of its handler that have no result yet. */
export class InputRound {
  readonly #request: ServerRequest;
  readonly #previous: RequestState | undefined;
  readonly #settle: (result: Promise<Result> | Result) => void;
  #answers: RequestState['answers'];
  #outstanding: Map<string, OutstandingRequest> | undefined;
  #continued: ContinuedRun | undefined;
  #count = 0;
  /** Capabilities of all requests that the client did not declare. */
  readonly #missing: MissingCapabilities = {};
  /** Whether requests wait for {@link InputRound.handOver}: later requests of the client may declare what this one does not. */
  #waits: boolean;
  /** Requests that are being compared with those of the previous round. */
  #checking = 0;

  /**
   * @param settle - receives the `input_required` result when a request has no result yet; the first result counts
   * @param waits - whether requests wait for {@link InputRound.handOver}, unless {@link InputRound.keep} is called
   */
  constructor(
    request: ServerRequest,
    previous: RequestState | undefined,
    settle: (result: Promise<Result> | Result) => void,
    waits = false,
  ) {
    this.#request = request;
    this.#previous = previous;
    this.#settle = settle;
    this.#answers = previous?.answers ?? {};
    this.#waits = waits;
  }

  get answers(): RequestState['answers'] {
    return this.#answers;
  }

  get requestCount(): number {
    return this.#count;
  }

  get isEnding(): boolean {
    return this.#outstanding !== undefined;
  }

  /** Ends the round without a result: a run that continues takes its requests. */
  handOver(continued: ContinuedRun): void {
    this.#continued = continued;
    for (const [key, { request, options, resolve }] of this.#outstanding ?? [])
      resolve(continued.requestAs(key, request, options));
  }

  /** The run does not continue: requests without their capability are rejected. */
  keep(): void {
    this.#waits = false;
    for (const [key, { request, reject }] of this.#outstanding ?? []) {
      try {
        this.#requireCapabilities(request);
      } catch (error) {
        this.#outstanding?.delete(key);
        reject(error);
      }
    }
    if (this.#outstanding?.size === 0) this.#outstanding = undefined;
  }

  #requireCapabilities(request: ClientRequest<unknown>): void {
    requireCapabilities(request, this.#request.client.clientCapabilities, this.#missing);
  }

  /**
   * @throws `ELICITATION_NOT_SUPPORTED` (or `SAMPLING_…`, `ROOTS_…`), `ELICITATION_FAILED` when the client reports a failure,
   *   `ELICITATION_ANSWER_INVALID` when its response does not match the requested schema
   */
  async request<Value>(request: ClientRequest<Value>, options: ElicitOptions): Promise<Value> {
    this.#count += 1;
    if (!this.#waits) this.#requireCapabilities(request);
    const name = options.key ?? `input-${this.#count}`;
    if (this.#previous) {
      this.#checking += 1;
      try {
        const result = await this.#resultOf(name, request, this.#previous);
        if (result !== undefined) return result;
      } finally {
        this.#checking -= 1;
        if (this.#outstanding) this.#endSoon();
      }
      if (this.#continued) return this.#continued.requestAs(name, request, options);
    }
    return new Promise((resolve, reject) => {
      const outstanding: OutstandingRequest = {
        request,
        options,
        resolve: resolve as OutstandingRequest['resolve'],
        reject,
      };
      (this.#outstanding ??= new Map()).set(name, outstanding);
      this.#endSoon();
    });
  }

  /** Collects the requests of one turn of the event loop. */
  #endSoon(): void {
    defer(() => {
      if (this.#checking > 0 || this.#continued || !this.#outstanding) return;
      // The handler waits forever, so the run of a canceled request ends here; it has no response.
      this.#settle(this.#request.abandon() ? this.#end() : canceledResult);
    });
  }

  async #resultOf<Value>(
    name: string,
    request: ClientRequest<Value>,
    { asked, round }: RequestState,
  ): Promise<Value | undefined> {
    const digest = await digestOfRequest(request);
    const known = Object.hasOwn(this.#answers, name) ? this.#answers[name] : undefined;
    // A request that changed between the rounds is another request. The cast: the result was parsed before it was signed.
    if (known?.question === digest) return repeatOutcome(known) as Value;
    if (!Object.hasOwn(asked, name) || asked[name] !== digest) return undefined;
    const responses = this.#request.params?.['inputResponses'];
    if (!isObject(responses) || !Object.hasOwn(responses, name)) return undefined;
    const failure = findFailure(request, responses[name]);
    const answer = failure ? undefined : await request.parse(responses[name]);
    // An invalid result is requested again while there are rounds.
    const error = failure ?? (answer === undefined && round >= MAX_INPUT_ROUNDS ? invalidResult(request) : undefined);
    if (!error && answer === undefined) return undefined;
    // The tool may handle the error and send other requests: in their rounds it receives the same one.
    const outcome = error ? { failure: { code: error.code, message: error.message } } : { answer };
    this.#answers = { ...this.#answers, [name]: { question: digest, ...outcome } };
    if (error) throw error;
    return answer;
  }

  /** Ends the round with requests that another program made. */
  endWith(inputRequests: unknown, kept: unknown): void {
    this.#settle(this.#request.abandon() ? this.#mint({}, inputRequests, kept) : canceledResult);
  }

  async #end(): Promise<Result> {
    const asked: Record<string, string> = {};
    const inputRequests: Record<string, object> = {};
    for (const [name, { request }] of Array.from(this.#outstanding ?? [])) {
      asked[name] = await digestOfRequest(request);
      inputRequests[name] = { method: request.method, params: request.params };
    }
    return this.#mint(asked, inputRequests);
  }

  async #mint(asked: Record<string, string>, inputRequests: unknown, kept?: unknown): Promise<Result> {
    const { params, server } = this.#request;
    const round = (this.#previous?.round ?? 0) + 1;
    if (round > MAX_INPUT_ROUNDS) {
      throw new ProtocolError(
        errorCodes.internal,
        `The server sent requests to the client in more than ${MAX_INPUT_ROUNDS} rounds; the request was ended.`,
      );
    }
    const { callId: id } = this.#request;
    const state: RequestState = {
      id,
      call: await digestOfCall(params),
      round,
      asked,
      answers: this.#answers,
      kept,
    };
    const requestState = await server.requestState.mint(state, await bindingOf(this.#request));
    return Result.of({ inputRequests, requestState }, { type: 'input_required' });
  }
}

/** Outside of Node there is no `setImmediate`. */
export const defer: (run: () => void) => void =
  typeof setImmediate === 'function' ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0);

/**
 * Returns the state that the client received in the previous round.
 *
 * @throws ProtocolError -32602 when the state was not issued to this caller for this request
 */
export async function readRequestState(request: ServerRequest, text: unknown): Promise<RequestState> {
  const state = await request.server.requestState.verify(text, await bindingOf(request));
  if (state.call !== (await digestOfCall(request.params)))
    throw invalidParams('Invalid requestState: it belongs to another call.');
  return state;
}

/** Binds a state to method and principal. A digest, because the principal may contain a token. */
function bindingOf({ method, caller }: ServerRequest): Promise<string> {
  return digestOf([method, caller.principal ?? '']);
}

/** Identifies a call: the tool or prompt and its arguments, or the resource. */
function digestOfCall(params: ServerRequest['params']): Promise<string> {
  return digestOf([params?.['name'] ?? params?.['uri'], params?.['arguments'] ?? {}]);
}
