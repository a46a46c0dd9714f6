import { errorCodes, metaKeys } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import type { ServerRequest } from '../request.js';
import { toNotification, type ServerEvent } from '../subscribers.js';
import { MAX_LISTENED_RESOURCES, MAX_LISTENERS } from '../limits.js';

interface ListenFilter {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
  resourceSubscriptions?: string[];
}

/**
 * Answers `subscriptions/listen`: a request that stays open and sends change notifications. It is acknowledged first, with the part
 * of the filter that this server supports, and answered when the server closes.
 *
 * @throws ProtocolError -32602 without a valid filter, -32601 where no message can be sent before the result
 * @see [MCP 2026-07-28, subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions)
 */
export async function answerListen(request: ServerRequest): Promise<string> {
  const { server, params, requestId } = request;
  const { subscribers } = server;
  const filter = supportedPart(parseFilter(params), server.capabilities);
  if (subscribers.listenerCount >= MAX_LISTENERS)
    throw new ProtocolError(errorCodes.internal, 'Subscription limit reached');
  const identity = { [metaKeys.subscriptionId]: requestId };
  const method = 'notifications/subscriptions/acknowledged';
  const wasSent = request.send({ jsonrpc: '2.0', method, params: { notifications: filter, _meta: identity } });
  if (!wasSent) {
    const reason = 'subscriptions/listen needs an event stream, and answers are JSON only here';
    throw new ProtocolError(errorCodes.methodNotFound, `Method not found: ${reason}`, { httpStatus: 404 });
  }
  if (Object.keys(filter).length > 0) {
    const stop = subscribers.listen((event) => {
      if (!accepts(filter, event)) return;
      const { method, params: about } = toNotification(event);
      request.notify(method, { ...about, _meta: identity });
    });
    await request.hold();
    stop();
  }
  return JSON.stringify({
    resultType: 'complete',
    _meta: { ...identity, [metaKeys.serverInfo]: server.serverInfo },
  });
}

function parseFilter(params: Params | undefined): Record<string, unknown> {
  const filter = params?.['notifications'];
  const watched = isObject(filter) ? filter['resourceSubscriptions'] : undefined;
  const isValid =
    isObject(filter) &&
    ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'].every(
      (name) => filter[name] === undefined || typeof filter[name] === 'boolean',
    ) &&
    (watched === undefined ||
      (Array.isArray(watched) &&
        watched.length <= MAX_LISTENED_RESOURCES &&
        watched.every((uri) => typeof uri === 'string')));
  if (!isValid)
    throw invalidParams("Invalid params: 'notifications' is required and must be a valid SubscriptionFilter");
  return filter;
}

/** Returns the part of a filter that the server declared as a capability. */
function supportedPart(requested: Record<string, unknown>, capabilities: ServerCapabilities): ListenFilter {
  const { tools, prompts, resources } = capabilities;
  const watched = requested['resourceSubscriptions'] as string[] | undefined;
  return {
    ...(requested['toolsListChanged'] === true && tools?.listChanged && { toolsListChanged: true as const }),
    ...(requested['promptsListChanged'] === true && prompts?.listChanged && { promptsListChanged: true as const }),
    ...(requested['resourcesListChanged'] === true &&
      resources?.listChanged && { resourcesListChanged: true as const }),
    ...(watched && watched.length > 0 && resources?.subscribe && { resourceSubscriptions: watched }),
  };
}

function accepts(filter: ListenFilter, event: ServerEvent): boolean {
  switch (event.kind) {
    case 'tools_list_changed':
      return filter.toolsListChanged === true;
    case 'prompts_list_changed':
      return filter.promptsListChanged === true;
    case 'resources_list_changed':
      return filter.resourcesListChanged === true;
    case 'resource_updated':
      return filter.resourceSubscriptions?.includes(event.uri) === true;
  }
}
