import {
  checkUpsert,
  indexNotFound,
  invalidArgument,
  requireTopK,
  toPlainMetadata,
  toVector,
} from '../../store/check-arguments.js';
import { requireIndexName } from '../../store/index-name.js';
import { requireIndexShape, requireSameShape } from '../../store/index-options.js';
import { requireFilter } from '../../store/require-filter.js';
import { runSearch } from '../../store/run-search.js';
import type {
  CreateIndexParams,
  DeleteVectorsParams,
  GetParams,
  IndexDescription,
  QueryParams,
  ScanPage,
  ScanParams,
  UpdateVectorParams,
  UpsertParams,
  VectorMatch,
  VectorRecord,
  VectorStore,
  VectorStoreCapabilities,
} from '../../store/vector-store.js';
import { createMemoryHolder, type IndexHolder, type StoredIndex } from './index-holder.js';

export interface LocalVectorOptions {
  /**
   * A folder for the indexes, one file each; it is created at the first write. Without it, indexes live in memory.
   *
   * Any number of processes may read a folder, one at a time may write it.
   */
  path?: string;
}

/** Leaves room for an ending in file systems that allow 255 bytes. */
const longestIndexName = 100;
const defaultPageSize = 1000;

/**
 * A vector store inside your process: no server, no dependency, exact results.
 *
 * With a `path` it is durable: when `upsert` or `delete` returns, the change is on the disk; after a crash it is there as a
 * whole or not at all. A query compares every vector, which is fast up to some hundred thousand of them.
 *
 * @throws (from every method) `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID`, `VECTOR_DIMENSION_MISMATCH`,
 *   `FILTER_INVALID`; with a `path` also `VECTOR_STORE_LOCKED`, `VECTOR_STORE_CORRUPT`, and the errors of the file system
 * @example
 * await using store = new LocalVector({ path: './index' });
 * await store.createIndex({ indexName: 'guides', dimension: 1024 });
 */
