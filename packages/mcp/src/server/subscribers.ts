import { toErrorMessage, type Logger } from '@quiver/core';
import type { Instance } from '../shared-store/instance.js';
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

/** A connected legacy client. */
type Subscriber = Pick<LegacySession, 'receivesChanges' | 'subscriptions' | 'send'>;

export interface SubscribersOptions<Session extends Subscriber> {
  readonly sessions: ReadonlySet<Session>;
  /** Returns whether the caller of a session can see what changed. Default: all callers can. */
  readonly concerns?: (session: Session, event: ServerEvent) => boolean | Promise<boolean>;
  /** Receives every change before clients are notified. */
  readonly onEvent?: (event: ServerEvent) => void;
  readonly bus?: ServerEventBus | undefined;
  readonly logger: Logger;
}

/** Clients of both eras that receive change notifications. */
export class Subscribers<Session extends Subscriber = LegacySession> {
  readonly #sessions: ReadonlySet<Session>;
  readonly #concerns: (session: Session, event: ServerEvent) => boolean | Promise<boolean>;
  readonly #onEvent: ((event: ServerEvent) => void) | undefined;
  readonly #bus: ServerEventBus | undefined;
  readonly #logger: Logger;
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  readonly #unsubscribe: (() => void) | undefined;

  constructor({ sessions, concerns = () => true, onEvent, bus, logger }: SubscribersOptions<Session>) {
    this.#sessions = sessions;
    this.#concerns = concerns;
    this.#onEvent = onEvent;
    this.#bus = bus;
    this.#logger = logger;
    this.#unsubscribe = bus?.subscribe((event) => this.#deliver(event));
  }

  /** Publishes a change to every instance. Settles when the bus has accepted the event. */
  async publish(event: ServerEvent): Promise<void> {
    if (this.#bus) await this.#bus.publish(event);
    else this.#deliver(event);
  }

  /** Number of open `subscriptions/listen` requests. */
  get listenerCount(): number {
    return this.#listeners.size;
  }

  /** @returns a function that removes the listener */
  listen(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe?.();
  }

  #deliver(event: ServerEvent): void {
    this.#onEvent?.(event);
    for (const listener of this.#listeners) this.#guarded(() => listener(event));
    if (this.#sessions.size === 0) return;
    const text = JSON.stringify({ jsonrpc: '2.0', ...toNotification(event) });
    for (const session of this.#sessions) {
      if (!isSubscribed(session, event)) continue;
      const concerned = this.#concerns(session, event);
      const notify = (is: boolean): void => this.#guarded(() => is && session.send(text));
      if (typeof concerned === 'boolean') notify(concerned);
      else void concerned.then(notify);
    }
  }

  /** One broken connection must not keep notifications from the others. */
  #guarded(deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      this.#logger.warn(`A change notification could not be sent to an MCP client: ${toErrorMessage(error)}`, error);
    }
  }
}

function isSubscribed({ receivesChanges, subscriptions }: Subscriber, event: ServerEvent): boolean {
  return receivesChanges && (event.kind !== 'resource_updated' || subscriptions?.has(event.uri) === true);
}

/** Returns the notification of a change. */
export function toNotification(event: ServerEvent): { method: string; params?: { uri: string } } {
  if (event.kind === 'resource_updated')
    return { method: 'notifications/resources/updated', params: { uri: event.uri } };
  return { method: `notifications/${event.kind.replace('_list_changed', '')}/list_changed` };
}
