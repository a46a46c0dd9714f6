import { evaluateFilter } from '../../filter/index.js';
import { requireTopK } from '../../store/check-arguments.js';
import { toFilter } from '../../store/to-filter.js';
import type { ScanPage, ScanParams } from '../../store/vector-store.js';
import type { ChromaCollection } from './chroma-client.js';
import { readByIds, selectIds } from './chroma-collection.js';
import type { IdListings } from './id-listings.js';

/**
 * A page of records, ordered by id. Chroma has no order of its own, so all ids are asked for; what is left of them is kept for the next
 * page, without which reading everything would take the square of its size.
 */
export async function scanCollection(
  collection: ChromaCollection,
  { indexName, cursor, limit = 1000, filter, includeVector = false }: ScanParams,
  listings: IdListings,
): Promise<ScanPage> {
  const size = requireTopK(limit);
  const parsed = toFilter(filter);
  const keyOf = (after: string): string => JSON.stringify([indexName, parsed ?? null, after]);
  const list = async (): Promise<{ ids: string[]; next: number; at: number }> => {
    const at = listings.now();
    const ids = await selectIds(collection, parsed);
    const next = cursor === undefined ? 0 : ids.findIndex((id) => id > cursor);
    return { ids, next: next === -1 ? ids.length : next, at };
  };
  const { ids, next, at } = (cursor !== undefined && listings.take(keyOf(cursor))) || (await list());
  const end = next + size;
  const read = await readByIds(collection, ids.slice(next, end), includeVector);
  // They may have changed since their ids were listed.
  const records = parsed ? read.filter(({ metadata }) => evaluateFilter(parsed, metadata)) : read;
  const last = ids[end - 1];
  if (last === undefined || ids.length <= end) return { records };
  listings.keep(keyOf(last), { ids, next: end, at });
  return { records, nextCursor: last };
}
