import type { VectorRecord } from '../store/vector-store.js';
import type { IdSet } from './id-set.js';
import { askStore, type IngestTarget } from './ingest-target.js';
import type { SourceSet } from './source-set.js';

export interface RemoveVanishedOptions {
  /** The chunks of this run. */
  seen: IdSet;
  /** Those of other documents stay; without it, everything that was not seen goes. */
  sources?: SourceSet | undefined;
  signal: AbortSignal | undefined;
}

/** Larger pages, because a store may have to find its place anew for each. */
const recordsPerPage = 5000;

/**
 * Removes what was not seen, page by page.
 *
 * @returns how many were removed so far, after each page
 * @throws the reason of `signal`; what the store throws
 */
export async function* removeVanished(
  target: IngestTarget,
  { seen, sources, signal }: RemoveVanishedOptions,
): AsyncGenerator<number> {
  const { indexName } = target;
  const hasVanished = ({ id, metadata }: VectorRecord): boolean =>
    !seen.has(id) && (!sources || (metadata['embedder'] !== undefined && sources.has(metadata['source'])));
  let removed = 0;
  for (const filter of sources?.toFilters() ?? [undefined]) {
    let cursor: string | undefined;
    do {
      const place = { filter, ...(cursor !== undefined && { cursor }), limit: recordsPerPage };
      const page = await askStore(target, (store, end) => store.scan({ indexName, ...place, ...end }), signal);
      const ids = page.records.filter(hasVanished).map(({ id }) => id);
      if (ids.length > 0)
        await askStore(target, (store, end) => store.deleteVectors({ indexName, ids, ...end }), signal);
      removed += ids.length;
      yield removed;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
}
