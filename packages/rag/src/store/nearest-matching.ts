import { createFilterTest, type Filter } from '../filter/index.js';
import type { FoundRecord } from './search.js';

export interface NearestMatchingOptions {
  readonly wanted: number;
  /** Filter to evaluate in full on the returned records. */
  readonly filter: Filter | undefined;
  /** The nearest `limit` records, in any order; fewer only when there are no more. */
  readonly find: (limit: number) => Promise<FoundRecord[]>;
  /** Records that `find` can return at most. Default: any number. */
  readonly largest?: number;
  /** Whether a record counts as found. Default: every one. */
  readonly isFound?: ((similarity: number) => boolean) | undefined;
  /** Creates the error for a result that is too small to be certain. */
  readonly tooNarrow?: (found: number) => Error;
}

/** Additional records to fetch, so that equal similarities at the end can be ordered. */
const reserve = 4;

const growth = 4;

/**
 * Returns the nearest records that match a filter, best first; ties are ordered by id. The service may return records that do not match
 * and does not order ties, so this function fetches more records until the result is certain.
 */
export async function nearestMatching(options: NearestMatchingOptions): Promise<FoundRecord[]> {
  const { wanted, filter, find, largest = Number.POSITIVE_INFINITY, isFound = () => true, tooNarrow } = options;
  const matches = createFilterTest(filter);
  for (let fetched = (filter ? wanted * growth : wanted) + reserve; ; fetched *= growth) {
    const limit = Math.min(fetched, largest);
    const answer = await find(limit);
    const found = answer.filter(({ similarity }) => isFound(similarity)).toSorted(byNearness);
    const matching = found.filter(({ record }) => matches(record.metadata));
    const last = found.at(-1);
    const worst = matching[wanted - 1];
    const isComplete =
      answer.length < limit || found.length < answer.length || (worst && last && last.similarity < worst.similarity);
    if (!isComplete && limit < largest) continue;
    if (!isComplete && !worst && tooNarrow) throw tooNarrow(matching.length);
    return matching.slice(0, wanted);
  }
}

function byNearness(a: FoundRecord, b: FoundRecord): number {
  return b.similarity - a.similarity || (a.record.id < b.record.id ? -1 : 1);
}
