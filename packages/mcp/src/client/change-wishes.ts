import { QuiverError } from '@quiver/core';
import type { RequestOptions, SubscriptionFilter } from '../protocol/client-types.js';
import type { ChangeStream } from './change-stream.js';
import type { Connected } from './connected.js';
import type { SendOver } from './send-request.js';
import type { ServerHandlers } from './server-handlers.js';

/** What this side wants to be told of, whatever becomes of the connection. */
export interface ChangeWishes {
  /** Whether anybody waits for news of the server. */
  readonly isEmpty: boolean;
  /** Asks for news of a resource, now and after every reconnection. */
  subscribe(uri: string, request: (run: SendOver<unknown>) => Promise<unknown>): Promise<void>;
  unsubscribe(uri: string, request: (run: SendOver<unknown>) => Promise<unknown>): Promise<void>;
  /** Tells a new connection all wishes. */
  announce(connected: Connected, options: RequestOptions): Promise<void>;
  /** Tells a connection that handlers changed. */
  update(connected: Connected | undefined): Promise<void>;
}

export function createChangeWishes(serverName: string, handlers: ServerHandlers): ChangeWishes {
  const uris = new Set<string>();

  const filter = (): SubscriptionFilter => {
    const { onListChanged } = handlers;
    return {
      ...(onListChanged.tools && { toolsListChanged: true }),
      ...(onListChanged.prompts && { promptsListChanged: true }),
      ...(onListChanged.resources && { resourcesListChanged: true }),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
    };
  };
  const wishFor = async (changes: ChangeStream, uri: string): Promise<void> => {
    const honored = await changes.wish(filter());
    if (honored.resourceSubscriptions?.includes(uri)) return;
    const watchers = handlers.onResourceUpdated ? '' : ' (no handler is set either)';
    throw new QuiverError(
      'MCP_REQUEST_FAILED',
      `MCP server '${serverName}' does not tell when '${uri}' changes${watchers}.`,
    );
  };

  return {
    get isEmpty() {
      return (
        handlers.onResourceUpdated === undefined &&
        uris.size === 0 &&
        !Object.values(handlers.onListChanged).some(Boolean)
      );
    },
    subscribe: async (uri, request) => {
      uris.add(uri);
      try {
        await request(async ({ link, changes }, options) =>
          changes ? wishFor(changes, uri) : (await link.client()).subscribeResource({ uri }, options),
        );
      } catch (error) {
        uris.delete(uri);
        throw error;
      }
    },
    unsubscribe: async (uri, request) => {
      uris.delete(uri);
      await request(async ({ link, changes }, options) =>
        changes ? changes.wish(filter()) : (await link.client()).unsubscribeResource({ uri }, options),
      );
    },
    announce: async ({ link, changes }, options) => {
      if (changes) await changes.wish(filter());
      else for (const uri of uris) await (await link.client()).subscribeResource({ uri }, options);
    },
    update: async (connected) => {
      await connected?.changes?.wish(filter());
    },
  };
}
