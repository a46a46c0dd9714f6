import { errorCodes, metaKeys } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import { MAX_LISTENED_RESOURCES, MAX_LISTENERS } from '../limits.js';
import type { ServerRequest } from '../request.js';
import { learnScopes } from '../methods/resources.js';
import { isConcerned } from '../methods/is-concerned.js';
import { toNotification, type ServerEvent } from '../subscribers.js';

/** Lists that a client may subscribe to, by the member of the filter. */
const lists = {
  toolsListChanged: { list: 'tools', kind: 'tools_list_changed' },
  promptsListChanged: { list: 'prompts', kind: 'prompts_list_changed' },
  resourcesListChanged: { list: 'resources', kind: 'resources_list_changed' },
} as const;

/** Members of a filter. */
const listNames = Object.keys(lists) as (keyof typeof lists)[];

type ListenFilter = Partial<Record<keyof typeof lists, true>> & { resourceSubscriptions?: string[] };

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
  const filter = parseFilter(params, server.capabilities);
  if (filter.resourceSubscriptions) await learnScopes(request);
  if (subscribers.listenerCount >= MAX_LISTENERS)
    throw new ProtocolError(errorCodes.internal, 'Subscription limit reached');
  // Changes may come from other instances.
  if (server.instance) await server.instance.start();
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
      const notify = (isConcerned: boolean): void => {
        if (isConcerned) request.notify(method, { ...about, _meta: identity });
      };
      const concerned = isConcerned(request, event);
      if (typeof concerned === 'boolean') notify(concerned);
      else void concerned.then(notify);
    });
    await request.hold();
    stop();
  }
  return JSON.stringify({ resultType: 'complete', _meta: { ...identity, [metaKeys.serverInfo]: server.serverInfo } });
}

/** Returns the part of the filter that the server declared as a capability. */
function parseFilter(params: Params | undefined, capabilities: ServerCapabilities): ListenFilter {
  const given = params?.['notifications'];
  const { resourceSubscriptions: watched = [] } = isObject(given) ? given : {};
  const isValid =
    isObject(given) &&
    listNames.every((name) => ['undefined', 'boolean'].includes(typeof given[name])) &&
    Array.isArray(watched) &&
    watched.length <= MAX_LISTENED_RESOURCES &&
    watched.every((uri) => typeof uri === 'string');
  if (!isValid)
    throw invalidParams("Invalid params: 'notifications' is required and must be a valid SubscriptionFilter");
  const filter: ListenFilter = {};
  for (const name of listNames)
    if (given[name] === true && capabilities[lists[name].list]?.listChanged) filter[name] = true;
  if (watched.length > 0 && capabilities.resources?.subscribe) filter.resourceSubscriptions = watched;
  return filter;
}

function accepts(filter: ListenFilter, event: ServerEvent): boolean {
  if (event.kind === 'resource_updated') return filter.resourceSubscriptions?.includes(event.uri) === true;
  return listNames.some((name) => filter[name] && lists[name].kind === event.kind);
}
