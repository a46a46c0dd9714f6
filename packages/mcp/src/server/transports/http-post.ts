import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorCodes } from '../../protocol/constants.js';
import { claimsModern, isPerfectModernRequest, judgeEra } from '../../protocol/era-verdict.js';
import { parseMessage } from '../../protocol/json-rpc.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { StandardHeaders } from '../../protocol/standard-headers.js';
import { toAuthInfo } from '../auth-info.js';
import { Exchange } from '../exchange.js';
import { answerModernRequest } from '../modern/modern-dispatch.js';
import { requireParamHeaders } from '../modern/param-headers.js';
import { HttpAnswer } from './http-answer.js';
import type { HttpEndpointState } from './http-endpoint.js';
import { serveLegacyMessage } from './http-legacy.js';
import type { AuthenticatedRequest, StreamableHTTPServerTransportOptions } from './http-options.js';
import { runExchange } from './run-exchange.js';

export interface HttpPost {
  readonly state: HttpEndpointState;
  readonly req: AuthenticatedRequest;
  readonly res: ServerResponse;
  readonly options: StreamableHTTPServerTransportOptions;
  readonly body: unknown;
}

/**
 * Decides which era a posted body belongs to and has it answered there. Perfect requests are recognised here; everything else
 * is judged by the official SDK, so that refusals carry its codes and texts.
 *
 * @throws ProtocolError with an HTTP status when the message is refused
 */
export async function servePost(post: HttpPost): Promise<void> {
  const { body, req } = post;
  const incoming = parseMessage(body);
  const headers = standardHeadersOf(req);
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
    return serveLegacyMessage(post, incoming);
  }
  const perfect = incoming.kind === 'request' && isPerfectModernRequest(incoming.message, headers);
  if (!perfect && (await judgeEra(body, headers)) === 'legacy') return serveLegacyMessage(post, incoming);
  if (incoming.kind === 'request') await serveModernRequest(post, incoming.message);
  else post.res.writeHead(202).end();
}

async function serveModernRequest(
  { state, req, res }: HttpPost,
  request: Parameters<typeof answerModernRequest>[1],
): Promise<void> {
  if (request.method === 'tools/call') {
    const { name, arguments: args } = request.params ?? {};
    const declared = state.server.tools.get(name as string)?.paramHeaders;
    if (declared && declared.length > 0) requireParamHeaders(declared, args, req.headers);
  }
  const answer = new HttpAnswer(res);
  const exchange = new Exchange(request.id, { authInfo: toAuthInfo(req.auth) }, answer);
  // Closing the response stream is how a modern client cancels.
  res.on('close', () => exchange.cancel());
  await runExchange({ state, exchange, answer, run: () => answerModernRequest(state.server, request, exchange) });
}

function standardHeadersOf({ headers }: IncomingMessage): StandardHeaders {
  return {
    protocolVersion: single(headers['mcp-protocol-version']),
    method: single(headers['mcp-method']),
    name: single(headers['mcp-name']),
  };
}

/** Node joins repeated headers of these names with a comma, which then matches nothing. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
