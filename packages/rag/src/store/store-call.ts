import { isQuiverError, QuiverError, toErrorMessage, untilAborted } from '@quiver/core';

export interface StoreCall {
  /** For messages, such as `PostgreSQL`. */
  readonly store: string;
  /** Operation for messages, such as `querying the index 'x'`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the error to throw for an error of a store's client; errors of Quiver and abort reasons stay unchanged. */
export function toStoreFailure(
  error: unknown,
  { store, what, signal }: StoreCall,
  details?: Record<string, unknown>,
): unknown {
  if (isQuiverError(error) || (signal?.aborted && error === signal.reason)) return error;
  return new QuiverError('VECTOR_STORE_FAILED', `${store} failed at ${what}: ${toErrorMessage(error)}`, {
    cause: error,
    ...(details && { details }),
  });
}

/** Runs work with the client of a remote store and converts its errors to `QuiverError`s. */
export type ServiceCalls<Client> = <Result>(
  what: string,
  signal: AbortSignal | undefined,
  work: (client: Client) => Promise<Result>,
) => Promise<Result>;

/**
 * Returns the calls of a store whose client accepts one signal for all its requests: calls without a signal share a client, a call with
 * a signal opens another one.
 *
 * @param store - name for messages
 */
export function serviceCalls<Client>(
  store: string,
  open: (signal?: AbortSignal) => Promise<Client>,
): ServiceCalls<Client> {
  let shared: Promise<Client> | undefined;
  const openShared = (): Promise<Client> =>
    (shared ??= open().catch((error: unknown) => {
      // The next call tries again.
      shared = undefined;
      throw error;
    }));
  return async (what, signal, work) => {
    try {
      return await untilAborted(async () => work(await (signal ? open(signal) : openShared())), signal);
    } catch (error) {
      throw toStoreFailure(error, { store, what, signal });
    }
  };
}

/** Splits a list into parts of at most `count` items and, unless a single item is larger, of at most `maxSize` in total. */
export function partsOf<Item>(
  items: readonly Item[],
  count: number,
  { sizeOf = () => 0, maxSize = Number.POSITIVE_INFINITY }: { sizeOf?: (item: Item) => number; maxSize?: number } = {},
): Item[][] {
  const parts: Item[][] = [];
  let size = 0;
  for (const item of items) {
    const last = parts.at(-1);
    const added = sizeOf(item);
    if (!last || last.length === count || size + added > maxSize) {
      parts.push([item]);
      size = added;
    } else {
      last.push(item);
      size += added;
    }
  }
  return parts;
}

/** Cache of index descriptions, so that a call does not read them again. */
export interface IndexCache<Index> {
  /**
   * Runs work with the cached description of an index. Another process may have deleted or recreated the index: when work fails for
   * that possible reason and `find` returns another description, the work is repeated once. It must be repeatable.
   */
  use<Result>(indexName: string, find: () => Promise<Index>, work: (index: Index) => Promise<Result>): Promise<Result>;
  /** Default: all indexes. */
  forget(indexName?: string): void;
}

/** A recreated index with another metric may cause no error that would reveal it. */
const maxDescriptionAge = 60_000;

/**
 * Creates a cache of descriptions of at most a minute.
 *
 * @param options.mayBeStale - whether an error can result from an outdated description. Default: an error of the client, or another dimension
 * @param options.now - a monotonic clock, in milliseconds
 */
export function indexCache<Index>({
  mayBeStale = (error) => !isQuiverError(error) || error.code === 'VECTOR_DIMENSION_MISMATCH',
  now = () => performance.now(),
}: {
  mayBeStale?: (error: unknown) => boolean;
  now?: () => number;
} = {}): IndexCache<Index> {
  const cached = new Map<string, { index: Index; at: number }>();
  return {
    async use(indexName, find, work) {
      const load = async (): Promise<Index> => {
        const at = now();
        const index = await find();
        cached.set(indexName, { index, at });
        return index;
      };
      const known = cached.get(indexName);
      if (!known || now() - known.at > maxDescriptionAge) return work(await load());
      try {
        return await work(known.index);
      } catch (error) {
        if (!mayBeStale(error)) throw error;
        cached.delete(indexName);
        const current = await load();
        if (JSON.stringify(current) === JSON.stringify(known.index)) throw error;
        return work(current);
      }
    },
    forget(indexName) {
      if (indexName === undefined) cached.clear();
      else cached.delete(indexName);
    },
  };
}
