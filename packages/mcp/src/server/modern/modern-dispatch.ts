import type { EncodedResult } from '../../content.js';
import { isLoggingLevel, metaKeys, MODERN_VERSION, type LoggingLevel } from '../../protocol/constants.js';
import { isObject, type JsonRpcRequest, type Params } from '../../protocol/json-rpc.js';
import { methodNotFound } from '../../protocol/protocol-error.js';
import { principalOf } from '../auth-info.js';
import type { Exchange } from '../exchange.js';
import { refuseCursor } from '../list-cursor.js';
import type { ServerDefinition } from '../server-definition.js';
import { callTool } from '../tool-call.js';
import { QuestionRound } from './question-round.js';

/**
 * Answers a request of the stateless revision (2026-07-28). Everything about the client stands in the request itself.
 *
 * @returns the result as JSON text
 * @throws ProtocolError for everything that is answered with a JSON-RPC error
 */
export async function answerModernRequest(
  server: ServerDefinition,
  { method, params }: JsonRpcRequest,
  exchange: Exchange,
): Promise<string> {
  switch (method) {
    case 'tools/call':
      return answerToolCall(server, params, exchange);
    case 'tools/list':
      refuseCursor(params);
      return complete(server, `${server.tools.listText('modern')},${uncached}`);
    case 'server/discover':
      return complete(server, `${discoverText(server)},${uncached}`);
    default:
      throw methodNotFound(method, 404);
  }
}

/** A tool call ends with a result, or with a question to the user that the client answers by calling again. */
async function answerToolCall(
  server: ServerDefinition,
  params: Params | undefined,
  exchange: Exchange,
): Promise<string> {
  const round = await QuestionRound.open({
    params,
    principal: () => principalOf(exchange.caller.authInfo),
    codec: server.requestState,
  });
  const running = callTool({
    tools: server.tools,
    params,
    exchange,
    era: 'modern',
    logLevel: logLevelOf(params),
    ask: (question, options) => round.ask(question, options),
  });
  const outcome = await Promise.race([running, round.cut]);
  if ('members' in outcome) return encode(server, outcome);
  exchange.abandon();
  const identity = { [metaKeys.serverInfo]: server.serverInfo };
  return JSON.stringify({ resultType: 'input_required', ...outcome, _meta: identity });
}

/** Clients may keep lists and discovery for no time at all, and only for themselves. */
const uncached = '"ttlMs":0,"cacheScope":"private"';

const discoverTexts = new WeakMap<ServerDefinition, string>();

function discoverText(server: ServerDefinition): string {
  const known = discoverTexts.get(server);
  if (known !== undefined) return known;
  const { capabilities, instructions } = server;
  const result = {
    supportedVersions: [MODERN_VERSION],
    capabilities,
    ...(instructions !== undefined && { instructions }),
  };
  const text = JSON.stringify(result).slice(1, -1);
  discoverTexts.set(server, text);
  return text;
}

const identityTexts = new WeakMap<ServerDefinition, string>();

/** The end of every result: what kind it is, and who answers. */
function complete(server: ServerDefinition, members: string): string {
  let identity = identityTexts.get(server);
  if (identity === undefined) {
    identity = `"resultType":"complete","_meta":${JSON.stringify({ [metaKeys.serverInfo]: server.serverInfo })}}`;
    identityTexts.set(server, identity);
  }
  return `{${members},${identity}`;
}

function encode(server: ServerDefinition, { members, meta }: EncodedResult): string {
  if (!meta) return complete(server, members);
  const merged = { [metaKeys.serverInfo]: server.serverInfo, ...meta };
  return `{${members},"resultType":"complete","_meta":${JSON.stringify(merged)}}`;
}

/** A modern client asks for log messages request by request; without a level it wants none. */
function logLevelOf(params: Params | undefined): LoggingLevel | undefined {
  const meta = params?.['_meta'];
  const level = isObject(meta) ? meta[metaKeys.logLevel] : undefined;
  return isLoggingLevel(level) ? level : undefined;
}
