import type { EncodedResult } from '../../content.js';
import { metaKeys, MODERN_VERSION } from '../../protocol/constants.js';
import type { JsonRpcRequest, ResultJson } from '../../protocol/json-rpc.js';
import { methodNotFound } from '../../protocol/protocol-error.js';
import type { CacheableMethod } from '../cache-hints.js';
import { complete } from '../completions.js';
import type { Exchange } from '../exchange.js';
import { listMembers } from '../list-members.js';
import { getPrompt, listPrompts, type PromptResult } from '../prompts.js';
import type { RequestScope } from '../request-scope.js';
import { listResources, listResourceTemplates, readResource } from '../resources.js';
import type { ServerDefinition } from '../server-definition.js';
import { callTool } from '../tool-call.js';
import { answerWithQuestions } from './answer-with-questions.js';
import { answerListen } from './listen.js';
import { ModernScope } from './modern-scope.js';

/**
 * Answers a request of the stateless revision (2026-07-28). Everything about the client stands in the request itself.
 *
 * @returns the result as JSON
 * @throws ProtocolError for everything that is answered with a JSON-RPC error
 */
export function answerModernRequest(
  server: ServerDefinition,
  request: JsonRpcRequest,
  exchange: Exchange,
): ResultJson | Promise<ResultJson> {
  const { method, params } = request;
  switch (method) {
    case 'tools/call':
      return answerWithQuestions({
        server,
        request,
        exchange,
        run: (scope) => callTool(server, scope).then((result) => encode(server, result)),
      });
    case 'tools/list':
      return server.tools.list('modern', params, (members) => cacheable(server, method, members));
    case 'server/discover':
      return cacheable(server, method, discoverText(server));
    case 'subscriptions/listen':
      return answerListen(server, params, exchange);
  }
  const answer = answerOptional(server, request, exchange);
  if (!answer) throw methodNotFound(method, 404);
  return answer;
}

/** What only some servers offer; `undefined` for every other method. */
function answerOptional(
  server: ServerDefinition,
  request: JsonRpcRequest,
  exchange: Exchange,
): Promise<string> | undefined {
  const { method, params } = request;
  const { resources, prompts, completions } = server.capabilities;
  const asking = (run: (scope: RequestScope) => Promise<string>): Promise<string> =>
    answerWithQuestions({ server, request, exchange, run });
  const scope = new ModernScope(exchange, params);
  if (resources) {
    if (method === 'resources/list')
      return listOf(server, method, listMembers('resources', listResources(server, scope)));
    if (method === 'resources/templates/list')
      return listOf(server, method, listMembers('resourceTemplates', listResourceTemplates(server, scope)));
    if (method === 'resources/read')
      return asking(async (own) => {
        const contents = await readResource(server, own);
        return cacheable(server, method, `"contents":${JSON.stringify(contents)}`);
      });
  }
  if (prompts) {
    if (method === 'prompts/list') return listOf(server, method, listMembers('prompts', listPrompts(server, scope)));
    if (method === 'prompts/get') return asking(async (own) => encodePrompt(server, await getPrompt(server, own)));
  }
  if (completions && method === 'completion/complete')
    return complete(server, scope).then((result) => finish(server, membersOf(result)));
  return undefined;
}

async function listOf(server: ServerDefinition, method: CacheableMethod, members: Promise<string>): Promise<string> {
  return cacheable(server, method, await members);
}

function encodePrompt(server: ServerDefinition, { _meta, ...result }: PromptResult): string {
  return encode(server, { members: membersOf(result), meta: _meta });
}

function membersOf(result: object): string {
  return JSON.stringify(result).slice(1, -1);
}

const discoverTexts = new WeakMap<ServerDefinition, string>();

function discoverText(server: ServerDefinition): string {
  const known = discoverTexts.get(server);
  if (known !== undefined) return known;
  const { capabilities, instructions } = server;
  const text = membersOf({
    supportedVersions: [MODERN_VERSION],
    capabilities,
    ...(instructions !== undefined && { instructions }),
  });
  discoverTexts.set(server, text);
  return text;
}

function cacheable(server: ServerDefinition, method: CacheableMethod, members: string): string {
  return finish(server, `${members},${server.cacheHints[method]}`);
}

const identityTexts = new WeakMap<ServerDefinition, string>();

/** The end of every result: what kind it is, and who answers. */
function finish(server: ServerDefinition, members: string): string {
  let identity = identityTexts.get(server);
  if (identity === undefined) {
    identity = `"resultType":"complete","_meta":${JSON.stringify({ [metaKeys.serverInfo]: server.serverInfo })}}`;
    identityTexts.set(server, identity);
  }
  return `{${members},${identity}`;
}

function encode(server: ServerDefinition, { members, meta }: EncodedResult): string {
  if (!meta) return finish(server, members);
  const merged = { [metaKeys.serverInfo]: server.serverInfo, ...meta };
  return `{${members},"resultType":"complete","_meta":${JSON.stringify(merged)}}`;
}
