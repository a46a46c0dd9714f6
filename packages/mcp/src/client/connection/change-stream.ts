import { toErrorMessage } from '@quiver/core';
import type { McpSubscription, SubscriptionFilter } from '../../protocol/client-types.js';
import { createBackOff } from './back-off.js';
import type { ServerLog } from './log-message.js';
import type { ServerLink } from '../link/server-link.js';

/** The stream of changes of a server that speaks the stateless revision, where one is opened per set of wishes. */
export interface ChangeStream {
  /**
   * Opens a stream for these wishes in place of the last one; nothing is done when they are the same.
   *
   * @returns what the server agreed to tell
   * @throws what the server answers
   */
  wish(filter: SubscriptionFilter): Promise<SubscriptionFilter>;
  close(): void;
}

export function createChangeStream(link: ServerLink, log: ServerLog): ChangeStream {
  const backOff = createBackOff({ first: 500 });
  let current: McpSubscription | undefined;
  let wished = '{}';
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const open = async (filter: SubscriptionFilter): Promise<SubscriptionFilter> => {
    const key = JSON.stringify(filter);
    const previous = current;
    const client = await link.client();
    const opened = await client.listen(filter);
    current = opened;
    backOff.reset();
    void previous?.close();
    void reopenWhenLost(opened, key);
    return opened.honoredFilter;
  };

  const reopenWhenLost = async (opened: McpSubscription, key: string): Promise<void> => {
    const cause = await opened.closed;
    // Somebody wished for something else, or for nothing.
    if (current !== opened || cause === 'local' || closed) return;
    current = undefined;
    reopenLater(key);
  };

  const reopenLater = (key: string): void => {
    backOff.failed();
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (closed || key !== wished || current) return;
      open(JSON.parse(key) as SubscriptionFilter).catch((error: unknown) => {
        log('debug', `The stream of changes could not be opened again: ${toErrorMessage(error)}`, error);
        if (!closed) reopenLater(key);
      });
    }, backOff.remaining());
    timer.unref?.();
  };

  return {
    wish: async (filter) => {
      const key = JSON.stringify(filter);
      if (key === wished && current) return current.honoredFilter;
      wished = key;
      if (key !== '{}') return open(filter);
      const previous = current;
      current = undefined;
      await previous?.close();
      return {};
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
      void current?.close().catch(() => {});
      current = undefined;
    },
  };
}
