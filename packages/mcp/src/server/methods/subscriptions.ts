import { Result } from '../../content.js';
import { errorCodes, metaKeys } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { listChanges, listKinds, type ListKind } from '../../protocol/methods.js';
import { invalidParams, ProtocolError } from '../../protocol/protocol-error.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import { MAX_LISTENED_RESOURCES, MAX_LISTENED_TASKS, MAX_LISTENERS } from '../limits.js';
import { requireTasks } from './tasks.js';
import type { ServerRequest } from '../request.js';
import { learnScopes, watchUpstream } from './resources.js';
import { isConcerned } from './is-concerned.js';
import { changedList, toNotification, whenConcerned, type ServerEvent } from '../client/subscribers.js';
import { taskMembers } from '../tasks/task-record.js';

type ListenFilter = Partial<Record<(typeof listChanges)[ListKind]['filter'], true>> & {
  resourceSubscriptions?: string[];
  taskIds?: string[];
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
  const filter = parseFilter(params, server.capabilities);
  if (filter.resourceSubscriptions) await learnScopes(request);
  // Without tasks, the acknowledgment opens the stream before a client that has left cancels its request.
  if (filter.taskIds) await keepKnownTasks(request, filter, filter.taskIds);
  if (subscribers.listenerCount >= MAX_LISTENERS)
    throw new ProtocolError(errorCodes.internal, 'Subscription limit reached');
  // Changes may come from other instances.
  if (server.instance.isShared) await server.instance.start();
  const identity = { [metaKeys.subscriptionId]: requestId };
  const stops = server.upstreams ? await watchUpstreams(request, filter) : [];
  try {
    const method = 'notifications/subscriptions/acknowledged';
    const wasSent = request.send({ jsonrpc: '2.0', method, params: { notifications: filter, _meta: identity } });
    if (!wasSent) {
      const reason = 'subscriptions/listen needs an event stream, and answers are JSON only here';
      throw new ProtocolError(errorCodes.methodNotFound, `Method not found: ${reason}`, { httpStatus: 404 });
    }
    if (Object.keys(filter).length === 0) return new Result('', { meta: identity });
    stops.push(
      subscribers.listen((event) => {
        if (!accepts(filter, event)) return;
        const { method, params: about } = toNotification(event);
        whenConcerned(isConcerned(request, event), () => request.notify(method, { ...about, _meta: identity }));
      }),
    );
    const watchTask = (id: string): Promise<() => Promise<void>> =>
      server.tasks.watch(id, (task) => {
        const state = `{${taskMembers(task, request.clientCapabilities)},"_meta":${JSON.stringify(identity)}}`;
        request.sendText(`{"jsonrpc":"2.0","method":"notifications/tasks","params":${state}}`);
      });
    // All, so that each that succeeds is ended when another one fails.
    const watches = await Promise.allSettled(filter.taskIds?.map(watchTask) ?? []);
    for (const watch of watches) if (watch.status === 'fulfilled') stops.push(watch.value);
    for (const watch of watches) if (watch.status === 'rejected') throw watch.reason;
    await request.hold();
    return new Result('', { meta: identity });
  } finally {
    await Promise.all(stops.map((stop) => stop()));
  }
}

/**
 * Subscribes to the resources of other servers. Those that a server declines leave the filter, and do not affect the others.
 *
 * @returns functions that end the subscriptions
 */
async function watchUpstreams(request: ServerRequest, filter: ListenFilter): Promise<(() => unknown)[]> {
  const stops: (() => unknown)[] = [];
  const accepted: string[] = [];
  for (const uri of filter.resourceSubscriptions ?? []) {
    try {
      stops.push((await watchUpstream(request, uri)) ?? (() => {}));
      accepted.push(uri);
    } catch {
      // Its reason is logged, and the acknowledgment lacks the resource.
    }
  }
  if (accepted.length > 0) filter.resourceSubscriptions = accepted;
  else delete filter.resourceSubscriptions;
  return stops;
}

/** @throws ProtocolError -32021 when the filter names tasks and the client does not support them */
async function keepKnownTasks(request: ServerRequest, filter: ListenFilter, taskIds: string[]): Promise<void> {
  requireTasks(request);
  filter.taskIds = await request.server.tasks.known(taskIds, request.principal ?? '');
  if (filter.taskIds.length === 0) delete filter.taskIds;
}

/** Returns the part of the filter that the server declared as a capability. */
function parseFilter(params: Params | undefined, capabilities: ServerCapabilities): ListenFilter {
  const given = params?.['notifications'];
  const { resourceSubscriptions: watched = [], taskIds = [] } = isObject(given) ? given : {};
  const isValid =
    isObject(given) &&
    listKinds.every((list) => ['undefined', 'boolean'].includes(typeof given[listChanges[list].filter])) &&
    isListOfNames(watched, MAX_LISTENED_RESOURCES) &&
    isListOfNames(taskIds, MAX_LISTENED_TASKS);
  if (!isValid)
    throw invalidParams("Invalid params: 'notifications' is required and must be a valid SubscriptionFilter");
  const filter: ListenFilter = {};
  for (const list of listKinds) {
    const { filter: name } = listChanges[list];
    if (given[name] === true && capabilities[list]?.listChanged) filter[name] = true;
  }
  if (watched.length > 0 && capabilities.resources?.subscribe) filter.resourceSubscriptions = watched;
  if (taskIds.length > 0) filter.taskIds = taskIds;
  return filter;
}

function isListOfNames(value: unknown, maxLength: number): value is string[] {
  return Array.isArray(value) && value.length <= maxLength && value.every((name) => typeof name === 'string');
}

function accepts(filter: ListenFilter, event: ServerEvent): boolean {
  if (event.kind === 'resource_updated') return filter.resourceSubscriptions?.includes(event.uri) === true;
  const list = changedList(event);
  return list !== undefined && filter[listChanges[list].filter] === true;
}