export class LocalVector implements VectorStore, AsyncDisposable {
  readonly databaseConfigKey = 'local';
  readonly capabilities: VectorStoreCapabilities<'vector'> = { modes: ['vector'] };
  readonly #options: LocalVectorOptions;
  #holder: Promise<IndexHolder> | undefined;
  /** Changes happen one after another, whoever asks for them. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(options: LocalVectorOptions = {}) {
    if (options.path === '')
      throw invalidArgument('The path of a LocalVector must not be empty; leave it out to keep vectors in memory.');
    this.#options = options;
  }

  async createIndex({ indexName, dimension, metric = 'cosine' }: CreateIndexParams): Promise<void> {
    requireIndexName(indexName, longestIndexName);
    requireIndexShape({ dimension, metric });
    await this.#change(async (holder) => {
      const existing = (await holder.find(indexName))?.index.header;
      if (!existing) return holder.create({ name: indexName, dimension, metric });
      requireSameShape(indexName, existing, { dimension, metric });
    });
  }

  async upsert(params: UpsertParams): Promise<string[]> {
    return this.#changeIndex(params.indexName, async (stored) => {
      const { ids, records } = checkUpsert(params, stored.index.header.dimension);
      if (records.length > 0) await stored.append({ type: 'upsert', records });
      return ids;
    });
  }

  async query(params: QueryParams): Promise<VectorMatch[]> {
    return runSearch(params, { name: 'LocalVector', capabilities: this.capabilities }, async (search) => {
      const { index } = await this.#require(params.indexName);
      const { dimension } = index.header;
      const query = toVector(search.queryVector, dimension, 'The query vector');
      return index.query(query, search.limit, params.filter, search.includeVector);
    });
  }

  async get({ indexName, ids, includeVector = false }: GetParams): Promise<VectorRecord[]> {
    return (await this.#require(indexName)).index.get(ids, includeVector);
  }

  async updateVector({ indexName, id, filter, update }: UpdateVectorParams): Promise<void> {
    await this.#changeIndex(indexName, async (stored) => {
      const { index } = stored;
      const ids = id === undefined ? index.select(requireFilter(filter)) : [id];
      const records = index.get(ids, true).map((record) => ({
        ...record,
        vector: update.vector
          ? toVector(update.vector, index.header.dimension, 'The new vector')
          : Float32Array.from(record.vector ?? []),
        metadata: update.metadata ? toPlainMetadata(update.metadata, record.id) : record.metadata,
        ...(update.document !== undefined && { document: update.document }),
      }));
      if (id !== undefined && records.length === 0)
        throw invalidArgument(`The index '${indexName}' has no record '${id}' to update.`);
      if (records.length > 0) await stored.append({ type: 'upsert', records });
    });
  }

  async deleteVector({ indexName, id }: { indexName: string; id: string }): Promise<void> {
    await this.deleteVectors({ indexName, ids: [id] });
  }

  async deleteVectors({ indexName, ids, filter }: DeleteVectorsParams): Promise<void> {
    if (ids !== undefined && filter !== undefined)
      throw invalidArgument('deleteVectors takes ids or a filter, not both.');
    await this.#changeIndex(indexName, async (stored) => {
      const existing = ids
        ? stored.index.get(ids, false).map(({ id }) => id)
        : stored.index.select(requireFilter(filter));
      if (existing.length > 0) await stored.append({ type: 'delete', ids: existing });
    });
  }

  async scan({
    indexName,
    cursor,
    limit = defaultPageSize,
    filter,
    includeVector = false,
  }: ScanParams): Promise<ScanPage> {
    const { index } = await this.#require(indexName);
    const size = requireTopK(limit);
    const ids = index.select(filter);
    const first = cursor === undefined ? 0 : ids.findIndex((id) => id > cursor);
    if (first === -1) return { records: [] };
    const page = ids.slice(first, first + size);
    const last = page.at(-1);
    return {
      records: index.get(page, includeVector),
      ...(last !== undefined && first + size < ids.length && { nextCursor: last }),
    };
  }

  async listIndexes(): Promise<string[]> {
    return (await (await this.#open()).list()).toSorted();
  }

  async describeIndex({ indexName }: { indexName: string }): Promise<IndexDescription> {
    const { index } = await this.#require(indexName);
    const { dimension, metric } = index.header;
    return { dimension, metric, count: index.count };
  }

  async truncateIndex({ indexName }: { indexName: string }): Promise<void> {
    await this.#changeIndex(indexName, (stored) => stored.append({ type: 'truncate' }));
  }

  async deleteIndex({ indexName }: { indexName: string }): Promise<void> {
    await this.#changeIndex(indexName, (_stored, holder) => holder.delete(indexName));
  }

  /** Waits for changes under way, closes the files and lets other processes write. The store can be used again afterwards. */
  async close(): Promise<void> {
    await this.#changes;
    const holder = this.#holder;
    // What lives in memory stays there: closing must not lose data.
    if (this.#options.path === undefined || !holder) return;
    this.#holder = undefined;
    await (await holder).close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(): Promise<IndexHolder> {
    this.#holder ??= openHolder(this.#options);
    return this.#holder;
  }

  async #require(indexName: string): Promise<StoredIndex> {
    requireIndexName(indexName, longestIndexName);
    const holder = await this.#open();
    const stored = await holder.find(indexName);
    if (!stored) throw indexNotFound(indexName, await holder.list());
    return stored;
  }

  async #changeIndex<Result>(
    indexName: string,
    change: (stored: StoredIndex, holder: IndexHolder) => Promise<Result>,
  ): Promise<Result> {
    requireIndexName(indexName, longestIndexName);
    return this.#change(async (holder) => {
      const stored = await holder.findToWrite(indexName);
      if (!stored) throw indexNotFound(indexName, await holder.list());
      return change(stored, holder);
    });
  }

  #change<Result>(change: (holder: IndexHolder) => Promise<Result>): Promise<Result> {
    const done = this.#changes.then(async () => change(await this.#open()));
    this.#changes = done.catch(() => undefined);
    return done;
  }
}

async function openHolder({ path }: LocalVectorOptions): Promise<IndexHolder> {
  if (path === undefined) return createMemoryHolder();
  // Loaded here, so that a store in memory also works where there is no file system.
  const { IndexFolder } = await import('./durable/index-folder.js');
  return new IndexFolder(path);
}
