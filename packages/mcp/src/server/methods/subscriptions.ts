import { Result } from '../../content.js';
import { errorCodes, metaKeys } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { listChanges, listKinds, type ListKind } from '../../protocol/methods.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import { MAX_LISTENED_RESOURCES, MAX_LISTENERS } from '../limits.js';
import type { ServerRequest } from '../request.js';
import { canWatch, learnScopes, watchProvided, concernsResource } from './resources.js';
import { changedList, toNotification, type ServerEvent } from '../client/subscribers.js';

type ListenFilter = Partial<Record<(typeof listChanges)[ListKind]['filter'], true>> & {
  resourceSubscriptions?: string[];
};

/**
 * Answers `subscriptions/listen`: a request that stays open and sends change notifications. It is acknowledged first, with the part
 * of the filter that this server supports, and answered when the server closes.
 *
 * @throws ProtocolError -32602 without a valid filter, -32601 where no message can be sent before the result
 * @see [MCP 2026-07-28, subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions)
 */
export async function answerListen(request: ServerRequest): Promise<Result> {
  const { server, params, requestId } = request;
  const { subscribers } = server;
  const given = params?.['notifications'];
  const filter = parseFilter(given, server.capabilities);
  if (filter.resourceSubscriptions) await learnScopes(request);
  const further = server.features.flatMap((feature) => feature.acceptFilter?.(request, given as Params) ?? []);
  // Without any, the acknowledgment opens the stream before a client that has left cancels its request.
  const accepted = further.length > 0 ? await Promise.all(further) : [];
  for (const part of accepted) Object.assign(filter, part?.filter);
  if (subscribers.listenerCount >= MAX_LISTENERS)
    throw new ProtocolError(errorCodes.internal, 'Subscription limit reached');
  // Changes may come from other instances.
  if (server.instance.isShared) await server.instance.start();
  const identity = { [metaKeys.subscriptionId]: requestId };
  const stops = canWatch(server) ? await watchAllProvided(request, filter) : [];
  try {
    const method = 'notifications/subscriptions/acknowledged';
    const wasSent = request.notify(method, { notifications: filter, _meta: identity });
    if (!wasSent) {
      const reason = 'subscriptions/listen needs an event stream, and answers are JSON only here';
      throw new ProtocolError(errorCodes.methodNotFound, `Method not found: ${reason}`, { httpStatus: 404 });
    }
    if (Object.keys(filter).length === 0) return Result.of({}, { meta: identity });
    stops.push(
      subscribers.listen({
        concerns: async (event) => accepts(filter, event) && isConcerned(request, event),
        notify: (event) => {
          const { method, params: about } = toNotification(event);
          request.notify(method, { ...about, _meta: identity });
        },
      }),
    );
    for (const part of accepted) if (part) stops.push(await part.start(identity));
    await request.hold();
    return Result.of({}, { meta: identity });
  } finally {
    await Promise.all(stops.map((stop) => stop()));
  }
}

/**
 * Subscribes to the resources of providers. Those that a provider declines leave the filter, and do not affect the others.
 *
 * @returns functions that end the subscriptions
 */
async function watchAllProvided(request: ServerRequest, filter: ListenFilter): Promise<(() => unknown)[]> {
  const stops: (() => unknown)[] = [];
  const accepted: string[] = [];
  for (const uri of filter.resourceSubscriptions ?? []) {
    try {
      stops.push((await watchProvided(request, uri)) ?? (() => {}));
      accepted.push(uri);
    } catch {
      // Its reason is logged, and the acknowledgment lacks the resource.
    }
  }
  if (accepted.length > 0) filter.resourceSubscriptions = accepted;
  else delete filter.resourceSubscriptions;
  return stops;
}

/** Returns the part of the filter that the server declared as a capability. */
function parseFilter(given: unknown, capabilities: ServerCapabilities): ListenFilter {
  const { resourceSubscriptions: watched = [] } = isObject(given) ? given : {};
  const isValid =
    isObject(given) &&
    listKinds.every((list) => ['undefined', 'boolean'].includes(typeof given[listChanges[list].filter])) &&
    isListOfNames(watched, MAX_LISTENED_RESOURCES);
  if (!isValid) throw invalidFilter();
  const filter: ListenFilter = {};
  for (const list of listKinds) {
    const { filter: name } = listChanges[list];
    if (given[name] === true && capabilities[list]?.listChanged) filter[name] = true;
  }
  if (watched.length > 0 && capabilities.resources?.subscribe) filter.resourceSubscriptions = watched;
  return filter;
}

/** Returns the error of a filter that is invalid, also in the part of a feature. */
export function invalidFilter(): ProtocolError {
  return invalidParams("Invalid params: 'notifications' is required and must be a valid SubscriptionFilter");
}

export function isListOfNames(value: unknown, maxLength: number): value is string[] {
  return Array.isArray(value) && value.length <= maxLength && value.every((name) => typeof name === 'string');
}

function accepts(filter: ListenFilter, event: ServerEvent): boolean {
  if (event.kind === 'resource_updated') return filter.resourceSubscriptions?.includes(event.uri) === true;
  const list = changedList(event);
  return list !== undefined && filter[listChanges[list].filter] === true;
}

/** Returns whether the caller of a request can see what changed. Never rejects. */
export async function isConcerned(request: ServerRequest, event: ServerEvent): Promise<boolean> {
  const { tools } = request.server;
  switch (event.kind) {
    case 'tools_list_changed':
      return event.names?.some((name) => tools.isConcerned(request, name)) ?? true;
    case 'resource_updated':
      return concernsResource(request, event.uri);
    default:
      return true;
  }
}
