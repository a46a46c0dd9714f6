import { errorCodes } from '../../protocol/constants.js';
import { claimsModern, isPerfectModernRequest, judgeEra } from '../../protocol/era-verdict.js';
import { parseMessage, type IncomingMessage, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { StandardHeaders } from '../../protocol/standard-headers.js';
import { toAuthInfo } from '../auth-info.js';
import { Exchange } from '../exchange.js';
import { answerModernRequest } from '../modern/modern-dispatch.js';
import { requireParamHeaders } from '../modern/param-headers.js';
import { HttpAnswer } from './http-answer.js';
import { serveBatch } from './http-batch.js';
import type { HttpCall } from './http-call.js';
import { serveLegacyMessage } from './http-legacy.js';
import type { HttpRequest } from './http-message.js';
import { runExchange } from './run-exchange.js';

/**
 * Decides which era a posted body belongs to and has it answered there. Perfect requests are recognised here; everything else
 * is judged by the official SDK, so that refusals carry its codes and texts.
 *
 * @throws ProtocolError with an HTTP status when the message is refused
 */
export function servePost(call: HttpCall, body: unknown): void | Promise<void> {
  const headers = standardHeadersOf(call.request);
  const incoming = parseMessage(body);
  if (!incoming) return Array.isArray(body) ? serveBatch(call, body, headers) : refuseBody(body, headers);
  if (incoming.kind === 'response' || !claimsModern(incoming.message.params, headers.protocolVersion))
    return serveLegacyMessage(call, incoming);
  if (incoming.kind === 'request' && isPerfectModernRequest(incoming.message, headers))
    return serveModernRequest(call, incoming.message);
  return serveJudged(call, incoming, headers);
}

async function refuseBody(body: unknown, headers: StandardHeaders): Promise<never> {
  await judgeEra(body, headers);
  throw new ProtocolError(errorCodes.invalidRequest, 'Invalid Request: the body is not a JSON-RPC message', {
    httpStatus: 400,
  });
}

async function serveJudged(call: HttpCall, incoming: IncomingMessage, headers: StandardHeaders): Promise<void> {
  if ((await judgeEra(incoming.message, headers)) === 'legacy') return serveLegacyMessage(call, incoming);
  if (incoming.kind === 'request') return serveModernRequest(call, incoming.message);
  call.reply.send(202, {});
}

function serveModernRequest(call: HttpCall, message: JsonRpcRequest): Promise<void> {
  const { state, request, reply } = call;
  if (message.method === 'tools/call') {
    const { name, arguments: args } = message.params ?? {};
    const declared = state.server.tools.get(name as string)?.paramHeaders;
    if (declared && declared.length > 0) requireParamHeaders(declared, args, (header) => request.header(header));
  }
  const answer = new HttpAnswer(call);
  const exchange = new Exchange(message.id, { authInfo: toAuthInfo(request.auth), request }, answer);
  // Closing the response stream is how a modern client cancels.
  reply.onClose(() => exchange.cancel());
  return runExchange(answer, exchange, () => answerModernRequest(state.server, message, exchange));
}

function standardHeadersOf(request: HttpRequest): StandardHeaders {
  return {
    protocolVersion: request.header('mcp-protocol-version'),
    method: request.header('mcp-method'),
    name: request.header('mcp-name'),
  };
}
