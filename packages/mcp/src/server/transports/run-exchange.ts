import { toErrorMessage } from '@quiver/core';
import { errorText, resultText, type ResultJson } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { Exchange } from '../exchange.js';
import type { HttpAnswer } from './http-answer.js';

/**
 * Runs a request to its end and writes the answer. A cancelled request gets none.
 *
 * @param run - makes the result
 */
export async function runExchange(
  answer: HttpAnswer,
  exchange: Exchange,
  run: () => ResultJson | Promise<ResultJson>,
): Promise<void> {
  const { heartbeat, server } = answer.call.state;
  answer.running = exchange;
  heartbeat.add(answer);
  let result: ResultJson | undefined;
  let text = '';
  let status = 200;
  try {
    result = await run();
  } catch (error) {
    if (error instanceof ProtocolError) status = error.httpStatus;
    else server.logger.error(`An MCP request failed: ${toErrorMessage(error)}`, error);
    text = errorText(exchange.requestId, error);
  }
  exchange.settle();
  heartbeat.remove(answer);
  if (exchange.cancelled) answer.abandon();
  else if (typeof result === 'object') answer.endPrepared(exchange, result);
  else answer.end(result === undefined ? text : resultText(exchange.requestId, result), status);
}
