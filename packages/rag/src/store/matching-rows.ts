import { createFilterTest, type Filter, type FilterTest } from '../filter/index.js';
import { defaultPageSize } from './record-store.js';
import type { VectorPage, ListVectorsParams, VectorRecord } from './vector-store.js';

export function keepMatching<Row extends { metadata?: unknown }>(rows: Row[], matches: FilterTest): Row[] {
  return rows.filter(({ metadata }) => matches(metadata));
}

/** Rows to read for each result where a filter is left to evaluate. */
export const candidatesPerResult = 4;
const fewestCandidates = 100;

/**
 * Returns the first matching rows of an exact order, in pages where a filter is left to evaluate.
 *
 * @param read - returns the rows of a page; fewer than `limit` only at the end
 */
export async function collectMatching<Row extends { metadata?: unknown }>(
  wanted: number,
  rest: Filter | undefined,
  read: (limit: number, offset: number) => Promise<Row[]>,
): Promise<Row[]> {
  if (!rest) return read(wanted, 0);
  const matches = createFilterTest(rest);
  const found: Row[] = [];
  let limit = Math.max(fewestCandidates, wanted * candidatesPerResult);
  let offset = 0;
  while (found.length < wanted) {
    const rows = await read(limit, offset);
    found.push(...keepMatching(rows, matches));
    if (rows.length < limit) break;
    offset += limit;
    limit *= 4;
  }
  return found.slice(0, wanted);
}

const fewestRows = 1000;

/**
 * Returns a page of `listVectors` of a database that orders records by id.
 *
 * @param read - returns the next records after an id, in order; fewer than `limit` only at the end
 */
export async function readPage(
  { cursor, limit: size = defaultPageSize }: Pick<ListVectorsParams, 'cursor' | 'limit'>,
  rest: Filter | undefined,
  read: (after: string | undefined, limit: number) => Promise<VectorRecord[]>,
): Promise<VectorPage> {
  // Only few of the records may match.
  const count = rest ? Math.max(size + 1, fewestRows) : size + 1;
  const matches = createFilterTest(rest);
  const found: VectorRecord[] = [];
  let after = cursor;
  let isLast = false;
  while (found.length <= size && !isLast) {
    const records = await read(after, count);
    isLast = records.length < count;
    after = records.at(-1)?.id;
    found.push(...keepMatching(records, matches));
  }
  const records = found.slice(0, size);
  const last = records.at(-1);
  return { records, ...(last && found.length > size && { nextCursor: last.id }) };
}
