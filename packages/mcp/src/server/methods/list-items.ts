import type { Result } from '../../content.js';
import { requestMethods } from '../../protocol/methods.js';
import type { CallbackContext } from '../definition/server-config.js';
import type { ServerState } from '../definition/server-state.js';
import type { RequestedItems, RequestedList } from '../provider.js';
import { refuseResult, runCallback } from '../failures.js';
import { encodePage } from '../list-page.js';
import type { ServerRequest } from '../request.js';
import { variesByCaller, type ScopedItem } from '../tools/catalog.js';

/** Callback of the application for a list. */
interface ListCallback {
  /** Name of the option. */
  readonly option: string;
  readonly run: (server: ServerState, context: CallbackContext) => unknown;
  /** Whether the callback may return nothing, for an empty list. */
  readonly isOptional?: true;
}

const callbacks: Readonly<Record<RequestedList, ListCallback>> = {
  'resources/list': {
    option: 'resources.listResources',
    run: ({ resources }, context) => (resources ? resources.listResources(context) : []),
  },
  'resources/templates/list': {
    option: 'resources.resourceTemplates',
    run: ({ resources }, context) => resources?.resourceTemplates?.(context),
    isOptional: true,
  },
  'prompts/list': {
    option: 'prompts.listPrompts',
    run: ({ prompts }, context) => (prompts ? prompts.listPrompts(context) : []),
  },
};

/** Items of a list, with the scopes that they need. */
type ListedItems<Method extends RequestedList> = (RequestedItems[Method] & ScopedItem)[];

/** Returns the items of a list: those of the application and those of providers, whether the caller can see them or not. */
export function listItems<Method extends RequestedList>(
  request: ServerRequest,
  method: Method,
): Promise<ListedItems<Method>> {
  const { server } = request;
  const { option, run, isOptional } = callbacks[method];
  const { itemType } = requestMethods[method];
  const title = requestMethods[method].title.toLowerCase();
  return runCallback(server, `Listing ${title}`, async () => {
    const given = await run(server, request.callbackContext);
    const listed = isOptional ? (given ?? []) : given;
    if (!Array.isArray(listed)) refuseResult(option, `an array of ${title}`);
    server.catalog.observe(itemType, listed);
    if (server.providers.length === 0) return listed;
    const provided = await Promise.all(server.providers.map((provider) => provider.list(request, method)));
    return [...listed, ...provided.flat()];
  });
}

/** Returns the items of a list that the caller can see. */
export async function listVisibleItems<Method extends RequestedList>(
  request: ServerRequest,
  method: Method,
): Promise<ListedItems<Method>> {
  const items = await listItems(request, method);
  return request.server.catalog.filter(request, requestMethods[method].itemType, items);
}

/**
 * Answers the request of a list.
 *
 * @param toListed - returns an item as clients receive it. Default: unchanged
 * @throws ProtocolError -32602 for an unknown cursor
 */
export async function answerList<Method extends RequestedList>(
  request: ServerRequest,
  method: Method,
  toListed: (item: ListedItems<Method>[number]) => object = (item) => item,
): Promise<Result> {
  const items = await listVisibleItems(request, method);
  const isPrivate = variesByCaller(request.server, requestMethods[method].itemType) === true;
  return encodePage(request, method, items.map(toListed), isPrivate);
}
