import { QuiverError, toErrorMessage } from '@quiver/core';
import type { SubscriptionFilter } from '../../protocol/types.js';
import { listChanges, listKinds, type ListKind } from '../../protocol/methods.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { Engine } from '../engine/engine.js';
import { ConnectionLostError } from '../transports/channel.js';
import { createBackOff } from '../../back-off.js';
import type { RemoteServer } from './remote-server.js';

/** A stream of change notifications (modern era). */
interface OpenStream {
  /** The filter as JSON. */
  readonly key: string;
  /** Part of the filter that the server agreed to. */
  readonly honored: SubscriptionFilter;
  /** Resolves when the stream ends, also by `close`. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Milliseconds until a modern server must have acknowledged a stream. */
const acknowledgeTimeout = 60_000;

/** Subscriptions of this client. They survive reconnects. */
export class Subscriptions {
  readonly #server: RemoteServer;
  readonly #backOff = createBackOff({ first: 500 });
  readonly #uris = new Set<string>();
  /** Kinds of cached lists that callers have requested again. */
  readonly #lists = new Set<ListKind>();
  /** Connection in use. */
  #engine: Engine | undefined;
  /** Its stream, in the modern era. */
  #stream: OpenStream | undefined;
  /** Whether changes may have gone unnoticed, because there was no stream. */
  #isInterrupted = false;
  #queue: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(server: RemoteServer) {
    this.#server = server;
  }

  /** Whether the application has subscribed to anything. */
  get isEmpty(): boolean {
    const { onResourceUpdated, onListChanged } = this.#server.handlers;
    return onResourceUpdated === undefined && this.#uris.size === 0 && !Object.values(onListChanged).some(Boolean);
  }

  /** Subscribes to a resource and resubscribes after every reconnect. @throws `MCP_REQUEST_FAILED` when the server declines */
  async subscribe(uri: string): Promise<object> {
    this.#uris.add(uri);
    try {
      await this.#server.request(async (engine) => {
        if (!engine.isModern) return engine.request('resources/subscribe', { uri });
        const { resourceSubscriptions } = await this.sync();
        if (resourceSubscriptions?.includes(uri)) return undefined;
        throw new QuiverError(
          'MCP_REQUEST_FAILED',
          `MCP server '${this.#server.name}' declined the subscription to '${uri}': it does not report changes of this resource.`,
        );
      });
      return {};
    } catch (error) {
      this.#uris.delete(uri);
      throw error;
    }
  }

  async unsubscribe(uri: string): Promise<object> {
    this.#uris.delete(uri);
    await this.#server.request((engine) =>
      engine.isModern ? this.sync() : engine.request('resources/unsubscribe', { uri }),
    );
    return {};
  }

  /** Returns whether the current stream reports changes of a list. */
  reports(kind: ListKind): boolean {
    return this.#stream?.honored[listChanges[kind].filter] === true;
  }

  /** Subscribes to changes of a cached list. A failure is logged: the list expires instead. */
  followList(kind: ListKind): void {
    if (this.#lists.has(kind)) return;
    this.#lists.add(kind);
    this.sync().catch((error: unknown) => {
      this.#server.log('debug', `Changes of ${kind} are not reported: ${toErrorMessage(error)}`, error);
    });
  }

  /** Sends all subscriptions to a new connection, which is in use from now on. */
  async restore(engine: Engine): Promise<void> {
    this.#engine = engine;
    if (!engine.isModern) {
      for (const uri of this.#uris) await engine.request('resources/subscribe', { uri });
      return;
    }
    try {
      await this.sync();
    } catch (error) {
      // A server that declines it would decline it again.
      if (!(error instanceof ProtocolError)) this.#reopenLater();
      throw error;
    }
  }

  /** Closes the stream of a connection that is no longer used. */
  release(engine: Engine): void {
    if (this.#engine !== engine) return;
    this.#engine = undefined;
    this.#close();
  }

  #filter(): SubscriptionFilter {
    const { onListChanged } = this.#server.handlers;
    const kinds = listKinds.filter((kind) => onListChanged[kind] || this.#lists.has(kind));
    return {
      ...Object.fromEntries(kinds.map((kind) => [listChanges[kind].filter, true])),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
  }

  /** Replaces the stream of the modern connection if the filter has changed, in turn. @returns the filter that the server agreed to */
  sync(): Promise<SubscriptionFilter> {
    const replaced = this.#queue.then(async () => {
      const engine = this.#engine;
      if (!engine) throw new ConnectionLostError('the connection is no longer in use');
      const filter = this.#filter();
      const key = JSON.stringify(filter);
      const current = this.#stream;
      if (current?.key === key) return current.honored;
      if (key === '{}') {
        this.#close();
        return {};
      }
      const opened = await openStream(engine, filter, key);
      if (engine !== this.#engine) {
        opened.close();
        throw new ConnectionLostError('the connection is no longer in use');
      }
      this.#close();
      this.#backOff.reset();
      this.#stream = opened;
      if (this.#isInterrupted) this.#server.invalidate();
      this.#isInterrupted = false;
      void this.#reopenWhenEnded(opened);
      return opened.honored;
    });
    this.#queue = replaced.catch(() => {});
    return replaced;
  }

  async #reopenWhenEnded(stream: OpenStream): Promise<void> {
    await stream.ended;
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.#server.invalidate();
    this.#reopenLater();
  }

  #reopenLater(): void {
    if (!this.#engine || this.#engine.isClosed) return;
    this.#isInterrupted = true;
    this.#backOff.failed();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#stream) return;
      this.sync().catch((error: unknown) => {
        this.#server.log('debug', `The subscription stream could not be reopened: ${toErrorMessage(error)}`, error);
        this.#reopenLater();
      });
    }, this.#backOff.remaining());
    this.#timer.unref?.();
  }

  #close(): void {
    clearTimeout(this.#timer);
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.close();
  }
}

/** @throws as `Engine.request` when the server does not acknowledge the stream */
function openStream(engine: Engine, notifications: SubscriptionFilter, key: string): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    const close = (): void => stop.abort('the subscription is no longer needed');
    // Later: a transport may deliver the acknowledgment before `request` returns.
    const onAcknowledged = (honored: SubscriptionFilter): void =>
      queueMicrotask(() => resolve({ key, honored, ended, close }));
    const options = { signal: stop.signal, timeout: acknowledgeTimeout, onAcknowledged };
    const ended = engine
      .request('subscriptions/listen', { notifications }, options)
      .then(() => reject(new ConnectionLostError('the server ended the subscription')), reject);
  });
}
