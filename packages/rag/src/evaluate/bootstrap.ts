import { evaluationInvalid } from './evaluation-error.js';

/** A mean, and the interval that contains it with the given confidence. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

/** Options of `bootstrapMean()` and `compareMeans()`. */
export interface BootstrapOptions {
  /** Confidence of the interval, between 0 and 1. Default 0.95. */
  confidence?: number;
  /** Number of samples. Default 2,000. */
  resamples?: number;
  /** Equal seeds give equal intervals. Default 1. */
  seed?: number;
}

/** Difference of two systems over the same questions. */
export interface PairedDifference {
  /** Mean of the second system minus that of the first, with its interval. */
  difference: Interval;
  /** Questions on which the second system is better. */
  wins: number;
  /** Questions on which it is worse. */
  losses: number;
  /**
   * Whether the interval excludes 0, and enough questions differ: with the confidence 0.95 at least 6, as fewer cannot pass a sign test.
   */
  isSignificant: boolean;
}

/**
 * Returns the mean of values and its confidence interval, by sampling with replacement (percentile bootstrap). It is deterministic.
 *
 * @throws `EVALUATION_INVALID` for no values, values that are not finite numbers, and invalid options
 * @see Efron, Bootstrap methods: another look at the jackknife (1979)
 */
export function bootstrapMean(values: readonly number[], options: BootstrapOptions = {}): Interval {
  const { confidence = 0.95, resamples = 2000, seed = 1 } = options;
  if (!(confidence > 0 && confidence < 1)) {
    throw evaluationInvalid(`confidence must be between 0 and 1, not ${String(confidence)}.`);
  }
  if (!Number.isSafeInteger(resamples) || resamples < 1 || resamples > maxResamples) {
    throw evaluationInvalid(`resamples must be a whole number from 1 to ${maxResamples}, not ${String(resamples)}.`);
  }
  if (!Number.isSafeInteger(seed)) throw evaluationInvalid(`seed must be a whole number, not ${String(seed)}.`);
  const size = values.length;
  if (size === 0 || !values.every(Number.isFinite)) {
    throw evaluationInvalid('A mean needs at least one value, and only finite numbers.');
  }
  const random = createRandom(seed);
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let draw = 0; draw < size; draw += 1) sum += values[Math.floor(random() * size)] as number;
    return sum / size;
  }).sort();
  const at = (share: number): number => means[Math.round(share * (resamples - 1))] as number;
  const tail = (1 - confidence) / 2;
  return { mean: values.reduce((sum, value) => sum + value, 0) / size, low: at(tail), high: at(1 - tail) };
}

/**
 * Compares two systems by their values for the same questions (paired bootstrap). Questions differ more from each other than systems
 * do, so this detects smaller differences than two separate intervals.
 *
 * @param baseline - values of the first system, by question
 * @param values - values of the second system, in the same order
 * @throws `EVALUATION_INVALID` for lists of different lengths, and as {@link bootstrapMean}
 * @example
 * const { difference, isSignificant } = compareMeans(recallOfKeyword, recallOfHybrid);
 */
export function compareMeans(
  baseline: readonly number[],
  values: readonly number[],
  options?: BootstrapOptions,
): PairedDifference {
  if (baseline.length !== values.length) {
    throw evaluationInvalid(
      `A paired comparison needs a value of both systems for each question, not ${baseline.length} and ${values.length}.`,
    );
  }
  const differences = values.map((value, index) => value - (baseline[index] as number));
  const difference = bootstrapMean(differences, options);
  const wins = differences.filter((value) => value > 0).length;
  const losses = differences.filter((value) => value < 0).length;
  const isAway = difference.low > 0 || difference.high < 0;
  // A sign test cannot reject chance with fewer questions.
  const leastLikelihood = 2 * 0.5 ** (wins + losses);
  return { difference, wins, losses, isSignificant: isAway && leastLikelihood < 1 - (options?.confidence ?? 0.95) };
}

const maxResamples = 1_000_000;

/** Returns a generator of numbers in [0, 1) (mulberry32). The numbers are the same on every machine. */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
