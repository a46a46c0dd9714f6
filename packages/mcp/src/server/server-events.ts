/** Something changed that clients may have asked to hear of. */
export type ServerEvent =
  | { readonly kind: 'tools_list_changed' | 'prompts_list_changed' | 'resources_list_changed' }
  | { readonly kind: 'resource_updated'; readonly uri: string };

/**
 * Carries changes to every instance of a server. The one built in reaches its own process; put one over your own publish and
 * subscribe service into `eventBus` when several processes serve one URL. Buses of the official SDK fit.
 */
export interface ServerEventBus {
  publish(event: ServerEvent): void | Promise<void>;
  /** @returns a function that ends the subscription */
  subscribe(listener: (event: ServerEvent) => void): () => void;
}

/** A bus within this process. Listeners are called at once. */
export function createEventBus(): ServerEventBus {
  const listeners = new Set<(event: ServerEvent) => void>();
  return {
    publish: (event) => {
      for (const listener of listeners) listener(event);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The notification that tells a client of an event. */
export function toNotification(event: ServerEvent): { method: string; params?: { uri: string } } {
  if (event.kind === 'resource_updated')
    return { method: 'notifications/resources/updated', params: { uri: event.uri } };
  return { method: `notifications/${event.kind.replace('_list_changed', '')}/list_changed` };
}
