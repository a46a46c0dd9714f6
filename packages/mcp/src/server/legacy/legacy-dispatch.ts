import type { EncodedResult } from '../../content.js';
import { isLoggingLevel, LEGACY_VERSIONS, loggingLevels } from '../../protocol/constants.js';
import {
  isObject,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type Params,
  type ResultJson,
} from '../../protocol/json-rpc.js';
import { invalidParams, methodNotFound } from '../../protocol/protocol-error.js';
import type { Implementation } from '../../protocol/types.js';
import { complete } from '../completions.js';
import type { Exchange } from '../exchange.js';
import { listMembers } from '../list-members.js';
import { getPrompt, listPrompts } from '../prompts.js';
import { listResources, listResourceTemplates, readResource } from '../resources.js';
import type { ServerDefinition } from '../server-definition.js';
import { callTool } from '../tool-call.js';
import type { LegacyPeer } from './legacy-peer.js';
import { LegacyScope } from './legacy-scope.js';
import { subscribe, unsubscribe } from './subscriptions.js';

/**
 * Answers a request of a revision with a handshake (up to 2025-11-25).
 *
 * @returns the result as JSON
 * @throws ProtocolError for everything that is answered with a JSON-RPC error
 */
export function answerLegacyRequest(
  server: ServerDefinition,
  peer: LegacyPeer,
  { method, params }: JsonRpcRequest,
  exchange: Exchange,
): ResultJson | Promise<ResultJson> {
  switch (method) {
    case 'tools/call':
      return callTool(server, new LegacyScope(peer, exchange, params)).then(encode);
    case 'tools/list':
      return server.tools.list('legacy', params, (members) => `{${members}}`);
    case 'initialize':
      return initialize(server, peer, params);
    case 'ping':
      return '{}';
    case 'logging/setLevel':
      return setLogLevel(peer, params);
  }
  const answer = answerOptional(server, peer, method, new LegacyScope(peer, exchange, params));
  if (!answer) throw methodNotFound(method);
  return answer;
}

/** What only some servers offer; `undefined` for every other method. */
function answerOptional(
  server: ServerDefinition,
  peer: LegacyPeer,
  method: string,
  scope: LegacyScope,
): Promise<string> | undefined {
  const { resources, prompts, completions } = server.capabilities;
  if (resources) {
    if (method === 'resources/list') return listOf('resources', listResources(server, scope));
    if (method === 'resources/templates/list') return listOf('resourceTemplates', listResourceTemplates(server, scope));
    if (method === 'resources/read')
      return readResource(server, scope).then((contents) => JSON.stringify({ contents }));
    if (method === 'resources/subscribe') return subscribe(peer, scope.params);
    if (method === 'resources/unsubscribe') return unsubscribe(peer, scope.params);
  }
  if (prompts) {
    if (method === 'prompts/list') return listOf('prompts', listPrompts(server, scope));
    if (method === 'prompts/get') return getPrompt(server, scope).then(stringify);
  }
  if (completions && method === 'completion/complete') return complete(server, scope).then(stringify);
  return undefined;
}

const stringify = (value: object): string => JSON.stringify(value);

async function listOf(member: string, page: Parameters<typeof listMembers>[1]): Promise<string> {
  return `{${await listMembers(member, page)}}`;
}

/** Notifications are never answered; those that mean nothing here are ignored. */
export function acceptLegacyNotification(peer: LegacyPeer, { method, params }: JsonRpcNotification): void {
  if (method !== 'notifications/cancelled') return;
  const requestId = params?.['requestId'];
  if (isRequestId(requestId)) peer.inFlight.get(requestId)?.cancel();
}

function encode({ members, meta }: EncodedResult): string {
  return meta ? `{${members},"_meta":${JSON.stringify(meta)}}` : `{${members}}`;
}

/** An unknown revision is answered with the newest one we speak; the client decides whether it can live with that. */
function initialize(server: ServerDefinition, peer: LegacyPeer, params: Params | undefined): string {
  const requested = params?.['protocolVersion'];
  if (typeof requested !== 'string') throw invalidParams('initialize needs a protocolVersion.');
  const { clientInfo, capabilities } = params ?? {};
  peer.protocolVersion = LEGACY_VERSIONS.find((version) => version === requested) ?? LEGACY_VERSIONS[0];
  peer.clientCapabilities = isObject(capabilities) ? capabilities : {};
  // The name and version are shown and never trusted; other members pass.
  if (isObject(clientInfo)) peer.clientInfo = clientInfo as unknown as Implementation;
  peer.initialized = true;
  return JSON.stringify({
    protocolVersion: peer.protocolVersion,
    capabilities: server.capabilities,
    serverInfo: server.serverInfo,
    ...(server.instructions !== undefined && { instructions: server.instructions }),
  });
}

function setLogLevel(peer: LegacyPeer, params: Params | undefined): string {
  const level = params?.['level'];
  if (!isLoggingLevel(level)) throw invalidParams(`The log level must be one of ${loggingLevels.join(', ')}.`);
  peer.logLevel = level;
  return '{}';
}
