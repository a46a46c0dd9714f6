import { createFilterTest, type Filter, type FilterTest, patternSteps } from '../filter/index.js';
import { defaultPageSize } from './record-store.js';
import type { FoundRecord } from './search.js';
import type { ListVectorsParams, VectorPage, VectorRecord, VectorStore } from './vector-store.js';

export function keepMatching<Row extends { metadata?: unknown }>(rows: Row[], matches: FilterTest): Row[] {
  return rows.filter(({ metadata }) => matches(metadata));
}

/** Rows to read for each result where a filter is left to evaluate. */
export const candidatesPerResult = 4;
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

export interface NearestMatchingOptions {
  readonly wanted: number;
  /** Filter to evaluate in full on the returned records. */
  readonly filter: Filter | undefined;
  /** The nearest `limit` records, in any order; fewer only when there are no more. */
  readonly find: (limit: number) => Promise<FoundRecord[]>;
  /** Whether `find` chooses between records of the same similarity by their ids: then the first ones are certain. Default `false`. */
  readonly isExact?: boolean;
  /** Records that `find` can return at most. Default: any number. */
  readonly largest?: number;
  /** Creates the error for a result that is too small to be certain. */
  readonly tooNarrow?: (found: number) => Error;
}

/** Additional records to fetch, so that equal similarities at the end can be ordered. */
const reserve = 4;
/** Records of a database that a filter is evaluated on at first. */
const fewestExact = 100;
const growth = 4;

/**
 * Returns the nearest records that match a filter, best first; ties are ordered by id. `find` may return records that do not match, and in a
 * service it does not order ties, so this function fetches more records until the result is certain.
 */
export async function nearestMatching(options: NearestMatchingOptions): Promise<FoundRecord[]> {
  const { wanted, filter, find, isExact = false, largest = Number.POSITIVE_INFINITY } = options;
  const budget = { steps: patternSteps };
  const matches = createFilterTest(filter, budget);
  const first = filter ? Math.max(wanted * growth, isExact ? fewestExact : 0) : wanted;
  for (let fetched = first + (isExact ? 0 : reserve); ; fetched *= growth) {
    const limit = Math.min(fetched, largest);
    const answer = await find(limit);
    // A database returns its first records again: they count once.
    if (isExact) budget.steps = patternSteps;
    const found = answer.toSorted(byNearness);
    const matching = found.filter(({ record }) => matches(record.metadata));
    const last = found.at(-1);
    const worst = matching[wanted - 1];
    const isComplete = answer.length < limit || (worst && last && (isExact || last.similarity < worst.similarity));
    if (!isComplete && limit < largest) continue;
    if (!isComplete && !worst && options.tooNarrow) throw options.tooNarrow(matching.length);
    return matching.slice(0, wanted);
  }
}

function byNearness(a: FoundRecord, b: FoundRecord): number {
  return b.similarity - a.similarity || (a.record.id < b.record.id ? -1 : 1);
}

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
