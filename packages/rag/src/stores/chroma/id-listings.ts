/** Ids of a scan, in order. */
export interface IdListing {
  readonly ids: readonly string[];
  /** Where the next page begins. */
  readonly next: number;
  /** When they were asked for, in milliseconds. */
  readonly at: number;
}

/** For listings between two pages of a scan. */
export interface IdListings {
  /** Gives a listing once; none that is older than a minute. */
  take(key: string): IdListing | undefined;
  keep(key: string, listing: IdListing): void;
  forgetAll(): void;
  now(): number;
}

const longestAge = 60_000;
/** Scans at once; of more, the oldest ask again. */
const mostListings = 8;

/** @param now - a clock that never goes back, in milliseconds */
export function idListings(now: () => number): IdListings {
  const kept = new Map<string, IdListing>();
  return {
    now,
    take(key) {
      const listing = kept.get(key);
      kept.delete(key);
      return listing && now() - listing.at <= longestAge ? listing : undefined;
    },
    keep(key, listing) {
      const oldest = kept.size < mostListings ? undefined : kept.keys().next().value;
      if (oldest !== undefined) kept.delete(oldest);
      kept.set(key, listing);
    },
    forgetAll: () => kept.clear(),
  };
}
