/** Ids of an unfinished scan, in order, and the time of their listing in milliseconds. */
interface IdListing {
  readonly ids: readonly string[];
  readonly at: number;
}

/** Cache of listings, for databases that do not order records: without it, reading everything would take the square of its size. */
export interface IdListings {
  /**
   * Returns the ids after one, in order, from a listing of at most a minute, which the first page of a scan renews.
   *
   * @param key - index and filter
   * @param list - all ids, in any order
   */
  select(key: string, after: string | undefined, list: () => Promise<string[]>): Promise<readonly string[]>;
  /** Forgets all listings. */
  clear(): void;
}

const maxListingAge = 60_000;
const maxListings = 8;

/** Keeps the ids of the eight most recent listings. */
export function idListings(): IdListings {
  const listings = new Map<string, IdListing>();
  return {
    async select(key, after, list) {
      let listing = after === undefined ? undefined : listings.get(key);
      if (!listing || performance.now() - listing.at > maxListingAge) {
        const at = performance.now();
        listing = { ids: (await list()).toSorted((a, b) => (a < b ? -1 : 1)), at };
        listings.delete(key);
        listings.set(key, listing);
        const [oldest] = listings.keys();
        if (listings.size > maxListings && oldest !== undefined) listings.delete(oldest);
      }
      const first = after === undefined ? 0 : listing.ids.findIndex((id) => id > after);
      return first === -1 ? [] : listing.ids.slice(first);
    },
    clear: () => listings.clear(),
  };
}
