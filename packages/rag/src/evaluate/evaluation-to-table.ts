import type { Comparison, Evaluation } from './evaluation.js';

/** Below this number of cases, intervals are too narrow to be trusted. */
const fewCases = 20;

/**
 * Returns an evaluation as text: a Markdown table with a row for each configuration, and the significant differences from the first.
 *
 * @example
 * console.log(evaluationToTable(evaluation));
 */
export function evaluationToTable({ cases, metrics, configurations, comparisons }: Evaluation): string {
  const rows = configurations.map(({ name, metrics: means, latency, cost, contextCharacters }) => [
    name,
    ...metrics.map((metric) => {
      const { mean, low, high } = means[metric] ?? { mean: Number.NaN, low: Number.NaN, high: Number.NaN };
      return `${mean.toFixed(3)} (${low.toFixed(2)}–${high.toFixed(2)})`;
    }),
    latency.p50.toFixed(1),
    latency.p95.toFixed(1),
    cost ? String(cost.calls) : '',
    cost?.tokens === undefined ? '' : String(cost.tokens),
    String(contextCharacters),
  ]);
  const head = ['configuration', ...metrics, 'p50 ms', 'p95 ms', 'calls', 'tokens', 'characters'];
  const significant = comparisons.filter(({ isSignificant }) => isSignificant);
  const notes = [
    `${cases} questions. In brackets: 95 % intervals, or those of the confidence that was chosen.`,
    ...(cases < fewCases ? [`With fewer than ${fewCases} questions the intervals are rough.`] : []),
    ...significant.map((comparison) => `- ${describeComparison(comparison)}`),
    ...(comparisons.length > 0 && significant.length === 0
      ? [`No configuration differs significantly from ${configurations[0]?.name}.`]
      : []),
  ];
  return `${toMarkdownTable([head, ...rows])}\n\n${notes.join('\n')}\n`;
}

/** Returns a comparison as one sentence. */
export function describeComparison({ configuration, baseline, metric, difference, wins, losses }: Comparison): string {
  const { mean, low, high } = difference;
  return `${configuration} against ${baseline}: ${metric} ${signed(mean)} (${signed(low)} to ${signed(high)}), better for ${wins} questions, worse for ${losses}.`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

function toMarkdownTable(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll(/\s+/g, ' ').replaceAll('|', String.raw`\|`)));
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const [head = '', ...body] = cells.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n');
}
