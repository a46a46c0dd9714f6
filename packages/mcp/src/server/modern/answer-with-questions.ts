import { metaKeys } from '../../protocol/constants.js';
import type { JsonRpcRequest } from '../../protocol/json-rpc.js';
import { principalOf } from '../auth-info.js';
import type { Exchange } from '../exchange.js';
import type { RequestScope } from '../request-scope.js';
import type { ServerDefinition } from '../server-definition.js';
import { ModernScope } from './modern-scope.js';
import { QuestionRound, type InputRequired, type QuestionRoundOptions } from './question-round.js';

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
export async function answerWithQuestions({ server, request, exchange, run }: AnswerWithQuestions): Promise<string> {
  const { method, params } = request;
  let cut: QuestionRoundOptions['onCut'] = () => {};
  const options = (): QuestionRoundOptions => ({
    method,
    params,
    principal: principalOf(exchange.caller.authInfo),
    codec: server.requestState,
    onCut: (outcome) => cut(outcome),
  });
  let round = params?.['requestState'] === undefined ? undefined : await QuestionRound.resume(options());
  const scope = new ModernScope(exchange, params, () => (round ??= new QuestionRound(options())));
  // Whatever comes first: the result, or a question without an answer. The run that asked is abandoned, not ended.
  return new Promise((resolve, reject) => {
    let isOver = false;
    const first =
      <Value>(settle: (value: Value) => void) =>
      (value: Value): void => {
        if (!isOver) settle(value);
        isOver = true;
      };
    cut = first((outcome) => {
      outcome.then((required) => resolve(toText(server, required)), reject);
      exchange.abandon();
    });
    run(scope).then(first(resolve), first(reject));
  });
}

function toText({ serverInfo }: ServerDefinition, required: InputRequired): string {
  return JSON.stringify({ resultType: 'input_required', ...required, _meta: { [metaKeys.serverInfo]: serverInfo } });
}
