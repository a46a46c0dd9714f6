import { errorCodes } from '../../protocol/constants.js';
import { claimsModern, isPerfectModernRequest, judgeEra } from '../../protocol/era-verdict.js';
import { parseMessage, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { StandardHeaders } from '../../protocol/standard-headers.js';
import { toAuthInfo } from '../auth-info.js';
import { Exchange } from '../exchange.js';
import { answerModernRequest } from '../modern/modern-dispatch.js';
import { requireParamHeaders } from '../modern/param-headers.js';
import { HttpAnswer } from './http-answer.js';
import type { HttpCall } from './http-endpoint.js';
import { serveLegacyMessage } from './http-legacy.js';
import type { HttpRequest } from './http-message.js';
import { runExchange } from './run-exchange.js';

/**
 * Decides which era a posted body belongs to and has it answered there. Perfect requests are recognised here; everything else
 * is judged by the official SDK, so that refusals carry its codes and texts.
 *
 * @throws ProtocolError with an HTTP status when the message is refused
 */
export async function servePost(call: HttpCall, body: unknown): Promise<void> {
  const incoming = parseMessage(body);
  const headers = standardHeadersOf(call.request);
  if (!incoming) {
    await judgeEra(body, headers);
    throw new ProtocolError(
      errorCodes.invalidRequest,
      'Bad Request: send one JSON-RPC message per request; batches are not supported',
      {
        httpStatus: 400,
      },
    );
  }
  if (incoming.kind === 'response' || !claimsModern(incoming.message.params, headers.protocolVersion)) {
    return serveLegacyMessage(call, incoming);
  }
  const perfect = incoming.kind === 'request' && isPerfectModernRequest(incoming.message, headers);
  if (!perfect && (await judgeEra(body, headers)) === 'legacy') return serveLegacyMessage(call, incoming);
  if (incoming.kind === 'request') await serveModernRequest(call, incoming.message);
  else call.reply.send(202, {});
}

async function serveModernRequest(call: HttpCall, message: JsonRpcRequest): Promise<void> {
  const { state, request, reply } = call;
  if (message.method === 'tools/call') {
    const { name, arguments: args } = message.params ?? {};
    const declared = state.server.tools.get(name as string)?.paramHeaders;
    if (declared && declared.length > 0) requireParamHeaders(declared, args, (header) => request.header(header));
  }
  const answer = new HttpAnswer(call);
  const exchange = new Exchange(message.id, { authInfo: toAuthInfo(request.auth) }, answer);
  // Closing the response stream is how a modern client cancels.
  reply.onClose(() => exchange.cancel());
  await runExchange({ state, exchange, answer, run: () => answerModernRequest(state.server, message, exchange) });
}

function standardHeadersOf(request: HttpRequest): StandardHeaders {
  return {
    protocolVersion: request.header('mcp-protocol-version'),
    method: request.header('mcp-method'),
    name: request.header('mcp-name'),
  };
}
