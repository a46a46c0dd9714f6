import { invalidOptions } from '@quiver/core/internal';

/** Results of one question, best first, compared with what the question needs (its targets). */
export interface JudgedRanking {
  /** For each result, the indexes of the targets that are found with it, and were not found before it. */
  readonly found: readonly (readonly number[])[];
  /** For each result, whether it belongs to a target. */
  readonly relevant: readonly boolean[];
  /** Gain of each target: how much it is worth to nDCG. Greater than 0. */
  readonly gains: readonly number[];
}

type Measure = 'recall' | 'precision' | 'hitRate' | 'mrr' | 'ndcg' | 'all';

/** A metric over the best k results, for example `recallAt5`. All are in [0, 1], larger is better. */
export type MetricName = `${Measure}At${number}`;

/**
 * Compares ids of results with the relevant ones.
 *
 * @param ids - ids of the results, best first; an id that occurs again counts once
 * @param relevant - relevant ids, or the gain of each; ids without a gain greater than 0 are not relevant
 * @throws `OPTIONS_INVALID` when nothing is relevant, and for a gain that is not a finite number
 * @example
 * const judged = judgeIds(['b', 'a', 'c'], ['a', 'd']);
 * recallAt(judged, 3); // 0.5
 */
export function judgeIds(
  ids: readonly string[],
  relevant: Iterable<string> | ReadonlyMap<string, number>,
): JudgedRanking {
  // A text is a list of characters.
  if (typeof relevant === 'string') throw invalidOptions('The relevant ids must be a list, not a text.');
  const gainOf =
    relevant instanceof Map ? relevant : new Map(Array.from(relevant as Iterable<string>, (id) => [id, 1]));
  const targets = new Map<string, number>();
  const gains: number[] = [];
  for (const [id, gain] of gainOf as ReadonlyMap<string, number>) {
    if (!Number.isFinite(gain)) throw invalidOptions(`The gain of '${id}' must be a finite number, not ${gain}.`);
    if (gain > 0) targets.set(id, gains.push(gain) - 1);
  }
  if (gains.length === 0) throw invalidOptions('A question needs at least one relevant id.');
  const found = ids.map((id) => {
    const target = targets.get(id);
    targets.delete(id);
    return target === undefined ? [] : [target];
  });
  return { found, relevant: found.map(({ length }) => length > 0), gains };
}

/** Returns the share of the targets that the first k results contain. */
export function recallAt({ found, gains }: JudgedRanking, k: number): number {
  return found.slice(0, requireK(k)).reduce((sum, { length }) => sum + length, 0) / gains.length;
}

/** Returns the share of relevant results among the first k. Results that are missing count as irrelevant. */
export function precisionAt({ relevant }: JudgedRanking, k: number): number {
  return relevant.slice(0, requireK(k)).filter(Boolean).length / k;
}

/** Returns 1 when the first k results contain a target, otherwise 0. */
export function hitRateAt(ranking: JudgedRanking, k: number): number {
  return recallAt(ranking, k) > 0 ? 1 : 0;
}

/** Returns 1 when the first k results contain all targets, otherwise 0. */
export function allAt(ranking: JudgedRanking, k: number): number {
  return recallAt(ranking, k) === 1 ? 1 : 0;
}

/** Returns 1 / rank of the first target among the first k results, or 0. Its mean over questions is the mean reciprocal rank. */
export function mrrAt({ found }: JudgedRanking, k: number): number {
  const first = found.slice(0, requireK(k)).findIndex(({ length }) => length > 0);
  return first === -1 ? 0 : 1 / (first + 1);
}

/**
 * Returns the normalized discounted cumulative gain: the gains of the targets, each divided by log2(rank + 1), as a share of the best
 * possible order.
 *
 * @see Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002), with linear gains
 */
export function ndcgAt({ found, gains }: JudgedRanking, k: number): number {
  const gainAt = found.map((targets) => targets.reduce((sum, target) => sum + (gains[target] ?? 0), 0));
  // One result can contain several targets, so the order of the targets alone is not always the best possible one.
  return Math.min(
    1,
    discounted(gainAt, k) /
      discounted(
        [...gains].sort((a, b) => b - a),
        k,
      ),
  );
}

function discounted(gains: readonly number[], k: number): number {
  return gains.slice(0, requireK(k)).reduce((sum, gain, index) => sum + gain / Math.log2(index + 2), 0);
}

/**
 * Returns how often a question that the documents answer has a larger confidence than one that they do not answer: 1 always, .5 by
 * chance (area under the ROC curve).
 *
 * @param answerable - the largest confidence of each question that the documents answer
 * @param unanswerable - that of each question that they do not answer
 * @throws `OPTIONS_INVALID` for an empty list
 * @example
 * separation([0.9, 0.7], [0.1, 0.7]); // 0.875
 */
export function separation(answerable: readonly number[], unanswerable: readonly number[]): number {
  if (answerable.length === 0 || unanswerable.length === 0)
    throw invalidOptions('The separation needs at least one question with, and one without an answer.');
  let better = 0;
  for (const one of answerable) for (const other of unanswerable) better += one > other ? 1 : one === other ? 0.5 : 0;
  return better / (answerable.length * unanswerable.length);
}

const measures: Readonly<Record<Measure, (ranking: JudgedRanking, k: number) => number>> = {
  recall: recallAt,
  precision: precisionAt,
  hitRate: hitRateAt,
  mrr: mrrAt,
  ndcg: ndcgAt,
  all: allAt,
};

/** A metric, from its name. */
export interface Metric {
  readonly name: MetricName;
  readonly k: number;
  readonly measure: (ranking: JudgedRanking) => number;
}

/** @throws `OPTIONS_INVALID` for a name that is not a metric */
export function parseMetric(name: string): Metric {
  const [, measure = '', digits = ''] = /^([a-zA-Z]+)At([1-9]\d{0,3})$/.exec(name) ?? [];
  if (!Object.hasOwn(measures, measure)) {
    throw invalidOptions(
      `There is no metric '${name}'. Metrics are ${Object.keys(measures).join(', ')}, followed by At and a number of results from 1 to 9999, for example recallAt5.`,
    );
  }
  const k = Number(digits);
  return { name: name as MetricName, k, measure: (ranking) => measures[measure as Measure](ranking, k) };
}

function requireK(k: number): number {
  if (Number.isSafeInteger(k) && k >= 1) return k;
  throw invalidOptions(`k must be a whole number of at least 1, not ${String(k)}.`);
}
