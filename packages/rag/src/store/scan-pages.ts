import type { ListVectorsParams, VectorRecord, VectorStore } from './vector-store.js';

/** Reads all records that match a filter, page by page. */
export async function* scanPages(
  store: Pick<VectorStore, 'listVectors'>,
  params: ListVectorsParams,
): AsyncGenerator<VectorRecord[], void> {
  let cursor: string | undefined;
  do {
    const page = await store.listVectors({ ...params, cursor });
    yield page.records;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
