import { QuiverError } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import { setRecent } from '../../set-recent.js';
import { fromPromptMeta, type Prompt } from '../../prompt.js';
import type { ProtocolTool } from '../../protocol/types.js';
import { errorCodes, viaKey } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { requestMethods, type ListMethod } from '../../protocol/methods.js';
import type { Resource, ResourceTemplate } from '../../resource.js';
import type { RequestOptions } from '../config/caller.js';
import type { EngineRequestOptions } from '../engine/call.js';
import type { Engine } from '../engine/engine.js';
import type { RemoteServer } from './remote-server.js';
import { malformedToolsError, parseToolDefinitions } from './tool-definitions.js';

/** Ids of the gateways that a request has passed, the last one at the end. */
export type Via = readonly string[];

/** A list of a server. */
export interface FetchedList<Item> {
  readonly items: readonly Item[];
  /** Milliseconds that the list may be cached: `Infinity` until it is invalidated, 0 not at all. */
  readonly keepFor: number;
  /** Why entries are missing in `items`, or why the list could not be fetched again: `items` is then the last good one. */
  readonly error?: unknown;
}

/** Caller that needs a list. The request ends when the signals of all callers that wait for the list have fired. */
export interface ListCaller extends Readonly<RequestOptions> {
  readonly via?: Via | undefined;
}

interface Fetching<Item> {
  readonly list: Promise<FetchedList<Item>>;
  readonly controller: AbortController;
  waiting: number;
}

export interface ListCacheOptions<Item> {
  /** @param isAgain - whether the cache has an expired list */
  readonly fetch: (caller: ListCaller, isAgain: boolean) => Promise<FetchedList<Item>>;
  /** Called with every fetched list, and the one before it. */
  readonly onFetched?: (items: readonly Item[], previous: readonly Item[] | undefined) => void;
  readonly now?: () => number;
}

/** Cache of one list of a server, for callers that receive the same one. */
export class ListCache<Item> {
  readonly #options: ListCacheOptions<Item>;
  #known: FetchedList<Item> | undefined;
  #goodUntil = Number.NEGATIVE_INFINITY;
  #fetching: Fetching<Item> | undefined;
  #generation = 0;
  /** Generation in which the known list was requested. */
  #knownIn = 0;

  constructor(options: ListCacheOptions<Item>) {
    this.#options = options;
  }

