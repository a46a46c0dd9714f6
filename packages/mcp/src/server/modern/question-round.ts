import type { ElicitOptions } from '@quiver/core/tools';
import { errorCodes } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import { missingCapabilities, type RequiredCapabilities } from '../client-capabilities.js';
import type { ClientQuestion } from '../client-question.js';
import { modernCapabilitiesOf } from './modern-capabilities.js';
import type { RequestState, RequestStateCodec } from './request-state.js';

const maxRounds = 10;

export interface QuestionRoundOptions {
  readonly method: string;
  readonly params: Params | undefined;
  /** Whom the state belongs to. */
  readonly principal: string;
  readonly codec: RequestStateCodec;
  /** What the client brought along from the round before. */
  readonly previous: RequestState | undefined;
  /**
   * Called once, when something was asked that has no answer yet.
   *
   * @param end - makes the answer; rejects when the client cannot be asked
   */
  readonly onCut: (end: () => Promise<InputRequired>) => void;
}

/** What the client has to answer before the request can go on. */
export interface InputRequired {
  readonly inputRequests: Readonly<Record<string, object>>;
  readonly requestState: string;
}

/**
 * One round of a request whose handler asks the client. The stateless revision has no requests from the server: a question ends the
 * round with `input_required`, and the client sends its request again with the answers. The handler then runs again from its
 * start, and questions that were answered return at once.
 *
 * @see [MCP 2026-07-28, multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
 */
export class QuestionRound {
  readonly #options: QuestionRoundOptions;
  readonly #previous: RequestState | undefined;
  readonly #answers: Record<string, { question: string; answer: unknown }>;
  readonly #outstanding = new Map<string, ClientQuestion<unknown>>();
  #asked = 0;
  /** Questions that are being compared with what was answered before. */
  #checking = 0;
  #isCut = false;

  constructor(options: QuestionRoundOptions) {
    this.#options = options;
    this.#previous = options.previous;
    this.#answers = { ...options.previous?.answers };
  }

  /** Answers at once what was answered before; otherwise the promise stays pending for ever and the round ends. */
  async ask<Answer>(question: ClientQuestion<Answer>, { key }: ElicitOptions): Promise<Answer> {
    this.#asked += 1;
    const name = key ?? `question-${this.#asked}`;
    if (this.#previous) {
      this.#checking += 1;
      try {
        const answer = await this.#answerTo(name, question, this.#previous);
        if (answer !== undefined) return answer;
      } finally {
        this.#checking -= 1;
        if (this.#outstanding.size > 0) this.#cutSoon();
      }
    }
    this.#outstanding.set(name, question);
    this.#cutSoon();
    return new Promise(() => {});
  }

  /** All questions of one turn go out together. */
  #cutSoon(): void {
    defer(() => {
      if (this.#isCut || this.#checking > 0) return;
      this.#isCut = true;
      this.#options.onCut(() => this.#end());
    });
  }

  async #answerTo<Answer>(
    name: string,
    question: ClientQuestion<Answer>,
    previous: RequestState,
  ): Promise<Answer | undefined> {
    const digest = await digestOfQuestion(question);
    const known = Object.hasOwn(this.#answers, name) ? this.#answers[name] : undefined;
    // A question that changed between the rounds is another question. The cast: it was parsed before it was signed.
    if (known?.question === digest) return known.answer as Answer;
    if (!Object.hasOwn(previous.asked, name) || previous.asked[name] !== digest) return undefined;
    const responses = this.#options.params?.['inputResponses'];
    if (!isObject(responses) || !Object.hasOwn(responses, name)) return undefined;
    const answer = await question.parse(responses[name]);
    if (answer !== undefined) this.#answers[name] = { question: digest, answer };
    return answer;
  }

  async #end(): Promise<InputRequired> {
    const { method, params, principal, codec } = this.#options;
    this.#requireCapabilities();
    const round = (this.#previous?.round ?? 0) + 1;
    if (round > maxRounds) {
      throw new ProtocolError(
        errorCodes.internal,
        `The client was asked in more than ${maxRounds} rounds; the request was ended.`,
      );
    }
    const asked: Record<string, string> = {};
    const inputRequests: Record<string, object> = {};
    for (const [name, question] of this.#outstanding) {
      asked[name] = await digestOfQuestion(question);
      inputRequests[name] = { method: question.method, ...(question.params && { params: question.params }) };
    }
    const state: RequestState = { call: await digestOfRequest(params), round, asked, answers: this.#answers };
    return { inputRequests, requestState: await codec.mint(state, await bindingOf(method, principal)) };
  }

  #requireCapabilities(): void {
    const required: Record<string, Record<string, object>> = {};
    for (const question of this.#outstanding.values()) {
      for (const [name, members] of Object.entries(question.requires))
        required[name] = { ...required[name], ...members };
    }
    const missing: RequiredCapabilities | undefined = missingCapabilities(
      required,
      modernCapabilitiesOf(this.#options.params),
    );
    if (!missing) return;
    throw new ProtocolError(
      errorCodes.missingClientCapability,
      `The server has to ask the client; it must declare the capabilities ${Object.keys(missing).join(', ')}.`,
      { httpStatus: 400, data: { requiredCapabilities: missing } },
    );
  }
}

const defer: (run: () => void) => void =
  typeof setImmediate === 'function' ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0);

/**
 * What the client brought along from the round before.
 *
 * @throws ProtocolError -32602 when it is not what this server gave the client for this request
 */
export async function readRequestState({
  codec,
  params,
  principal,
  method,
}: Omit<QuestionRoundOptions, 'previous' | 'onCut'>): Promise<RequestState> {
  const state = await codec.verify(params?.['requestState'], await bindingOf(method, principal));
  if (state.call !== (await digestOfRequest(params)))
    throw invalidParams('Invalid requestState: it belongs to another call.');
  return state;
}

/** What a state is bound to, beside the request itself. A digest, since the caller may be known by its token alone. */
function bindingOf(method: string, principal: string): Promise<string> {
  return digestOf([method, principal]);
}

/** Of what names the request: the tool or prompt and its arguments, or the resource. */
function digestOfRequest(params: Params | undefined): Promise<string> {
  return digestOf([params?.['name'] ?? params?.['uri'], params?.['arguments'] ?? {}]);
}

function digestOfQuestion({ method, params }: ClientQuestion<unknown>): Promise<string> {
  return digestOf([method, params]);
}

/** 128 bits of SHA-256. */
async function digestOf(value: unknown): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(value)));
  return btoa(String.fromCharCode(...new Uint8Array(bytes, 0, 16)));
}
