import type { AnyRequestContext } from '@quiver/core/tools';
import { evictOldest } from '../../evict-oldest.js';
import { ListCache, type FetchedList, type ListCacheOptions } from './list-cache.js';

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
 * One list of a server, as each caller receives it. It is cached for callers without a request context, and for at most 256 identities,
 * of which the least recently used one is evicted. The list of a caller without an identity is not cached, because it must not reach
 * another one.
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
  async get(requestContext?: AnyRequestContext): Promise<FetchedList<Item>> {
    const cache = this.#find(requestContext);
    return cache ? cache.get(requestContext) : this.#options.fetch(requestContext);
  }

  /** Returns the last good list of a caller, also when it has expired. */
  peek(requestContext?: AnyRequestContext): readonly Item[] | undefined {
    return this.#find(requestContext)?.peek();
  }

  /** Makes the next {@link get} of every caller fetch the list. */
  invalidate(): void {
    this.#common.invalidate();
    for (const cache of this.#byIdentity.values()) cache.invalidate();
  }

  #find(requestContext: AnyRequestContext | undefined): ListCache<Item> | undefined {
    const { variesByCaller, identity } = this.#options;
    if (!variesByCaller || requestContext === undefined) return this.#common;
    const key = identity?.(requestContext);
    // Programs in JavaScript return `null` as well.
    if (key === undefined || key === null) return undefined;
    const caches = this.#byIdentity;
    const cache = caches.get(key) ?? new ListCache(this.#options);
    caches.delete(key);
    caches.set(key, cache);
    evictOldest(caches, maxIdentities);
    return cache;
  }
}
