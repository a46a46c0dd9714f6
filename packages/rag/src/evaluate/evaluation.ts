import type { Interval, PairedDifference } from '@quiver/core/internal';
import type { ModelCost } from './count-calls.js';
import type { MetricName } from './metrics.js';

/** A result in a report. */
export interface ReportedResult {
  id?: string;
  source?: string;
  score?: number;
  confidence?: number;
  /** The first 300 characters. */
  text: string;
  /** Whether it contains a part of what the question needs. */
  isRelevant: boolean;
}

/** Degree to which a configuration separates questions that the documents answer from the others. */
export interface SeparationReport {
  /** How often a question with an answer has a larger confidence than one without: 1 always, .5 by chance (area under the ROC curve). */
  auc: number;
  /** The questions without an answer. */
  unanswerable: { question: string; confidence: number }[];
}

/** One question of a configuration. */
export interface QuestionReport {
  question: string;
  /** The largest `confidence` of its results, or their largest score if they have none; 0 without results. */
  confidence: number;
  /** Value of each metric. */
  values: Record<MetricName, number>;
  milliseconds: number;
  /** Length of the texts of all results. */
  contextCharacters: number;
  /** Relevant parts of the case that the results do not contain. */
  missed: string[];
  results: ReportedResult[];
}

/** Figures of one configuration. */
export interface ConfigurationReport {
  name: string;
  topK: number;
  /** Mean of each metric, with its interval. */
  metrics: Record<MetricName, Interval>;
  /** Present if the evaluation has `unanswerable` questions. */
  separation?: SeparationReport;
  /** Name of an earlier configuration that returned the same results in the same order for every question. */
  identicalTo?: string;
  /** Milliseconds per question: the median, and what 95 % of the questions stay below. */
  latency: { p50: number; p95: number };
  /** Calls of the embedder, as far as its `usage` counts them, and of the reranker. Absent for a function or a tool, whose calls are unknown. */
  cost?: ModelCost;
  /** Mean length of the texts that a question returns. */
  contextCharacters: number;
  questions: QuestionReport[];
}

/** A metric of a configuration, compared with the first one. */
export interface Comparison extends PairedDifference {
  metric: MetricName;
  baseline: string;
  configuration: string;
}

/** Result of `evaluateRetrieval()`, as plain JSON. */
export interface Evaluation {
  /** Number of cases. */
  cases: number;
  metrics: MetricName[];
  configurations: ConfigurationReport[];
  comparisons: Comparison[];
  /** For questions that were made from the index: whether the vectors fit the documents, as a sentence. */
  finding?: string;
}
