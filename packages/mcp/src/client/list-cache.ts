/** A list as a server gave it. */
export interface FetchedList<Item> {
  readonly items: readonly Item[];
  /** How many milliseconds the list may be kept: `Infinity` until it is invalidated, 0 not at all. */
  readonly keepFor: number;
}

/** A list as it is known now. */
export interface KnownList<Item> {
  readonly items: readonly Item[];
  /** Why the list could not be fetched again: `items` is the last good one. */
  readonly error?: unknown;
}

export interface ListCache<Item> {
  /**
   * The list, fetched when there is none or it is too old; by one request, however many callers wait. When that fails, the last
   * good list and the error.
   *
   * @throws what the request throws, when there was never a good list
   */
  get(): Promise<KnownList<Item>>;
  /** The last good list, however old. */
  peek(): readonly Item[] | undefined;
  /** The next {@link get} fetches. */
  invalidate(): void;
}

export interface ListCacheOptions<Item> {
  readonly fetch: () => Promise<FetchedList<Item>>;
  /** Sees every list that was fetched, and the one before it. */
  readonly onFetched?: (items: readonly Item[], previous: readonly Item[] | undefined) => void;
  readonly now?: () => number;
}

export function createListCache<Item>({ fetch, onFetched, now = Date.now }: ListCacheOptions<Item>): ListCache<Item> {
  let known: readonly Item[] | undefined;
  let goodUntil = Number.NEGATIVE_INFINITY;
  let fetching: Promise<KnownList<Item>> | undefined;
  let generation = 0;

  const refresh = async (): Promise<KnownList<Item>> => {
    const startedIn = generation;
    try {
      const { items, keepFor } = await fetch();
      const previous = known;
      known = items;
      // A list that changed while it was fetched is too old already.
      goodUntil = startedIn === generation ? now() + keepFor : Number.NEGATIVE_INFINITY;
      onFetched?.(items, previous);
      return { items };
    } catch (error) {
      if (!known) throw error;
      return { items: known, error };
    }
  };

  return {
    get: () => {
      if (known && now() < goodUntil) return Promise.resolve({ items: known });
      const current = (fetching ??= refresh().finally(() => {
        if (fetching === current) fetching = undefined;
      }));
      return current;
    },
    peek: () => known,
    invalidate: () => {
      generation += 1;
      goodUntil = Number.NEGATIVE_INFINITY;
      fetching = undefined;
    },
  };
}
