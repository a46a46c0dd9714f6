export {
  bootstrapMean,
  compareMeans,
  type BootstrapOptions,
  type Interval,
  type PairedDifference,
} from './bootstrap.js';
export {
  allAt,
  hitRateAt,
  judgeIds,
  mrrAt,
  ndcgAt,
  precisionAt,
  recallAt,
  type JudgedRanking,
  type MetricName,
} from './metrics.js';
