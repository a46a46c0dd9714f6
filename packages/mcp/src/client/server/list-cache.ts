/** A list of a server. */
export interface FetchedList<Item> {
  readonly items: readonly Item[];
  /** Milliseconds that the list may be cached: `Infinity` until it is invalidated, 0 not at all. */
  readonly keepFor: number;
  /** Error about entries that are missing in `items`. */
  readonly error?: unknown;
}

/** The cached list. */
export interface KnownList<Item> {
  readonly items: readonly Item[];
  /** Why the list could not be fetched again (`items` is then the last good one), or why entries are missing. */
  readonly error?: unknown;
}

export interface ListCacheOptions<Item> {
  readonly fetch: () => Promise<FetchedList<Item>>;
  /** Called with every fetched list, and the one before it. */
  readonly onFetched?: (items: readonly Item[], previous: readonly Item[] | undefined) => void;
  readonly now?: () => number;
}

/** Cache of one list of a server. */
export class ListCache<Item> {
  readonly #options: ListCacheOptions<Item>;
  #known: KnownList<Item> | undefined;
  #goodUntil = Number.NEGATIVE_INFINITY;
  #fetching: Promise<KnownList<Item>> | undefined;
  #generation = 0;
  /** Generation in which the known list was requested. */
  #knownIn = 0;

  constructor(options: ListCacheOptions<Item>) {
    this.#options = options;
  }

  /**
   * Returns the list, fetched when there is none or it has expired, by one request for all callers. When that fails, returns the last
   * good list and the error.
   *
   * @throws what the request throws, when there was never a good list
   */
  get(): Promise<KnownList<Item>> {
    if (this.#known && this.#now() < this.#goodUntil) return Promise.resolve(this.#known);
    const current = (this.#fetching ??= this.#refresh().finally(() => {
      if (this.#fetching === current) this.#fetching = undefined;
    }));
    return current;
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

  async #refresh(): Promise<KnownList<Item>> {
    const startedIn = this.#generation;
    try {
      const { items, keepFor, error } = await this.#options.fetch();
      const previous = this.#known;
      // A later request received its response first.
      if (previous && startedIn < this.#knownIn) return previous;
      this.#known = { items, ...(error !== undefined && { error }) };
      this.#knownIn = startedIn;
      // A list that changed while it was fetched has already expired.
      this.#goodUntil = startedIn === this.#generation ? this.#now() + keepFor : Number.NEGATIVE_INFINITY;
      this.#options.onFetched?.(items, previous?.items);
      return this.#known;
    } catch (error) {
      if (!this.#known) throw error;
      return { items: this.#known.items, error };
    }
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}
