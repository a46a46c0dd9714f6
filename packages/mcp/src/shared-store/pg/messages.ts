import { getDefaultLogger, toErrorMessage } from '@quiver/core';
import { Listeners } from '../listeners.js';
import { Reconnecting } from '../reconnecting.js';
import { closedError } from '../shared-store-errors.js';
import { withinTimeout, type PostgresClient, type PostgresPool } from './pool.js';

const batchSize = 100;
export interface MessagesOptions {
  readonly pool: PostgresPool;
  readonly name: string;
  readonly receive: string;
  /** Milliseconds that a statement may take. */
  readonly timeout: number;
}

/**
 * Receives the messages of one process over one connection. A notification carries an id and a channel; the messages are read from the
 * table in the order of their ids, so that none is missed while the connection is interrupted.
 */
export class Messages {
  readonly #options: MessagesOptions;
  readonly #listeners = new Listeners();
  #connection: Promise<PostgresClient> | undefined;
  /** The client of the connection once it receives notifications. */
  #client: PostgresClient | undefined;
  /** Id of the newest message that was delivered or has no listener here. */
  #cursor = '0';
  /** Reads run one after the other. */
  #reading: Promise<void> = Promise.resolve();
  #isReadQueued = false;
  /** Checks also read messages. Keeps the process alive: one that waits for messages does not end when a server restarts. */
  readonly #reconnecting = new Reconnecting({
    check: () => this.#readInBackground(),
    connect: () => this.#connectAgain(),
    keepsAlive: true,
  });
  #isClosed = false;

  constructor(options: MessagesOptions) {
    this.#options = options;
  }

  /** Resolves when messages that are published from now on reach the listener. */
  async subscribe(channel: string, listener: (message: string) => void): Promise<() => void> {
    await this.#connect();
    // The cursor passes all earlier messages, which the listener must not receive.
    await this.#read();
    return this.#listeners.add(channel, listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#reconnecting.close();
    const connection = await this.#connection?.catch(() => {});
    if (connection) this.#drop(connection);
  }

  #connect(): Promise<PostgresClient> {
    if (this.#isClosed) return Promise.reject(closedError());
    this.#connection ??= this.#open().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  async #open(): Promise<PostgresClient> {
    const { pool, name, timeout } = this.#options;
    const client = await withinTimeout(pool.connect(), timeout, (late) => late.release());
    const onEnd = (): void => this.#drop(client);
    client.on('error', onEnd);
    client.on('end', onEnd);
    client.on('notification', ({ payload = '' }) => {
      if (this.#listeners.has(payload.slice(payload.indexOf(' ') + 1))) this.#readInBackground();
    });
    try {
      await withinTimeout(client.query(`LISTEN "${name}"`), timeout);
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.#client = client;
    this.#reconnecting.succeeded();
    this.#reconnecting.watch();
    return client;
  }

  /** Closes a connection, and opens another one while there are listeners. May be called again for the same connection. */
  #drop(client: PostgresClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#connection = undefined;
    this.#reconnecting.unwatch();
    client.release(true);
    this.#connectLater();
  }

  #connectLater(): void {
    if (!this.#isClosed && this.#listeners.channels.length > 0) this.#reconnecting.connectLater();
  }

  #connectAgain(): void {
    this.#connect().then(
      () => this.#readInBackground(),
      (error: unknown) => {
        getDefaultLogger().warn(`Messages of the shared store are delayed: ${toErrorMessage(error)}`);
        this.#connectLater();
      },
    );
  }

  #readInBackground(): void {
    // A read that has not begun will find the message.
    if (this.#isReadQueued) return;
    this.#isReadQueued = true;
    // A connection that fails is opened again, and then everything is read.
    void this.#read().catch(() => {});
  }

  /** Delivers the messages that have been published so far. */
  #read(): Promise<void> {
    const reading = this.#reading.then(() => this.#readAll());
    this.#reading = reading.catch(() => {});
    return reading;
  }

  async #readAll(): Promise<void> {
    this.#isReadQueued = false;
    const client = await this.#connect();
    try {
      while (await this.#readBatch(client));
    } catch (error) {
      this.#drop(client);
      throw error;
    }
  }

  /** @returns whether there may be more messages */
  async #readBatch(client: PostgresClient): Promise<boolean> {
    if (this.#isClosed) return false;
    const { receive, timeout } = this.#options;
    const values = [this.#cursor, this.#listeners.channels, batchSize];
    const { rows } = await withinTimeout(client.query(receive, values), timeout);
    const isFull = rows.length === batchSize;
    this.#cursor = String((isFull ? rows.at(-1)?.['id'] : rows[0]?.['top']) ?? 0);
    for (const { id, channel, message } of rows)
      if (id !== null) this.#listeners.call(String(channel), String(message));
    return isFull;
  }
}
