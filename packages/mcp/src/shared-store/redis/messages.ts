import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import { Listeners } from '../listeners.js';
import { Reconnecting } from '../reconnecting.js';
import { closedError } from '../shared-store-errors.js';
import type { RedisConnection, RedisSubscriber } from './redis-client.js';

export interface MessagesOptions {
  readonly connection: RedisConnection;
  /** Limits the time of a command. */
  readonly settle: <Value>(running: Promise<Value>) => Promise<Value>;
}

export class Messages {
  readonly #options: MessagesOptions;
  readonly #listeners = new Listeners();
  #subscriber: RedisSubscriber | undefined;
  #subscribed = new Set<string>();
  /** Changes of the connection, one after the other. */
  #changes: Promise<unknown> = Promise.resolve();
  readonly #reconnecting = new Reconnecting({
    check: () => void this.#change((subscriber) => this.#options.settle(subscriber.ping())).catch(() => {}),
    connect: () => void this.#change(async () => {}).catch(() => {}),
    keepsAlive: false,
  });
  #isClosed = false;

  constructor(options: MessagesOptions) {
    this.#options = options;
  }

  async subscribe(
    channel: string,
    listener: (message: string) => void,
    onGap?: () => void,
  ): Promise<() => Promise<void>> {
    const remove = await this.#change(async (subscriber) => {
      await this.#add(subscriber, channel);
      return this.#listeners.add(channel, listener, onGap);
    });
    return async () => {
      if (!remove() || this.#isClosed) return;
      await this.#change(async (subscriber) => {
        if (this.#listeners.has(channel) || !this.#subscribed.delete(channel)) return;
        await this.#options.settle(subscriber.unsubscribe(channel));
        // A channel without listeners costs little, so that a failure has no effect.
      }).catch(() => {});
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#reconnecting.close();
    this.#drop();
  }

  async #add(subscriber: RedisSubscriber, channel: string): Promise<void> {
    if (this.#subscribed.has(channel)) return;
    await this.#options.settle(subscriber.subscribe(channel));
    this.#subscribed.add(channel);
  }

  /** Runs a change after the earlier ones, on a connection that has the channels of all listeners. */
  #change<Result>(change: (subscriber: RedisSubscriber) => Promise<Result>): Promise<Result> {
    const changed = this.#changes.then(async () => {
      if (this.#isClosed) throw closedError();
      const subscriber = (this.#subscriber ??= this.#open());
      try {
        await this.#options.settle(subscriber.ready);
        for (const channel of this.#listeners.channels) await this.#add(subscriber, channel);
        const result = await change(subscriber);
        this.#reconnecting.succeeded();
        return result;
      } catch (error) {
        if (this.#isClosed) throw closedError();
        this.#drop();
        this.#connectLater(error);
        throw error;
      }
    });
    this.#changes = changed.catch(() => {});
    return changed;
  }

  #open(): RedisSubscriber {
    this.#reconnecting.watch();
    return this.#options.connection.openSubscriber({
      onMessage: (channel, message) => this.#listeners.call(channel, message),
      onReady: () => this.#reportGap(),
    });
  }

  /** Messages were lost while the connection was interrupted. The first connection has no listeners yet. */
  #reportGap(): void {
    if (this.#listeners.channels.length === 0) return;
    // The response means that the channels are restored.
    this.#change((subscriber) => this.#options.settle(subscriber.ping())).then(
      () => this.#listeners.reportGap(),
      () => {},
    );
  }

  #drop(): void {
    this.#reconnecting.unwatch();
    this.#subscriber?.close();
    this.#subscriber = undefined;
    this.#subscribed = new Set();
  }

  #connectLater(reason: unknown): void {
    if (this.#listeners.channels.length === 0) return;
    getDefaultLogger().warn(`Messages of the shared store do not arrive: ${toErrorMessage(reason)}`);
    this.#reconnecting.connectLater();
  }
}
