import { isQuiverError, type QuiverError } from '@quiver/core';
import { indexNotFound } from '../../store/check-arguments.js';
import { requireIndexName } from '../../store/index-name.js';
import type { IndexParams } from '../../store/vector-store.js';
import { listIndexNames, readExtension, readIndex, type OpenIndex } from './pg-index.js';
import type { SqlQuery } from './sql-database.js';

/** With `_vector_idx` behind it, a name is still within PostgreSQL's 63 bytes. */
export const longestIndexName = 52;

type Target = Pick<IndexParams, 'indexName'> & { readonly signal?: AbortSignal | undefined };

/** What is known of indexes: it saves each call the question for the dimension. */
export interface OpenIndexes {
  /** @throws `VECTOR_INDEX_NOT_FOUND`, `VECTOR_ARGUMENT_INVALID` */
  require(target: Target): Promise<OpenIndex>;
  /**
   * For work that changes nothing when it fails. Another process can have deleted the index or made it anew, so when it is missing, is
   * another one, or does not fit the arguments, that is only final when the database says the same.
   */
  use<Result>(target: Target, work: (index: OpenIndex) => Promise<Result>): Promise<Result>;
  forget(indexName: string): void;
  forgetAll(): void;
}

/** @param run - runs statements to look up an index; without a signal, since other calls wait for the same answer */
export function openIndexes(
  schemaName: string,
  run: (what: string, work: (query: SqlQuery) => Promise<OpenIndex>) => Promise<OpenIndex>,
): OpenIndexes {
  const known = new Map<string, Promise<OpenIndex>>();
  const find = (indexName: string): Promise<OpenIndex> =>
    run(`looking up the index '${indexName}'`, async (query) => {
      const index = await readIndex(query, schemaName, indexName);
      const extension = index && (await readExtension(query));
      if (!extension) throw indexNotFound(indexName, await listIndexNames(query, schemaName));
      return { ...index, extension };
    });
  const require = async ({ indexName, signal }: Target): Promise<OpenIndex> => {
    requireIndexName(indexName, longestIndexName);
    signal?.throwIfAborted();
    let index = known.get(indexName);
    if (!index) {
      index = find(indexName);
      known.set(indexName, index);
      index.catch(() => known.delete(indexName));
    }
    return index;
  };
  return {
    require,
    async use(target, work) {
      try {
        return await work(await require(target));
      } catch (error) {
        if (!isQuiverError(error) || !mayBeStale(error)) throw error;
        known.delete(target.indexName);
        return work(await require(target));
      }
    },
    forget: (indexName) => void known.delete(indexName),
    forgetAll: () => known.clear(),
  };
}

/** @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html) */
const undefinedTable = '42P01';

function mayBeStale({ code, details }: QuiverError): boolean {
  return refusals.has(code) || details?.['sqlState'] === undefinedTable;
}

const refusals: ReadonlySet<string> = new Set([
  'VECTOR_DIMENSION_MISMATCH',
  'VECTOR_INDEX_CHANGED',
  'VECTOR_TEXT_SEARCH_MISSING',
]);
