import type { ServerRequest } from '../request.js';
import type { ServerEvent } from '../client/subscribers.js';
import { concernsResource } from './resources.js';

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
