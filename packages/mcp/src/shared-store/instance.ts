import { QuiverError, toErrorMessage, withinTime, type Logger } from '@quiver/core';
import { unref } from '../unref.js';
import { InMemoryStore } from './in-memory-store.js';
import type { SharedStore } from './shared-store.js';

/** Milliseconds between two signs of life. */
const SIGN_OF_LIFE_INTERVAL = 5_000;
/** Milliseconds after the last sign of life until an instance counts as dead: a busy process may be late. */
const SIGN_OF_LIFE_LIFETIME = 20_000;
/** Milliseconds between two signs of life of an instance that reaches the store. */
const MAX_SIGN_OF_LIFE_GAP = 2 * SIGN_OF_LIFE_INTERVAL;
/** Milliseconds that a server waits for its store when it closes. */
export const STORE_TIMEOUT = 3_000;
/** Milliseconds that an instance has to reply to a probe. */
const PROBE_TIMEOUT = 3_000;

/** Returns the error of a store that does not respond while a server closes. */
export function storeTimeout(limit: number): QuiverError {
  return new QuiverError('SHARED_STORE_UNAVAILABLE', `The shared store did not respond within ${limit} ms.`);
}

/** An id of an instance, within an id that contains it: 16 hexadecimal digits. */
export const instanceIdPattern: RegExp = /[\da-f]{16}/;

export interface InstanceOptions {
  /** Store that all instances share. Default: in memory, for the only instance. */
  readonly store: SharedStore | undefined;
  /** Name of the server. Instances of servers with other names are not visible. */
  readonly server: string;
  readonly logger: Logger;
}

/** Receives a message: JSON that another instance of the same server sent, and the id of this instance. */
export type InstanceListener<Payload> = (payload: Payload, from: string) => void;

/**
 * This process among the instances of a server: its id, its sign of life in the shared store, and its inbox. Does nothing before
 * {@link Instance.start}, and nothing at all where it is the only one.
 */
export class Instance {
  readonly store: SharedStore;
  readonly logger: Logger;
  /** Whether there may be other instances. */
  readonly isShared: boolean;
  readonly #server: string;
  readonly #listeners = new Map<string, Set<InstanceListener<never>>>();
  #id: string | undefined;
  #running: Promise<void> | undefined;
  #stop: (() => Promise<void>) | undefined;
  /** Time of the newest sign of life, by `performance.now()`. */
  #lastSign: number | undefined;
  /** Time of the sign of life after which none was late. */
  #steadySince = -Infinity;
  #isClosed = false;
  #others: Promise<boolean> | undefined;
  readonly #startListeners: (() => void)[] = [];
  /** Probes without a reply, by instance. */
  readonly #probes = new Map<string, Promise<boolean>>();

  constructor({ store, server, logger }: InstanceOptions) {
    this.isShared = store !== undefined;
    this.store = store ?? new InMemoryStore();
    this.logger = logger;
    this.#server = encodeURIComponent(server);
    this.on('probe', (_payload, from) => void this.send(from, 'probe reply', null).catch(this.warn));
  }

  /** Random, as {@link instanceIdPattern}. Clients may see it. */
  get id(): string {
    // Not before it is needed: edge runtimes forbid random values while a module loads.
    return (this.#id ??= crypto.randomUUID().replaceAll('-', '').slice(0, 16));
  }

  /** Returns the name of a record, log or channel of the server: `<kind>/<server>/<id>`. */
  nameOf(kind: string, id: string): string {
    return `${kind}/${this.#server}/${id}`;
  }

  /**
   * Opens the inbox and gives the first sign of life; further calls wait for the same. Tries again after a failure. Does nothing
   * after {@link Instance.close}.
   *
   * @throws when the store is unavailable
   */
  start(): Promise<void> {
    if (this.#isClosed || !this.isShared) return Promise.resolve();
    return (this.#running ??= this.#run().catch((error: unknown) => {
      this.#running = undefined;
      throw error;
    }));
  }

  /** Runs a function once, after {@link Instance.start}. */
  onStart(listener: () => void): void {
    this.#startListeners.push(listener);
  }

