import type { IndexShape } from './index-shape.js';
import { type IdListings, idListings } from './id-listings.js';
import { indexCache, type IndexCache, type IndexCacheOptions } from './index-cache.js';
import { type OpenIndex, RecordStore, type StoreParameters } from './record-store.js';
import type { Cancellable, IndexDescription, IndexParams, QueryParams } from './vector-store.js';

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
