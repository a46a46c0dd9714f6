export { bootstrapMean, compareMeans, type Interval, type PairedDifference } from '@quiver/core/internal';
export {
  allAt,
  hitRateAt,
  judgeIds,
  mrrAt,
  ndcgAt,
  precisionAt,
  recallAt,
  separation,
  type JudgedRanking,
  type MetricName,
} from './metrics.js';
export type { CaseTarget, RetrievalCase } from './cases.js';
export type {
  CustomConfiguration,
  RetrievalConfiguration,
  RetrievalTool,
  RetrieveFunction,
  SearchConfiguration,
} from './configuration.js';
export type { ModelCost } from './count-calls.js';
export { evaluateRetrieval, type EvaluateRetrievalOptions, type EvaluationProgress } from './evaluate-retrieval.js';
export type {
  Comparison,
  ConfigurationReport,
  Evaluation,
  QuestionReport,
  ReportedResult,
  SeparationReport,
} from './evaluation.js';
export type { RetrievedResult } from './judge.js';
export { makeCases, type CasePassage, type MakeCasesOptions } from './make-cases.js';
export { readCases, writeCases } from './case-file.js';
