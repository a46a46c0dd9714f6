import type { Result } from '../../content.js';
import { requestMethods } from '../../protocol/methods.js';
import type { RequestedItems, RequestedList } from '../provider.js';
import { runCallback } from '../failures.js';
import { encodePage } from '../list-page.js';
import type { ServerRequest } from '../request.js';
import { variesByCaller, type ScopedItem } from '../tools/catalog.js';

/** Items of a list, with the scopes that they need. */
type ListedItems<Method extends RequestedList> = (RequestedItems[Method] & ScopedItem)[];

/** Returns the items of a list, whether the caller can see them or not. */
export function listItems<Method extends RequestedList>(
  request: ServerRequest,
  method: Method,
): Promise<ListedItems<Method>> {
  const { server } = request;
  return runCallback(server, `Listing ${requestMethods[method].title.toLowerCase()}`, async () => {
    const lists = await Promise.all(server.providers.map((provider) => provider.list(request, method)));
    return lists.flat();
  });
}

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
