import { invalidOptions } from '@quiver/core/internal';

interface Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** The part of a client of `redis` or `@redis/client` that is called. */
export interface NodeRedisClient extends Emitter {
  sendCommand(command: string[]): Promise<unknown>;
  duplicate(): NodeRedisSubscriber;
}

/** The part of a duplicated client that is called. */
export interface NodeRedisSubscriber extends Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready', listener: () => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  /** Versions before 5 have `disconnect` instead. */
  destroy?(): unknown;
  disconnect?(): unknown;
}

/** The part of a client of `ioredis` that is called. */
export interface IoredisClient extends Emitter {
  call(command: string, ...values: string[]): Promise<unknown>;
  duplicate(options?: { enableOfflineQueue?: boolean; autoResubscribe?: boolean }): IoredisSubscriber;
  options?: { keyPrefix?: string | undefined };
}

/** The part of a duplicated client that is called. */
export interface IoredisSubscriber extends Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  on(event: 'ready', listener: () => void): unknown;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(): unknown;
}

/** Connection that receives messages. The client restores its subscriptions after a reconnect. */
export interface RedisSubscriber {
  /** Resolves when it is connected; never settles while the server is unavailable. */
  readonly ready: Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  close(): void;
}

interface SubscriberEvents {
  onMessage(channel: string, message: string): void;
  /** Called after every connect and reconnect. */
  onReady(): void;
}

export interface RedisConnection {
  send(command: string[]): Promise<unknown>;
  openSubscriber(events: SubscriberEvents): RedisSubscriber;
  close(): void;
}

/**
 * Without a listener, an interrupted connection would end this process. The clients reconnect automatically, with an error per attempt,
 * and commands report the failure.
 */
const ignoreError = (): void => {};

/** @throws `OPTIONS_INVALID` for another client, and for a `keyPrefix` of `ioredis` */
export function adoptClient(client: NodeRedisClient | IoredisClient): RedisConnection {
  const isIoredis = typeof (client as Partial<IoredisClient> | undefined)?.call === 'function';
  if (!isIoredis && typeof (client as Partial<NodeRedisClient> | undefined)?.sendCommand !== 'function')
    throw invalidOptions('RedisStore: `client` is neither a client of `redis` nor one of `ioredis`.');
  const connection = isIoredis ? adoptIoredis(client as IoredisClient) : adoptNodeRedis(client as NodeRedisClient);
  client.on('error', ignoreError);
  return { ...connection, close: () => void client.removeListener('error', ignoreError) };
}

function adoptNodeRedis(client: NodeRedisClient): Omit<RedisConnection, 'close'> {
  return {
    send: (command) => client.sendCommand(command),
    openSubscriber: ({ onMessage, onReady }) => {
      const subscriber = client.duplicate();
      subscriber.on('error', ignoreError);
      subscriber.on('ready', onReady);
      const listener = (message: string, channel: string): void => onMessage(channel, message);
      return {
        ready: subscriber.connect(),
        // One function for all channels, because the client calls each function once, however often it was subscribed.
        subscribe: (channel) => subscriber.subscribe(channel, listener),
        unsubscribe: (channel) => subscriber.unsubscribe(channel),
        ping: () => subscriber.ping(),
        // Throws or rejects when the client has given up its connection before.
        close: () =>
          void Promise.resolve()
            .then(() => (subscriber.destroy ? subscriber.destroy() : subscriber.disconnect?.()))
            .catch(() => {}),
      };
    },
  };
}

function adoptIoredis(client: IoredisClient): Omit<RedisConnection, 'close'> {
  if (client.options?.keyPrefix)
    throw invalidOptions(
      "the client has a `keyPrefix`, which ioredis does not apply to all commands. Pass the store's.",
    );
  return {
    send: ([command = '', ...values]) => client.call(command, ...values),
    openSubscriber: ({ onMessage, onReady }) => {
      // Regardless of the settings of the client: commands wait until it is connected, and channels are restored after a reconnect.
      const subscriber = client.duplicate({ enableOfflineQueue: true, autoResubscribe: true });
      subscriber.on('error', ignoreError);
      subscriber.on('message', onMessage);
      subscriber.on('ready', onReady);
      return {
        // It connects by itself, and its commands wait until then.
        ready: Promise.resolve(),
        subscribe: (channel) => subscriber.subscribe(channel),
        unsubscribe: (channel) => subscriber.unsubscribe(channel),
        ping: () => subscriber.ping(),
        close: () => void subscriber.disconnect(),
      };
    },
  };
}
