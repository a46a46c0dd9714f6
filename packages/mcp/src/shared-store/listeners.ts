import { getDefaultLogger, toErrorMessage } from '@quiver/core';

interface Subscription {
  readonly listener: (message: string) => void;
  readonly onGap: (() => void) | undefined;
}

export class Listeners {
  readonly #channels = new Map<string, Set<Subscription>>();

  /** @returns a function that removes the listener; `true` when it was the last one of its channel */
  add(channel: string, listener: Subscription['listener'], onGap?: () => void): () => boolean {
    const subscribed = this.#channels.get(channel) ?? new Set();
    // The same function may subscribe twice.
    const subscription = { listener, onGap };
    this.#channels.set(channel, subscribed.add(subscription));
    return () => {
      if (!subscribed.delete(subscription) || subscribed.size > 0) return false;
      return this.#channels.get(channel) === subscribed && this.#channels.delete(channel);
    };
  }

  get channels(): string[] {
    return [...this.#channels.keys()];
  }

  has(channel: string): boolean {
    return this.#channels.has(channel);
  }

  /** Calls the listeners of a channel. Their exceptions are logged. */
  call(channel: string, message: string): void {
    this.#forEach(channel, ({ listener }) => listener(message));
  }

  /** Reports to all listeners that messages may have been missed. */
  reportGap(): void {
    for (const channel of this.channels) this.#forEach(channel, ({ onGap }) => onGap?.());
  }

  clear(): void {
    this.#channels.clear();
  }

  #forEach(channel: string, run: (subscription: Subscription) => void): void {
    const subscribed = this.#channels.get(channel);
    for (const subscription of Array.from(subscribed ?? []))
      try {
        // An earlier listener may have ended the subscription.
        if (subscribed?.has(subscription)) run(subscription);
      } catch (error) {
        getDefaultLogger().warn(`A listener of the channel '${channel}' failed: ${toErrorMessage(error)}`, error);
      }
  }
}
