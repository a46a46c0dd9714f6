import type { Interval, PairedDifference } from './bootstrap.js';
import type { ModelCost } from './count-calls.js';
import type { MetricName } from './metrics.js';

/** A result in a report. */
export interface ReportedResult {
  id?: string;
  source?: string;
  score?: number;
  /** The first 300 characters. */
  text: string;
  /** Whether it contains a part of what the question needs. */
  isRelevant: boolean;
}

/** One question of a configuration. */
export interface QuestionReport {
  question: string;
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
}
