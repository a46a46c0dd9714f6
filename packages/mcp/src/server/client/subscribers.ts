import { toErrorMessage, withinTime, type Logger } from '@quiver/core';
import type { Instance } from '../../shared-store/instance.js';
import { listChanges, listKinds, type ListKind } from '../../protocol/methods.js';
import { MAX_TURN } from '../limits.js';
import type { LegacySession } from './legacy-session.js';

/** A change that clients can subscribe to. */
export type ServerEvent =
  | {
      readonly kind: 'tools_list_changed';
      /** Tools that changed, where callers see different tools: others are not notified. */
      readonly names?: readonly string[];
    }
  | { readonly kind: 'prompts_list_changed' | 'resources_list_changed' }
  | { readonly kind: 'resource_updated'; readonly uri: string };

/**
 * Carries changes to every instance of a server. The default bus reaches its own process; when several processes serve one URL, pass
 * an implementation over your publish/subscribe service as `eventBus`. Buses of the official SDK fit.
 */
export interface ServerEventBus {
  publish(event: ServerEvent): void | Promise<void>;
  /** @returns a function that ends the subscription */
  subscribe(listener: (event: ServerEvent) => void): () => void;
}

/** Returns a bus between the instances that share a store. */
export function createInstanceBus(instance: Instance): ServerEventBus {
  return {
    publish: (event) => instance.broadcast('change', event),
    subscribe: (listener) => instance.on('change', listener),
  };
}

export interface SubscribersOptions {
  readonly sessions: ReadonlySet<LegacySession>;
  /** Returns whether the caller of a session can see what changed. */
  readonly concerns: (session: LegacySession, event: ServerEvent) => Promise<boolean>;
  /** Called before clients are notified. */
  readonly onListChanged: (list: ListKind) => void;
  readonly bus: ServerEventBus | undefined;
  readonly logger: Logger;
}

/** A client that receives changes by an open request. */
export interface Listener {
  /** Returns whether to notify it of a change. Never rejects. */
  concerns(event: ServerEvent): Promise<boolean>;
  notify(event: ServerEvent): void;
}

/** Clients of both eras that receive change notifications, each in the order of the changes. */
export class Subscribers {
  readonly #options: SubscribersOptions;
  readonly #listeners = new Set<Listener>();
  /** Settles when a client has received the changes so far, for clients that wait for one. */
  readonly #turns = new WeakMap<object, Promise<void>>();
  readonly #unsubscribe: (() => void) | undefined;

  constructor(options: SubscribersOptions) {
    this.#options = options;
    this.#unsubscribe = options.bus?.subscribe((event) => this.publishHere(event));
  }

  /** Publishes a change to every instance. Settles when the bus has accepted the event. */
  async publish(event: ServerEvent): Promise<void> {
    const { bus } = this.#options;
    if (bus) await bus.publish(event);
    else this.publishHere(event);
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe?.();
  }

  /** Publishes a change to the clients of this process: others learn of it themselves. */
  publishHere(event: ServerEvent): void {
    const { sessions, concerns, onListChanged } = this.#options;
    const list = changedList(event);
    if (list) onListChanged(list);
    // Buses may carry events of other programs.
    else if (event.kind !== 'resource_updated') return;
    for (const listener of this.#listeners)
      this.#inTurn(listener, listener.concerns(event), () => listener.notify(event));
    if (sessions.size === 0) return;
    const text = notificationText(event);
    for (const session of sessions)
      if (isSubscribed(session, event)) this.#inTurn(session, concerns(session, event), () => session.send(text));
  }

  /**
   * Notifies a client unless its caller cannot see what changed. Callbacks of the application may decide that later than about the next change,
   * which waits for {@link MAX_TURN} at most: then they may overtake.
   */
  #inTurn(client: object, isConcerned: Promise<boolean>, notify: () => void): void {
    const before = this.#turns.get(client);
    const take = async (): Promise<void> => {
      const turnBefore = before && withinTime(before, MAX_TURN, () => new Error('Overtaken')).catch(() => {});
      const [is] = await Promise.all([isConcerned, turnBefore]);
      try {
        if (is) notify();
      } catch (error) {
        // One broken connection must not keep notifications from the others.
        const reason = toErrorMessage(error);
        this.#options.logger.warn(`A change notification could not be sent to an MCP client: ${reason}`, error);
      }
      if (this.#turns.get(client) === turn) this.#turns.delete(client);
    };
    const turn = take();
    this.#turns.set(client, turn);
  }
}

function isSubscribed({ receivesChanges, client }: LegacySession, event: ServerEvent): boolean {
  return receivesChanges && (event.kind !== 'resource_updated' || client.subscriptions.has(event.uri));
}

/** Returns the list that changed; `undefined` for another event. */
export function changedList({ kind }: ServerEvent): ListKind | undefined {
  return listKinds.find((list) => listChanges[list].event === kind);
}

export function toNotification(event: ServerEvent): { method: string; params?: { uri: string } } {
  const list = changedList(event);
  if (list) return { method: listChanges[list].notification };
  // The cast: there is one other kind.
  const { uri } = event as Extract<ServerEvent, { uri: string }>;
  return { method: 'notifications/resources/updated', params: { uri } };
}

export function notificationText(event: ServerEvent): string {
  return JSON.stringify({ jsonrpc: '2.0', ...toNotification(event) });
}
