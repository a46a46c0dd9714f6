import { toErrorMessage, type Logger } from '@quiver/core';
import type { LegacyPeer } from './legacy/legacy-peer.js';
import { createEventBus, toNotification, type ServerEvent, type ServerEventBus } from './server-events.js';

export interface AudienceOptions {
  /** The connected clients with a session. */
  readonly peers: ReadonlySet<LegacyPeer>;
  readonly bus?: ServerEventBus | undefined;
  readonly logger: Logger;
}

/** Everybody who may want to hear that something changed, in both eras. */
export class Audience {
  readonly #peers: ReadonlySet<LegacyPeer>;
  readonly #bus: ServerEventBus;
  readonly #logger: Logger;
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  readonly #unsubscribe: () => void;

  constructor({ peers, bus, logger }: AudienceOptions) {
    this.#peers = peers;
    this.#bus = bus ?? createEventBus();
    this.#logger = logger;
    const unsubscribe = this.#bus.subscribe((event) => this.#deliver(event));
    // The bus of this process goes away with the server; one that was given may outlive it.
    this.#unsubscribe = bus ? unsubscribe : () => {};
  }

  /** Tells every instance. Settles when the bus has taken the event. */
  async publish(event: ServerEvent): Promise<void> {
    await this.#bus.publish(event);
  }

  /** The open `subscriptions/listen` requests. */
  get listenerCount(): number {
    return this.#listeners.size;
  }

  /** @returns a function that ends it */
  listen(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe();
  }

  #deliver(event: ServerEvent): void {
    for (const listener of this.#listeners) this.#guarded(() => listener(event));
    if (this.#peers.size === 0) return;
    const text = JSON.stringify({ jsonrpc: '2.0', ...toNotification(event) });
    for (const peer of this.#peers) if (wants(peer, event)) this.#guarded(() => peer.send?.(text));
  }

  /** One broken connection must not keep the news from the others. */
  #guarded(deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      this.#logger.warn(`An MCP client could not be told of a change: ${toErrorMessage(error)}`, error);
    }
  }
}

/** A connection over stdio may never have been initialized: its client may be a modern one. */
function wants(peer: LegacyPeer, event: ServerEvent): boolean {
  if (!peer.initialized) return false;
  return event.kind !== 'resource_updated' || peer.subscriptions?.has(event.uri) === true;
}
