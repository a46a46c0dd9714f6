import { toErrorMessage } from '@quiver/core';
import { errorText, resultText } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { Exchange } from '../exchange.js';
import type { HttpAnswer } from './http-answer.js';
import type { HttpEndpointState } from './http-endpoint.js';

export interface ExchangeRun {
  readonly state: HttpEndpointState;
  readonly exchange: Exchange;
  readonly answer: HttpAnswer;
  /** Makes the result as JSON text. */
  readonly run: () => Promise<string>;
}

/** Runs a request to its end and writes the answer. A cancelled request gets none. */
export async function runExchange({ state, exchange, answer, run }: ExchangeRun): Promise<void> {
  const { requestId } = exchange;
  answer.exchange = exchange;
  state.heartbeat.add(answer);
  let text: string;
  let status = 200;
  try {
    text = resultText(requestId, await run());
  } catch (error) {
    if (error instanceof ProtocolError) status = error.httpStatus;
    else state.server.logger.error(`An MCP request failed: ${toErrorMessage(error)}`, error);
    text = errorText(requestId, error);
  }
  exchange.settle();
  if (exchange.cancelled) answer.abandon();
  else answer.end(text, status);
  state.heartbeat.remove(answer);
}
