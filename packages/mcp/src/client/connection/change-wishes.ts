import { QuiverError } from '@quiver/core';
import type { RequestOptions, SubscriptionFilter } from '../../protocol/client-types.js';
import type { ChangeStream } from './change-stream.js';
import type { Connected } from './connected.js';
import type { SendOver } from './send-request.js';
import type { ServerHandlers } from './server-handlers.js';

/** What this side wants to be told of, whatever becomes of the connection. */
export class ChangeWishes {
  readonly #serverName: string;
  readonly #handlers: ServerHandlers;
  #uris: ReadonlySet<string> = nothing;

  constructor(serverName: string, handlers: ServerHandlers) {
    this.#serverName = serverName;
    this.#handlers = handlers;
  }

  /** Whether anybody waits for news of the server. */
  get isEmpty(): boolean {
    const { onResourceUpdated, onListChanged } = this.#handlers;
    return onResourceUpdated === undefined && this.#uris.size === 0 && !Object.values(onListChanged).some(Boolean);
  }

  /** Asks for news of a resource, now and after every reconnection. */
  async subscribe(uri: string, request: (run: SendOver<unknown>) => Promise<unknown>): Promise<void> {
    this.#uris = new Set([...this.#uris, uri]);
    try {
      await request(async ({ link, changes }, options) =>
        changes ? this.#wishFor(changes, uri) : (await link.client()).subscribeResource({ uri }, options),
      );
    } catch (error) {
      this.#drop(uri);
      throw error;
    }
  }

  async unsubscribe(uri: string, request: (run: SendOver<unknown>) => Promise<unknown>): Promise<void> {
    this.#drop(uri);
    await request(async ({ link, changes }, options) =>
      changes ? changes.wish(this.#filter()) : (await link.client()).unsubscribeResource({ uri }, options),
    );
  }

  /** Tells a new connection all wishes. */
  async announce({ link, changes }: Connected, options: RequestOptions): Promise<void> {
    if (changes) await changes.wish(this.#filter());
    else for (const uri of this.#uris) await (await link.client()).subscribeResource({ uri }, options);
  }

  /** Tells a connection that handlers changed. */
  async update(connected: Connected | undefined): Promise<void> {
    await connected?.changes?.wish(this.#filter());
  }

  #drop(uri: string): void {
    this.#uris = new Set([...this.#uris].filter((other) => other !== uri));
  }

  #filter(): SubscriptionFilter {
    const { onListChanged } = this.#handlers;
    return {
      ...(onListChanged.tools && { toolsListChanged: true }),
      ...(onListChanged.prompts && { promptsListChanged: true }),
      ...(onListChanged.resources && { resourcesListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
  }

  async #wishFor(changes: ChangeStream, uri: string): Promise<void> {
    const honored = await changes.wish(this.#filter());
    if (honored.resourceSubscriptions?.includes(uri)) return;
    const watchers = this.#handlers.onResourceUpdated ? '' : ' (no handler is set either)';
    throw new QuiverError(
      'MCP_REQUEST_FAILED',
      `MCP server '${this.#serverName}' does not tell when '${uri}' changes${watchers}.`,
    );
  }
}

const nothing: ReadonlySet<string> = new Set();
