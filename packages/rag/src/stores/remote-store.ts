import { isQuiverError } from '@quiver/core';
import type { Filter } from '../filter/index.js';
import { type LanguageParams, requireSameLanguage, toAnalyzerId } from '../words/term-analyzer.js';
import { indexNotFound, type IndexShape, requireIndexShape, requireSameShape } from '../store/checks.js';
import { type OpenIndex, RecordStore, type StoreParameters } from '../store/record-store.js';
import type { ServiceCalls } from './store-call.js';
import type {
  Cancellable,
  CreateIndexParams,
  IndexDescription,
  IndexParams,
  ListVectorsParams,
  QueryParams,
  VectorMetric,
} from '../store/vector-store.js';

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

/** Creates indexes, and opens existing ones with cached descriptions. */
export class IndexCache<Client, Index> {
  readonly #options: IndexCacheOptions<Client, Index>;
  readonly #cached = new Map<string, { index: Index; at: number }>();
  #forgotten = 0;

  constructor(options: IndexCacheOptions<Client, Index>) {
    this.#options = options;
  }

  /**
   * Runs work with the description of an index. Another process may have deleted or recreated the index: when work fails for that
   * possible reason and the description is another one now, the work is repeated once. It must be repeatable.
   *
   * @param what - operation for messages
   * @throws `VECTOR_INDEX_NOT_FOUND`
   */
  async use<Result>(
    { indexName, signal }: IndexParams,
    work: (index: Index, client: Client) => Promise<Result>,
    what: string = `using the index '${indexName}'`,
  ): Promise<Result> {
    const {
      run,
      requireName,
      find,
      list,
      maxAge = 60_000,
      mayBeStale = isStaleByDefault,
      now = monotonic,
    } = this.#options;
    requireName(indexName);
    return run(what, signal, async (client) => {
      const load = async (): Promise<Index> => {
        const [at, before] = [now(), this.#forgotten];
        const index = await find(client, indexName, signal);
        if (!index) throw indexNotFound(indexName, await list(client, signal));
        // The index may have been recreated since it was found.
        if (this.#forgotten === before) this.#cached.set(indexName, { index, at });
        return index;
      };
      const known = this.#cached.get(indexName);
      if (!known || now() - known.at >= maxAge) return work(await load(), client);
      try {
        return await work(known.index, client);
      } catch (error) {
        // After an error of the client, the next call reads the description again.
        if (mayBeStale(error) || !isQuiverError(error)) this.#cached.delete(indexName);
        if (!mayBeStale(error)) throw error;
        const current = await load();
        if (JSON.stringify(current) === JSON.stringify(known.index)) throw error;
        return work(current, client);
      }
    });
  }

  async create(
    { indexName, signal, ...params }: CreateIndexParams,
    work: (shape: IndexShape, client: Client) => Promise<unknown>,
  ): Promise<void> {
    this.#options.requireName(indexName);
    const shape = requireIndexShape(params);
    await this.#options.run(`creating the index '${indexName}'`, signal, (client) => work(shape, client));
    this.forget(indexName);
  }

  /** Default: all indexes. */
  forget(indexName?: string): void {
    this.#forgotten += 1;
    if (indexName === undefined) this.#cached.clear();
    else this.#cached.delete(indexName);
  }
}

const monotonic = (): number => performance.now();

function isStaleByDefault(error: unknown): boolean {
  return !isQuiverError(error) || error.code === 'VECTOR_DIMENSION_MISMATCH';
}

const maxListingAge = 60_000;
const maxListings = 8;

/** The ids of the eight most recent listings, for databases that do not order records: without them, reading everything would take the square of its size. */
export class IdListings {
  readonly #listings = new Map<string, { readonly ids: readonly string[]; readonly at: number }>();

  /**
   * Returns the ids after one, in order, from a listing of at most a minute, which the first page of a scan renews.
   *
   * @param key - index and filter
   * @param list - all ids, in any order
   */
  async select(
    key: string,
    after: string | undefined,
    list: () => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    let listing = after === undefined ? undefined : this.#listings.get(key);
    if (!listing || performance.now() - listing.at > maxListingAge) {
      const at = performance.now();
      listing = { ids: (await list()).toSorted((a, b) => (a < b ? -1 : 1)), at };
      this.#listings.delete(key);
      this.#listings.set(key, listing);
      const [oldest] = this.#listings.keys();
      if (this.#listings.size > maxListings && oldest !== undefined) this.#listings.delete(oldest);
    }
    return after === undefined ? listing.ids : listing.ids.filter((id) => id > after);
  }

  clear(): void {
    this.#listings.clear();
  }
}

/** An index of a database, open for one call. */
export abstract class RemoteIndex<Client, Index extends IndexShape> {
  readonly dimension: number;
  readonly metric: VectorMetric;
  protected readonly client: Client;
  protected readonly index: Index;
  protected readonly name: string;
  /** Ends the call before its next request. */
  protected readonly signal: AbortSignal | undefined;

  constructor(client: Client, index: Index, { indexName, signal }: IndexParams) {
    this.dimension = index.dimension;
    this.metric = index.metric;
    this.client = client;
    this.index = index;
    this.name = indexName;
    this.signal = signal;
  }
}

/** An index to create. */
export interface WantedIndex extends IndexShape {
  readonly name: string;
  /** Id of the `TermAnalyzer` of the language. */
  readonly analyzer: string;
}

/**
 * The methods of a store in a database: it finds its indexes there, and caches their descriptions. `Client` runs the requests, `Index`
 * describes an index, `Opened` is one that is open for a call.
 */
export abstract class RemoteStore<
  Client,
  Index extends IndexShape & { readonly analyzer?: string },
  Target extends object = object,
  Query extends QueryParams & Target = QueryParams & Target,
  Opened extends OpenIndex<Query> = OpenIndex<Query>,
> extends RecordStore<Target, Query> {
  /** For records of the application. */
  readonly id: string;
  protected readonly indexes: IndexCache<Client, Index>;
  readonly #listings = new IdListings();
  readonly #database: IndexCacheOptions<Client, Index>;

  constructor(id: string, parameters: StoreParameters<Target, Query>, database: IndexCacheOptions<Client, Index>) {
    super(parameters);
    this.id = id;
    this.#database = database;
    this.indexes = new IndexCache(database);
  }

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
    return this.use(params, work).finally(() => this.#listings.clear());
  }

  /**
   * Creates an index, or checks the one that exists, which another process may have created at the same time.
   *
   * @throws `VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH`, `VECTOR_INDEX_CONFIG_MISMATCH` for an index that exists with another language
   */
  protected async createBy(
    params: CreateIndexParams & LanguageParams,
    create: (client: Client, wanted: WantedIndex) => Promise<unknown>,
  ): Promise<void> {
    this.check('createIndex', params);
    const { indexName: name, language, signal } = params;
    const analyzer = toAnalyzerId(language);
    await this.indexes.create(params, async (shape, client) => {
      const find = (): Promise<Index | undefined> => this.#database.find(client, name, signal);
      let existing = await find();
      try {
        if (!existing) return await create(client, { ...shape, name, analyzer });
      } catch (error) {
        existing = await find();
        if (!existing) throw error;
      }
      requireSameShape(name, existing, shape);
      requireSameLanguage(name, existing.analyzer, language);
    });
  }

  protected override selectPage(
    index: OpenIndex<Query>,
    filter: Filter | undefined,
    { cursor, limit: _limit, includeVector: _vector, signal: _signal, filter: _filter, ...read }: ListVectorsParams,
  ): Promise<readonly string[]> {
    const list = async (): Promise<readonly string[]> => index.select(filter);
    return this.#listings.select(JSON.stringify([read, filter]), cursor, list);
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
  Index extends IndexShape & { readonly analyzer?: string },
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
