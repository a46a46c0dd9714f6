import { evaluateFilter, type Filter } from '../filter/index.js';
import { toScore } from './score.js';
import type { VectorMatch, VectorMetric, VectorRecord } from './vector-store.js';

export interface FoundRecord {
  /** As `toScore` takes it. */
  readonly similarity: number;
  readonly record: VectorRecord;
}

export interface NearestMatchingOptions {
  readonly wanted: number;
  /** Evaluated in full on what comes back. */
  readonly filter: Filter | undefined;
  readonly metric: VectorMetric;
  /** The nearest `limit` records, in any order; fewer only when there are no more. */
  readonly find: (limit: number) => Promise<FoundRecord[]>;
  /** Records that `find` can return at most. Default: any number. */
  readonly largest?: number;
  /** Whether a record counts as found. Default: every one. */
  readonly isFound?: (similarity: number) => boolean;
  /** Default: the score of the metric. */
  readonly toScore?: (similarity: number) => number;
  /** What to throw when these are too few to know the answer. */
  readonly tooNarrow?: (found: number) => Error;
}

/** Fetched beyond what is wanted, so that equal similarities at the end can be put in order. */
const reserve = 16;
const growth = 4;

/**
 * The nearest records that pass a filter, best first and by id where they are equally near, from a service that may let too many
 * through and does not order equal ones: asks for more until the answer is certain.
 */
export async function nearestMatching(options: NearestMatchingOptions): Promise<VectorMatch[]> {
  const { wanted, filter, metric, find, largest = Number.POSITIVE_INFINITY, tooNarrow } = options;
  const { isFound = () => true, toScore: scoreOf = (similarity) => toScore(metric, similarity) } = options;
  for (let fetched = (filter ? wanted * growth : wanted) + reserve; ; fetched *= growth) {
    const limit = Math.min(fetched, largest);
    const answer = await find(limit);
    const found = answer.filter(({ similarity }) => isFound(similarity)).toSorted(byNearness);
    const matching = filter ? found.filter(({ record }) => evaluateFilter(filter, record.metadata)) : found;
    const last = found.at(-1);
    const worst = matching[wanted - 1];
    const isComplete =
      answer.length < limit || found.length < answer.length || (worst && last && last.similarity < worst.similarity);
    if (!isComplete && limit < largest) continue;
    if (!isComplete && !worst && tooNarrow) throw tooNarrow(matching.length);
    return matching.slice(0, wanted).map(({ similarity, record }) => ({ ...record, score: scoreOf(similarity) }));
  }
}

function byNearness(a: FoundRecord, b: FoundRecord): number {
  return b.similarity - a.similarity || (a.record.id < b.record.id ? -1 : 1);
}
