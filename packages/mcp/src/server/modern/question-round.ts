import { createHash } from 'node:crypto';
import type { ElicitOptions, ElicitRequest, ElicitResult } from '@quiver/core/tools';
import { errorCodes, metaKeys } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import { canShowForms, parseElicitResult, toElicitParams } from '../elicitation.js';
import type { RequestState, RequestStateCodec } from './request-state.js';

const maxRounds = 10;

export interface QuestionRoundOptions {
  readonly params: Params | undefined;
  /** Whom the state belongs to; asked for only when there is some. */
  readonly principal: () => string;
  readonly codec: RequestStateCodec;
}

/** What the client has to answer before the call can go on. */
export interface InputRequired {
  readonly inputRequests: Readonly<Record<string, object>>;
  readonly requestState: string;
}

/**
 * One round of a call whose tool asks the user. The stateless revision has no requests from the server: a question ends the round
 * with `input_required`, and the client calls again with the answers. The tool then runs again from its start, and questions that
 * were answered return at once.
 *
 * @see [MCP 2026-07-28, multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
 */
export class QuestionRound {
  readonly #options: QuestionRoundOptions;
  readonly #outstanding = new Map<string, ElicitRequest>();
  readonly #answers: Record<string, { question: string; answer: unknown }>;
  #previous: RequestState | undefined;
  #asked = 0;
  #cut: ((outcome: InputRequired | PromiseLike<InputRequired>) => void) | undefined;
  /** Settles when the tool asked something that has no answer yet; rejects when the client cannot be asked. */
  readonly cut: Promise<InputRequired>;

  private constructor(options: QuestionRoundOptions, previous: RequestState | undefined) {
    this.#options = options;
    this.#previous = previous;
    this.#answers = { ...previous?.answers };
    this.cut = new Promise((resolve) => {
      this.#cut = resolve;
    });
  }

  /** @throws ProtocolError -32602 when the client's `requestState` is not what this server gave it for this call */
  static async open(options: QuestionRoundOptions): Promise<QuestionRound> {
    const given = options.params?.['requestState'];
    if (given === undefined) return new QuestionRound(options, undefined);
    const state = await options.codec.verify(given, options.principal());
    if (state.call !== digestOfCall(options.params))
      throw invalidParams('Invalid requestState: it belongs to another call.');
    return new QuestionRound(options, state);
  }

  /** Answers at once what was answered before; otherwise the promise stays pending for ever and the round ends. */
  async ask(question: ElicitRequest, { key }: ElicitOptions): Promise<ElicitResult> {
    this.#asked += 1;
    const name = key ?? `question-${this.#asked}`;
    const digest = digestOf(toElicitParams(question));
    const answer = await this.#answerTo(name, digest, question);
    if (answer) return answer;
    // All questions of one turn go out together.
    if (this.#outstanding.size === 0) setImmediate(() => this.#cut?.(this.#end()));
    this.#outstanding.set(name, question);
    return new Promise(() => {});
  }

  async #answerTo(name: string, digest: string, question: ElicitRequest): Promise<ElicitResult | undefined> {
    const known = Object.hasOwn(this.#answers, name) ? this.#answers[name] : undefined;
    // A question that changed between the rounds is another question.
    if (known?.question === digest) return known.answer as ElicitResult;
    if (!this.#previous || !Object.hasOwn(this.#previous.asked, name) || this.#previous.asked[name] !== digest)
      return undefined;
    const responses = this.#options.params?.['inputResponses'];
    if (!isObject(responses) || !Object.hasOwn(responses, name)) return undefined;
    const answer = await parseElicitResult(responses[name], question);
    if (answer) this.#answers[name] = { question: digest, answer };
    return answer;
  }

  async #end(): Promise<InputRequired> {
    const { params, principal, codec } = this.#options;
    const meta = params?.['_meta'];
    if (!canShowForms(isObject(meta) ? meta[metaKeys.clientCapabilities] : undefined)) {
      throw new ProtocolError(
        errorCodes.missingClientCapability,
        'The tool asks for user input; the client must declare the elicitation capability.',
        {
          httpStatus: 400,
          data: { requiredCapabilities: { elicitation: {} } },
        },
      );
    }
    const round = (this.#previous?.round ?? 0) + 1;
    if (round > maxRounds)
      throw new ProtocolError(
        errorCodes.internal,
        `The tool asked in more than ${maxRounds} rounds; the call was ended.`,
      );
    const asked: Record<string, string> = {};
    const inputRequests: Record<string, object> = {};
    for (const [name, question] of this.#outstanding) {
      const elicitation = toElicitParams(question);
      asked[name] = digestOf(elicitation);
      inputRequests[name] = { method: 'elicitation/create', params: elicitation };
    }
    const state: RequestState = { call: digestOfCall(params), round, asked, answers: this.#answers };
    return { inputRequests, requestState: await codec.mint(state, principal()) };
  }
}

function digestOfCall(params: Params | undefined): string {
  return digestOf([params?.['name'], params?.['arguments'] ?? {}]);
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}
