import type { ElicitOptions } from '@quiver/core/tools';
import { errorCodes, metaKeys } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import { principalOf } from '../auth-info.js';
import { missingCapabilities, type ClientRequest } from '../client-requests/client-request.js';
import type { ServerRequest } from '../request.js';
import type { RequestState } from '../request-state.js';
import { MAX_INPUT_ROUNDS } from '../limits.js';

/** A request whose handler may send requests to the client, during one round. */
export interface RoundRequest extends ServerRequest {
  allowInput(createRound: () => InputRequiredRound): void;
}

/**
 * Answers a request whose handler may send requests to the client. The response is the result, or an `input_required` result that
 * the client answers by sending its request again. The handler then runs again from its start, and requests that have a result
 * return at once.
 *
 * @param run - returns the result as JSON text
 * @throws ProtocolError -32602 for a `requestState` that was not issued for this request, -32021 when the client lacks a capability
 * @see [MCP 2026-07-28, multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
 */
export function answerWithInput(request: RoundRequest, run: () => Promise<string>): Promise<string> {
  const isFirstRound = request.params?.['requestState'] === undefined;
  if (isFirstRound) return runRound(request, run, undefined);
  return readRequestState(request).then((previous) => runRound(request, run, previous));
}

/** Settles with the result, or when the handler sends a request without a result. The run is then abandoned. */
function runRound(
  request: RoundRequest,
  run: () => Promise<string>,
  previous: RequestState | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let hasResult = false;
    const onEnd = (end: () => Promise<string>): void => {
      if (hasResult) return;
      // From here on the promise follows the round, and the outcome of the run is ignored.
      resolve(end());
      request.abandon();
    };
    request.allowInput(() => new InputRequiredRound(request, previous, onEnd));
    run().then(
      (result) => ((hasResult = true), resolve(result)),
      (error: Error) => ((hasResult = true), reject(error)),
    );
  });
}

/** One round of a request: collects the requests of its handler that have no result yet. */
export class InputRequiredRound {
  readonly #request: ServerRequest;
  readonly #previous: RequestState | undefined;
  readonly #onEnd: (end: () => Promise<string>) => void;
  #answers: RequestState['answers'] | undefined;
  #outstanding: Map<string, ClientRequest<unknown>> | undefined;
  #count = 0;
  /** Requests that are being compared with those of the previous round. */
  #checking = 0;
  #hasEnded = false;

  /** @param onEnd - called once, when a request has no result; `end` makes the response and rejects when the client lacks a capability */
  constructor(request: ServerRequest, previous: RequestState | undefined, onEnd: (end: () => Promise<string>) => void) {
    this.#request = request;
    this.#previous = previous;
    this.#onEnd = onEnd;
    this.#answers = previous?.answers;
  }

  /** Returns the result of an earlier round at once; otherwise the promise never settles and the round ends. */
  async request<Result>(request: ClientRequest<Result>, { key }: ElicitOptions): Promise<Result> {
    this.#count += 1;
    const name = key ?? `input-${this.#count}`;
    if (this.#previous) {
      this.#checking += 1;
      try {
        const result = await this.#resultOf(name, request, this.#previous);
        if (result !== undefined) return result;
      } finally {
        this.#checking -= 1;
        if (this.#outstanding) this.#endSoon();
      }
    }
    (this.#outstanding ??= new Map()).set(name, request);
    this.#endSoon();
    return new Promise(() => {});
  }

  /** Collects the requests of one turn of the event loop. */
  #endSoon(): void {
    defer(() => {
      if (this.#hasEnded || this.#checking > 0) return;
      this.#hasEnded = true;
      this.#onEnd(() => this.#end());
    });
  }

  async #resultOf<Result>(
    name: string,
    request: ClientRequest<Result>,
    previous: RequestState,
  ): Promise<Result | undefined> {
    const digest = await digestOfClientRequest(request);
    const answers = this.#answers ?? {};
    const known = Object.hasOwn(answers, name) ? answers[name] : undefined;
    // A request that changed between the rounds is another request. The cast: the result was parsed before it was signed.
    if (known?.question === digest) return known.answer as Result;
    if (!Object.hasOwn(previous.asked, name) || previous.asked[name] !== digest) return undefined;
    const responses = this.#request.params?.['inputResponses'];
    if (!isObject(responses) || !Object.hasOwn(responses, name)) return undefined;
    const answer = await request.parse(responses[name]);
    if (answer !== undefined) this.#answers = { ...this.#answers, [name]: { question: digest, answer } };
    return answer;
  }

  async #end(): Promise<string> {
    const { method, params, server, authInfo } = this.#request;
    const outstanding = [...(this.#outstanding ?? [])];
    this.#requireCapabilities();
    const round = (this.#previous?.round ?? 0) + 1;
    if (round > MAX_INPUT_ROUNDS) {
      throw new ProtocolError(
        errorCodes.internal,
        `The server sent requests to the client in more than ${MAX_INPUT_ROUNDS} rounds; the request was ended.`,
      );
    }
    const asked: Record<string, string> = {};
    const inputRequests: Record<string, object> = {};
    for (const [name, request] of outstanding) {
      asked[name] = await digestOfClientRequest(request);
      inputRequests[name] = { method: request.method, ...(request.params && { params: request.params }) };
    }
    const state: RequestState = { call: await digestOfCall(params), round, asked, answers: this.#answers ?? {} };
    const requestState = await server.requestState.mint(state, await bindingOf(method, principalOf(authInfo)));
    const _meta = { [metaKeys.serverInfo]: server.serverInfo };
    return JSON.stringify({ resultType: 'input_required', inputRequests, requestState, _meta });
  }

  #requireCapabilities(): void {
    const required: Record<string, Record<string, object>> = {};
    for (const { requires } of this.#outstanding?.values() ?? []) {
      for (const [name, members] of Object.entries(requires)) required[name] = { ...required[name], ...members };
    }
    const missing = missingCapabilities(required, this.#request.clientCapabilities);
    if (!missing) return;
    throw new ProtocolError(
      errorCodes.missingClientCapability,
      `The server sends requests to the client, which must declare the capabilities ${Object.keys(missing).join(', ')}.`,
      { httpStatus: 400, data: { requiredCapabilities: missing } },
    );
  }
}

const defer: (run: () => void) => void =
  typeof setImmediate === 'function' ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0);

/**
 * Returns the state that the client received in the previous round.
 *
 * @throws ProtocolError -32602 when the state was not issued to this caller for this request
 */
async function readRequestState({ server, method, params, authInfo }: ServerRequest): Promise<RequestState> {
  const binding = await bindingOf(method, principalOf(authInfo));
  const state = await server.requestState.verify(params?.['requestState'], binding);
  if (state.call !== (await digestOfCall(params)))
    throw invalidParams('Invalid requestState: it belongs to another call.');
  return state;
}

/** Binds a state to method and principal. A digest, because the principal may contain a token. */
function bindingOf(method: string, principal: string): Promise<string> {
  return digestOf([method, principal]);
}

/** Identifies a call: the tool or prompt and its arguments, or the resource. */
function digestOfCall(params: Params | undefined): Promise<string> {
  return digestOf([params?.['name'] ?? params?.['uri'], params?.['arguments'] ?? {}]);
}

function digestOfClientRequest({ method, params }: ClientRequest<unknown>): Promise<string> {
  return digestOf([method, params]);
}

/** Returns 128 bits of SHA-256. */
async function digestOf(value: unknown): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(value)));
  return btoa(String.fromCharCode(...new Uint8Array(bytes, 0, 16)));
}