  /** Returns the list, by one request for all callers; the last good list and the error if that fails. @throws without a good list */
  get(caller: ListCaller = {}): Promise<FetchedList<Item>> {
    if (this.#known && this.#now() < this.#goodUntil) return Promise.resolve(this.#known);
    const current = (this.#fetching ??= this.#start(caller));
    current.waiting += 1;
    const { signal } = caller;
    if (!signal) return current.list;
    const leave = (): void => {
      current.waiting -= 1;
      if (current.waiting > 0) return;
      this.#forget(current);
      current.controller.abort(signal.reason);
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    return current.list.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Returns the last good list, also when it has expired. */
  peek(): readonly Item[] | undefined {
    return this.#known?.items;
  }

  /** Makes the next {@link get} fetch the list. */
  invalidate(): void {
    this.#generation += 1;
    this.#goodUntil = Number.NEGATIVE_INFINITY;
    this.#fetching = undefined;
  }

  #start(caller: ListCaller): Fetching<Item> {
    const controller = new AbortController();
    const list = this.#refresh({ ...caller, signal: controller.signal }).finally(() => this.#forget(current));
    const current = { list, controller, waiting: 0 };
    return current;
  }

  #forget(fetching: Fetching<Item>): void {
    if (this.#fetching === fetching) this.#fetching = undefined;
  }

  async #refresh(caller: ListCaller): Promise<FetchedList<Item>> {
    const startedIn = this.#generation;
    try {
      const fetched = await this.#options.fetch(caller, this.#known !== undefined);
      const previous = this.#known;
      // A later request received its response first.
      if (previous && startedIn < this.#knownIn) return previous;
      this.#known = fetched;
      this.#knownIn = startedIn;
      // A list that changed while it was fetched has already expired.
      this.#goodUntil = startedIn === this.#generation ? this.#now() + fetched.keepFor : Number.NEGATIVE_INFINITY;
      this.#options.onFetched?.(fetched.items, previous?.items);
      return fetched;
    } catch (error) {
      if (!this.#known) throw error;
      return { ...this.#known, error };
    }
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

/** Identities whose lists are cached per list of a server. */
const maxIdentities = 256;

/** Returns the identity of the caller behind a request context; `undefined` when it has none. */
export type Identity = (requestContext: AnyRequestContext) => string | undefined;

export interface CallerListsOptions<Item> extends ListCacheOptions<Item> {
  /** Whether the server may have another list for each request context. */
  readonly variesByCaller: boolean;
  readonly identity?: Identity | undefined;
}

/**
 * One list of a server, as each caller receives it. It is cached for callers without a request context, and for the 256 identities that were
 * used last. The list of a caller without an identity is not cached, because it must not reach another one.
 */
export class CallerLists<Item> {
  readonly #options: CallerListsOptions<Item>;
  /** For callers without a request context; for all callers where the list does not vary. */
  readonly #common: ListCache<Item>;
  readonly #byIdentity = new Map<string, ListCache<Item>>();

  constructor(options: CallerListsOptions<Item>) {
    this.#options = options;
    this.#common = new ListCache(options);
  }

  /** @throws as `ListCache.get`; errors of `identity` */
  async get(caller: ListCaller = {}): Promise<FetchedList<Item>> {
    const cache = this.#find(caller);
    return cache ? cache.get(caller) : this.#options.fetch(caller, false);
  }

  /** Returns the last good list of a caller, also when it has expired. */
  peek(caller: ListCaller = {}): readonly Item[] | undefined {
    return this.#find(caller)?.peek();
  }

  /** Makes the next {@link get} of every caller fetch the list. */
  invalidate(): void {
    this.#common.invalidate();
    for (const cache of this.#byIdentity.values()) cache.invalidate();
  }

  #find({ requestContext, via = [] }: ListCaller): ListCache<Item> | undefined {
    const { variesByCaller, identity } = this.#options;
    // A list that another gateway requested may lack the items of that gateway.
    const isRelayed = via.length > 1;
    const isCommon = !variesByCaller || requestContext === undefined;
    if (isCommon && !isRelayed) return this.#common;
    const caller = isCommon ? '' : identity?.(requestContext);
    // Programs in JavaScript return `null` as well.
    if (caller === undefined || caller === null) return undefined;
    const key = isRelayed ? JSON.stringify([caller, isCommon, ...via]) : caller;
    const cache = this.#byIdentity.get(key) ?? new ListCache(this.#options);
    setRecent(this.#byIdentity, key, cache, maxIdentities);
    return cache;
  }
}

/** Items of a list by the method that requests them. */
export interface ListedItems extends Record<ListMethod, unknown> {
  readonly 'tools/list': ProtocolTool;
  readonly 'resources/list': Resource;
  readonly 'resources/templates/list': ResourceTemplate;
  readonly 'prompts/list': Prompt;
}

/** More items than any model can be shown: a server that lists more is broken or hostile. */
const maxItems = 20_000;
const maxPages = 64;
/** Milliseconds until a list expires that the server does not report changes of. */
const silentServerLifetime = 60_000;

/**
 * Requests a list; empty without the capability. A legacy server reports changes unasked. A modern one is subscribed to with the second
 * request of a list, so that a program that lists once opens no stream.
 */
export async function fetchList<Method extends ListMethod>(
  { name, options: { cache = true }, subscriptions, variesByCaller }: RemoteServer,
  method: Method,
  engine: Engine,
  options: EngineRequestOptions & { isAgain?: boolean | undefined; via?: Via | undefined },
): Promise<FetchedList<ListedItems[Method]>> {
  const { capability: kind } = requestMethods[method];
  const { capabilities } = engine.server;
  // Only a resumed session has unknown capabilities.
  if (capabilities && !capabilities[kind]) return { items: [], keepFor: Number.POSITIVE_INFINITY };
  const mayCache = typeof cache === 'boolean' ? cache : cache[kind] !== false;
  // Notifications belong to the connection: a change that only one caller can see may not be reported.
  const isOfOneCaller = variesByCaller && options.requestContext !== undefined;
  const mayReport = (capabilities?.[kind] as { listChanged?: boolean } | undefined)?.listChanged === true;
  const isFollowed = mayCache && mayReport && !isOfOneCaller;
  // Before the request: a change after the response must not be missed.
  const isReported = isFollowed && (!engine.isModern || subscriptions.reports(kind));
  if (isFollowed && engine.isModern && options.isAgain) subscriptions.followList(kind);
  let fetched: { items: unknown[]; ttlMs: unknown };
  try {
    fetched = await fetchPages(name, engine, method, options);
  } catch (error) {
    if (!(error instanceof ProtocolError && error.code === errorCodes.methodNotFound)) throw error;
    return { items: [], keepFor: silentServerLifetime };
  }
  let { items } = fetched;
  let error: unknown;
  // The engine has checked the items of all lists except tools.
  if (kind === 'tools') {
    const { tools, malformed } = parseToolDefinitions(items, engine.isModern);
    items = tools;
    if (malformed.length > 0) error = malformedToolsError(name, malformed);
  }
  // Restores the members that travel in `_meta`, because the protocol does not define them.
  if (kind === 'prompts') items = (items as Prompt[]).map((prompt) => ({ ...prompt, ...fromPromptMeta(prompt._meta) }));
  const lifetime = engine.isModern ? Number(fetched.ttlMs ?? 0) : silentServerLifetime;
  return {
    items: items as ListedItems[Method][],
    keepFor: mayCache ? (isReported ? Number.POSITIVE_INFINITY : lifetime) : 0,
    error,
  };
}

/** Returns the items of all pages, as the server sent them. @throws `MCP_LIST_ENDLESS` when a server sends a cursor with every page */
async function fetchPages(
  serverName: string,
  engine: Engine,
  method: ListMethod,
  { via, ...options }: EngineRequestOptions & { via?: Via | undefined },
): Promise<{ items: unknown[]; ttlMs: unknown }> {
  const { resultMember: key } = requestMethods[method];
  let cursor: unknown;
  let items: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const params = { ...(cursor !== undefined && { cursor }), ...(via && { _meta: { [viaKey]: via } }) };
    const result = await engine.request(method, params, options);
    const { [key]: added, nextCursor, ttlMs } = result;
    if (!Array.isArray(added)) throw new TypeError(`Invalid result for ${method}: ${key} is not an array`);
    // A server that ignores the cursor sends the same page again.
    if (nextCursor !== undefined && nextCursor === cursor) return { items, ttlMs };
    items = items.length === 0 ? added : [...items, ...(added as unknown[])];
    if (items.length > maxItems) return { items: items.slice(0, maxItems), ttlMs };
    if (nextCursor === undefined || nextCursor === null) return { items, ttlMs };
    if (page === maxPages)
      throw new QuiverError(
        'MCP_LIST_ENDLESS',
        `MCP server '${serverName}' sends a list without end: ${method} has a cursor after ${page} pages.`,
        { details: { server: serverName } },
      );
    cursor = nextCursor;
  }
}
