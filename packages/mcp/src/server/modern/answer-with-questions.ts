import { metaKeys } from '../../protocol/constants.js';
import type { JsonRpcRequest } from '../../protocol/json-rpc.js';
import { principalOf } from '../auth-info.js';
import type { AskClient } from '../client-question.js';
import type { Exchange } from '../exchange.js';
import type { RequestScope } from '../request-scope.js';
import type { ServerDefinition } from '../server-definition.js';
import { ModernScope } from './modern-scope.js';
import { QuestionRound, readRequestState, type InputRequired, type QuestionRoundOptions } from './question-round.js';
import type { RequestState } from './request-state.js';

export interface AnswerWithQuestions {
  readonly server: ServerDefinition;
  readonly request: JsonRpcRequest;
  readonly exchange: Exchange;
  /** Makes the result as JSON text. */
  readonly run: (scope: RequestScope) => Promise<string>;
}

/**
 * Answers a request that ends with a result, or with questions that the client answers by sending it again.
 *
 * @throws ProtocolError -32602 for a `requestState` that was not given for this request, -32021 when the client cannot be asked
 */
export function answerWithQuestions(asked: AnswerWithQuestions): Promise<string> {
  const isFirstRound = asked.request.params?.['requestState'] === undefined;
  return isFirstRound ? runRound(asked, undefined) : resume(asked);
}

async function resume(asked: AnswerWithQuestions): Promise<string> {
  return runRound(asked, await readRequestState(describeRequest(asked)));
}

/** Whatever comes first: the result, or a question without an answer. The run that asked is abandoned, not ended. */
function runRound(asked: AnswerWithQuestions, previous: RequestState | undefined): Promise<string> {
  const { server, request, exchange } = asked;
  return new Promise((resolve, reject) => {
    let hasResult = false;
    let round: QuestionRound | undefined;
    const onCut: QuestionRoundOptions['onCut'] = (end) => {
      if (hasResult) return;
      // From here on the promise is bound to the question, and what the run still does is ignored.
      resolve(end().then((required) => toText(server, required)));
      exchange.abandon();
    };
    const ask: AskClient = (question, options) => {
      round ??= new QuestionRound({ ...describeRequest(asked), previous, onCut });
      return round.ask(question, options);
    };
    asked.run(new ModernScope(exchange, request.params, ask)).then(
      (result) => ((hasResult = true), resolve(result)),
      (error: Error) => ((hasResult = true), reject(error)),
    );
  });
}

function describeRequest({
  server,
  request,
  exchange,
}: AnswerWithQuestions): Omit<QuestionRoundOptions, 'previous' | 'onCut'> {
  return {
    method: request.method,
    params: request.params,
    principal: principalOf(exchange.caller.authInfo),
    codec: server.requestState,
  };
}

function toText({ serverInfo }: ServerDefinition, required: InputRequired): string {
  return JSON.stringify({ resultType: 'input_required', ...required, _meta: { [metaKeys.serverInfo]: serverInfo } });
}
