import { isQuiverError } from '@quiver/core';
import { indexNotFound, type IndexShape, requireIndexShape } from './index-shape.js';
import type { ServiceCalls } from './store-call.js';
import type { CreateIndexParams, IndexParams } from './vector-store.js';

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
