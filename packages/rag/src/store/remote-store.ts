import { isQuiverError } from '@quiver/core';
import { indexNotFound, type IndexShape, requireIndexShape } from './checks.js';
import { type OpenIndex, RecordStore, type StoreParameters } from './record-store.js';
import type { ServiceCalls } from './store-call.js';
import type { Cancellable, CreateIndexParams, IndexDescription, IndexParams, QueryParams } from './vector-store.js';

/** Creates indexes, and opens existing ones with cached descriptions. */
export interface IndexCache<Client, Index> {
  /**
   * Runs work with the description of an index. Another process may have deleted or recreated the index: when work fails for that
   * possible reason and the description is another one now, the work is repeated once. It must be repeatable.
   *
   * @param what - operation for messages
   * @throws `VECTOR_INDEX_NOT_FOUND`
   */
  use<Result>(
    params: IndexParams,
    work: (index: Index, client: Client) => Promise<Result>,
    what?: string,
  ): Promise<Result>;
  /** Runs the creation of an index after checking its name and shape. */
  create(params: CreateIndexParams, work: (shape: IndexShape, client: Client) => Promise<unknown>): Promise<void>;
  /** Default: all indexes. */
  forget(indexName?: string): void;
}

/** The part of an adapter that finds indexes. */
export interface IndexCacheOptions<Client, Index> {
  readonly run: ServiceCalls<Client>;
  /** @throws `OPTIONS_INVALID` */
  readonly requireName: (indexName: string) => void;
  /** @returns `undefined` if there is no such index */
  readonly find: (client: Client, indexName: string, signal: AbortSignal | undefined) => Promise<Index | undefined>;
  readonly list: (client: Client, signal: AbortSignal | undefined) => Promise<string[]>;
  /** Whether an error can result from an outdated description. Default: an error of the client, or another dimension. */
  readonly mayBeStale?: (error: unknown) => boolean;
  /** Milliseconds that a description is cached. Default a minute: a recreated index with another metric may cause no error that would reveal it. */
  readonly maxAge?: number;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** Creates a cache of descriptions. */
export function indexCache<Client, Index>({
  run,
  requireName,
  find,
  list,
  mayBeStale = (error) => !isQuiverError(error) || error.code === 'VECTOR_DIMENSION_MISMATCH',
  maxAge = 60_000,
  now = () => performance.now(),
}: IndexCacheOptions<Client, Index>): IndexCache<Client, Index> {
  const cached = new Map<string, { index: Index; at: number }>();
  let forgotten = 0;
  const forget = (indexName?: string): void => {
    forgotten += 1;
    if (indexName === undefined) cached.clear();
    else cached.delete(indexName);
  };
  return {
    forget,
    async use({ indexName, signal }, work, what = `using the index '${indexName}'`) {
      requireName(indexName);
      return run(what, signal, async (client) => {
        const load = async (): Promise<Index> => {
          const [at, before] = [now(), forgotten];
          const index = await find(client, indexName, signal);
          if (!index) throw indexNotFound(indexName, await list(client, signal));
          // The index may have been recreated since it was found.
          if (forgotten === before) cached.set(indexName, { index, at });
          return index;
        };
        const known = cached.get(indexName);
        if (!known || now() - known.at >= maxAge) return work(await load(), client);
        try {
          return await work(known.index, client);
        } catch (error) {
          // After an error of the client, the next call reads the description again.
          if (mayBeStale(error) || !isQuiverError(error)) cached.delete(indexName);
          if (!mayBeStale(error)) throw error;
          const current = await load();
          if (JSON.stringify(current) === JSON.stringify(known.index)) throw error;
          return work(current, client);
        }
      });
    },
    async create({ indexName, signal, ...params }, work) {
      requireName(indexName);
      const shape = requireIndexShape(params);
      await run(`creating the index '${indexName}'`, signal, (client) => work(shape, client));
      forget(indexName);
    },
  };
}

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

/**
 * The methods of a store in a database: it finds its indexes there, and caches their descriptions. `Client` runs the requests, `Index`
 * describes an index, `Opened` is one that is open for a call.
 */
export abstract class RemoteStore<
  Client,
  Index extends IndexShape,
  Target extends object = object,
  Query extends QueryParams & Target = QueryParams & Target,
  Opened extends OpenIndex<Query> = OpenIndex<Query>,
> extends RecordStore<Target, Query> {
  protected readonly indexes: IndexCache<Client, Index>;
  /** For databases that do not order records. */
  protected readonly listings: IdListings = idListings();
  readonly #database: IndexCacheOptions<Client, Index>;

  constructor(parameters: StoreParameters<Target, Query>, database: IndexCacheOptions<Client, Index>) {
    super(parameters);
    this.#database = database;
    this.indexes = indexCache(database);
  }

  /** Returns the index for one call. */
  protected abstract open(index: Index, client: Client, params: IndexParams & Target): Opened;

  protected use<Result>(params: IndexParams & Target, work: (index: Opened) => Promise<Result>): Promise<Result> {
    return this.indexes.use(params, (index, client) => work(this.open(index, client, params)));
  }

  /** A recreated index may have another shape, and no error would tell: records of the former shape would stay in it. */
  protected override change<Result>(
    params: IndexParams & Target,
    work: (index: Opened) => Promise<Result>,
  ): Promise<Result> {
    this.indexes.forget(params.indexName);
    return this.use(params, work).finally(() => this.listings.clear());
  }

  async listIndexes(params: Cancellable = {}): Promise<string[]> {
    this.check('listIndexes', params);
    const { run, list } = this.#database;
    return run('listing indexes', params.signal, (client) => list(client, params.signal));
  }

  override async describeIndex(params: IndexParams & Target): Promise<IndexDescription> {
    this.indexes.forget(params.indexName);
    return super.describeIndex(params);
  }

  override async deleteIndex(params: IndexParams & Target): Promise<void> {
    await super.deleteIndex(params);
    this.indexes.forget(params.indexName);
  }
}

/** A store with a connection, which its owner closes. */
export abstract class ClosableStore<
  Client,
  Index extends IndexShape,
  Target extends object = object,
  Query extends QueryParams & Target = QueryParams & Target,
  Opened extends OpenIndex<Query> = OpenIndex<Query>,
>
  extends RemoteStore<Client, Index, Target, Query, Opened>
  implements AsyncDisposable
{
  /** Closes what the store opened. The store can be used again afterwards. */
  abstract close(): Promise<void>;

  /** The same as `close()`. */
  async disconnect(): Promise<void> {
    await this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