  /**
   * Returns whether an instance of this server gave a sign of life during the last 20 seconds. When the store was unavailable to this
   * instance, all count as alive until they have had time for a new one.
   */
  async isAlive(id: string): Promise<boolean> {
    if (id === this.#id || (await this.store.get(this.#keyOf(id))) !== undefined) return true;
    const now = performance.now();
    return this.#isLate(now) || now - this.#steadySince < MAX_SIGN_OF_LIFE_GAP;
  }

  /**
   * Returns whether an instance is alive and replies to a message within 3 seconds. For callers that have a sign of its end, such as a
   * broken connection: {@link Instance.isAlive} recognizes the end of a process later, but does not treat a busy one as dead.
   */
  responds(id: string): Promise<boolean> {
    if (id === this.#id) return Promise.resolve(true);
    const probe = this.#probes.get(id) ?? this.#probe(id).finally(() => this.#probes.delete(id));
    this.#probes.set(id, probe);
    return probe;
  }

  /** Returns whether there was another instance of this server when it was first asked. */
  hasOthers(): Promise<boolean> {
    if (!this.isShared) return Promise.resolve(false);
    // Once: a store may have to read all of its keys.
    return (this.#others ??= this.store
      .keys(this.nameOf('instance', ''))
      .then((keys) => keys.some((key) => key !== this.#keyOf(this.id)))
      .catch((error: unknown) => {
        this.#others = undefined;
        throw error;
      }));
  }

  /** Sends JSON to the inbox of one instance. Settles when the store has accepted it, also for an instance that is dead. */
  send(id: string, kind: string, payload: unknown): Promise<void> {
    return this.#publish(this.#keyOf(id), kind, payload);
  }

  /** Sends JSON to the inboxes of all instances, this one included. Settles when the store has accepted it. */
  async broadcast(kind: string, payload: unknown): Promise<void> {
    await this.start();
    await this.#publish(this.#allInboxes, kind, payload);
  }

  /** Receives the messages of one kind, once the instance has started. @returns a function that removes the listener */
  on<Payload>(kind: string, listener: InstanceListener<Payload>): () => void {
    const listeners = this.#listeners.get(kind) ?? new Set();
    this.#listeners.set(kind, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Closes the inbox and removes the sign of life. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const stop = async (): Promise<void> => {
      await this.#running?.catch(() => {});
      await this.#stop?.();
    };
    await withinTime(stop(), STORE_TIMEOUT, storeTimeout).catch(this.warn);
    this.#stop = undefined;
  }

  async #run(): Promise<void> {
    const { store } = this;
    const key = this.#keyOf(this.id);
    const renew = async (): Promise<void> => {
      await store.put(key, '{}', { ttlMs: SIGN_OF_LIFE_LIFETIME });
      const now = performance.now();
      if (this.#isLate(now)) this.#steadySince = now;
      this.#lastSign = now;
    };
    const receive = (text: string): void => this.#receive(text);
    const unsubscribe = [await store.subscribe(key, receive)];
    try {
      unsubscribe.push(await store.subscribe(this.#allInboxes, receive));
      await renew();
    } catch (error) {
      await Promise.allSettled(unsubscribe.map((end) => end()));
      throw error;
    }
    for (const listener of this.#startListeners.splice(0)) listener();
    const timer = unref(setInterval(() => void renew().catch(this.warn), SIGN_OF_LIFE_INTERVAL));
    this.#stop = async () => {
      clearInterval(timer);
      await Promise.all([...unsubscribe.map((end) => end()), store.delete(key)]);
    };
  }

  async #probe(id: string): Promise<boolean> {
    await this.start();
    if (!(await this.isAlive(id))) return false;
    return new Promise((resolve) => {
      const replies = new Set<string>();
      const end = (): void => {
        clearTimeout(timer);
        stop();
        // Without a separate reply, this instance does not receive what others send.
        resolve(replies.has(id) || !replies.has(this.id));
      };
      const timer = unref(setTimeout(end, PROBE_TIMEOUT));
      const stop = this.on('probe reply', (_payload, from) => {
        replies.add(from);
        if (from === id) end();
      });
      for (const receiver of [id, this.id]) void this.send(receiver, 'probe', null).catch(end);
    });
  }

  #isLate(now: number): boolean {
    return this.#lastSign !== undefined && now - this.#lastSign > MAX_SIGN_OF_LIFE_GAP;
  }

  /** Logs an error of the store that has no other effect. */
  readonly warn = (error: unknown): void =>
    this.logger.warn(`The shared store failed: ${toErrorMessage(error)}`, error);

  #keyOf(id: string): string {
    return this.nameOf('instance', id);
  }

  get #allInboxes(): string {
    return `instance/${this.#server}`;
  }

  #publish(channel: string, kind: string, payload: unknown): Promise<void> {
    return this.store.publish(channel, JSON.stringify({ kind, from: this.id, payload }));
  }

  #receive(text: string): void {
    try {
      const { kind, from, payload } = JSON.parse(text) as { kind: string; from: string; payload: never };
      for (const listener of Array.from(this.#listeners.get(kind) ?? [])) listener(payload, from);
    } catch (error) {
      this.logger.warn(`A message of another instance was dropped: ${toErrorMessage(error)}`, error);
    }
  }
}
