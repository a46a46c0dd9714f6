import { invalidOptions } from './options.js';

/** A mean, and the interval that contains it with a confidence of 95 %. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

/** Difference of two systems over the same questions. */
export interface PairedDifference {
  /** Mean of the second system minus that of the first, with its interval. */
  difference: Interval;
  /** Questions on which the second system is better. */
  wins: number;
  /** Questions on which it is worse. */
  losses: number;
  /** Whether the interval excludes 0, and at least six questions differ, as fewer cannot pass a sign test. */
  isSignificant: boolean;
}

/**
 * Returns the mean of values and its confidence interval, by 2,000 samples with replacement (percentile bootstrap). Equal values give
 * equal intervals.
 *
 * @throws `OPTIONS_INVALID` for no values, and values that are not finite numbers
 * @see Efron, Bootstrap methods: another look at the jackknife (1979)
 */
export function bootstrapMean(values: readonly number[]): Interval {
  const size = values.length;
  if (size === 0 || !values.every(Number.isFinite)) {
    throw invalidOptions('A mean needs at least one value, and only finite numbers.');
  }
  const random = createRandom();
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let draw = 0; draw < size; draw += 1) sum += values[Math.floor(random() * size)] as number;
    return sum / size;
  }).sort();
  const at = (share: number): number => means[Math.round(share * (resamples - 1))] as number;
  return { mean: values.reduce((sum, value) => sum + value, 0) / size, low: at(0.025), high: at(0.975) };
}

/**
 * Compares two systems by their values for the same questions (paired bootstrap). Questions differ more from each other than systems
 * do, so this detects smaller differences than two separate intervals.
 *
 * @param baseline - values of the first system, by question
 * @param values - values of the second system, in the same order
 * @throws `OPTIONS_INVALID` for lists of different lengths, and as {@link bootstrapMean}
 * @example
 * const { difference, isSignificant } = compareMeans(recallOfKeyword, recallOfHybrid);
 */
export function compareMeans(baseline: readonly number[], values: readonly number[]): PairedDifference {
  if (baseline.length !== values.length) {
    throw invalidOptions(
      `A paired comparison needs a value of both systems for each question, not ${baseline.length} and ${values.length}.`,
    );
  }
  const differences = values.map((value, index) => value - (baseline[index] as number));
  const difference = bootstrapMean(differences);
  const wins = differences.filter((value) => value > 0).length;
  const losses = differences.filter((value) => value < 0).length;
  const isAway = difference.low > 0 || difference.high < 0;
  return { difference, wins, losses, isSignificant: isAway && wins + losses >= minDifferent };
}

const resamples = 2000;
/** A sign test with a confidence of 95 % cannot reject chance with fewer questions: 2 × 0.5⁵ > 0.05. */
const minDifferent = 6;

/** Returns a generator of numbers in [0, 1) (mulberry32). The numbers are the same on every machine. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
