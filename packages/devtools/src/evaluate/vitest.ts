import { invalidOptions } from '@quiver/core/internal';
import type { VectorStore } from '@quiver/rag';
import {
  type ConfigurationReport,
  type CustomConfiguration,
  type MetricName,
  type RetrievalCase,
  type SearchConfiguration,
  evaluateRetrieval,
} from '@quiver/rag/evaluate';

/** An index and how it is searched, or another retrieval over it. */
export type RetrievalUnderTest = { vectorStore: VectorStore; indexName: string } & (
  | Omit<SearchConfiguration, 'name' | 'indexName'>
  | Omit<CustomConfiguration, 'name' | 'indexName'>
);

/** Least mean of each metric, for example `{ recallAt5: 0.85 }`. */
export type MinimumMetrics = Partial<Record<MetricName, number>>;

/** Result of a matcher, as `expect.extend` of Vitest and Jest expects it. */
export interface MatcherResult {
  pass: boolean;
  message: () => string;
}

/** Questions in the message of a failure. */
const shownQuestions = 10;
const shownResults = 3;

/**
 * Matchers for `expect.extend()`: `toReach(cases, minimum)` fails with the questions whose answers were missed and what was found
 * instead.
 *
 * @example
 * expect.extend(retrievalMatchers);
 * await expect({ vectorStore, indexName: 'guides', mode: 'keyword' }).toReach(cases, { recallAt5: 0.85 });
 */
export const retrievalMatchers: {
  toReach(received: unknown, cases: readonly RetrievalCase[], minimum: MinimumMetrics): Promise<MatcherResult>;
} = {
  async toReach(received, cases, minimum) {
    const metrics = Object.keys(minimum ?? {}) as MetricName[];
    for (const metric of metrics) {
      const least = minimum[metric];
      if (!(typeof least === 'number' && least >= 0 && least <= 1))
        throw invalidOptions(`The least ${metric} must be a number from 0 to 1, not ${String(least)}.`);
    }
    const { vectorStore, ...configuration } = (received ?? {}) as RetrievalUnderTest;
    const configurations = [{ name: configuration.indexName, ...configuration }];
    const evaluation = await evaluateRetrieval({ vectorStore, cases, configurations, metrics });
    const report = evaluation.configurations[0] as ConfigurationReport;
    const meanOf = (metric: MetricName): number => report.metrics[metric]?.mean ?? Number.NaN;
    // The last digits of a mean are not exact.
    const failed = metrics.filter((metric) => !(meanOf(metric) >= (minimum[metric] ?? 0) - 1e-9));
    const summary = metrics.map((metric) => `${metric} ${minimum[metric]} (it is ${meanOf(metric).toFixed(3)})`);
    return {
      pass: failed.length === 0,
      message: () =>
        failed.length === 0
          ? `Expected '${report.name}' not to reach ${summary.join(', ')}.`
          : [`Expected '${report.name}' to reach ${summary.join(', ')}.`, ...describeMisses(report, failed)].join('\n'),
    };
  },
};

function describeMisses({ questions }: ConfigurationReport, failed: readonly MetricName[]): string[] {
  const missed = questions.filter(({ values }) => failed.some((metric) => (values[metric] ?? 0) < 1));
  const more = missed.length - shownQuestions;
  return [
    ...missed.slice(0, shownQuestions).flatMap(({ question, missed: parts, results }) => [
      '',
      question,
      ...parts.map((part) => `  missed: ${part}`),
      ...(results.length === 0 ? ['  found: nothing'] : []),
      ...results.slice(0, shownResults).map(({ id, source, text, isRelevant }, index) => {
        const excerpt = text.replaceAll(/\s+/g, ' ').slice(0, 100);
        return `  ${index + 1}. ${isRelevant ? '✓' : '✗'} ${source ?? id ?? ''}: ${excerpt}`;
      }),
    ]),
    ...(more > 0 ? ['', `and ${more} more questions`] : []),
  ];
}

declare module 'vitest' {
  // The parameters must be those of Vitest 5; Vitest 4 has others, which matters with `skipLibCheck: false` only.
  // oxlint-disable-next-line no-unused-vars
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /** Evaluates retrieval with cases, and requires a least mean of metrics: see {@link retrievalMatchers}. */
    toReach: (cases: readonly RetrievalCase[], minimum: MinimumMetrics) => Promise<void>;
  }
}
