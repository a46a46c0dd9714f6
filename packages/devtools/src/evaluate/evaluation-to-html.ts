import { checkOptions, type Interval, type OptionChecks, stringValue } from '@quiver/core/internal';
import { escapeHtml } from '../graph/page-body.js';
import type {
  Comparison,
  ConfigurationReport,
  Evaluation,
  MetricName,
  QuestionReport,
  ReportedResult,
} from '@quiver/rag/evaluate';
import { reportStyle } from './report-style.js';

/** Options of `evaluationToHtml()`. */
export interface EvaluationPageOptions {
  /** Heading of the page. Default `Retrieval`. */
  title?: string;
}

const checks: OptionChecks<EvaluationPageOptions> = { title: stringValue };

/** Most questions with their details, so that a browser can show the page. */
const maxQuestions = 500;

/**
 * Returns an evaluation as one HTML page without other files and without scripts: the metrics with their intervals, the comparisons, and
 * for each question what every configuration found and missed. All texts are escaped, and the page loads nothing.
 *
 * @throws `OPTIONS_INVALID` for an unknown or invalid option
 * @example
 * await writeFile('evaluation.html', evaluationToHtml(evaluation, { title: 'Guides' }));
 */
export function evaluationToHtml(evaluation: Evaluation, options: EvaluationPageOptions = {}): string {
  checkOptions('evaluationToHtml', options, checks);
  const { title = 'Retrieval' } = options;
  const { cases, metrics, configurations, comparisons } = evaluation;
  // An evaluation has at least one metric.
  const sortedBy = metrics[0] as MetricName;
  const lowest = (index: number): number =>
    Math.min(...reportsOf(configurations, index).map(({ values }) => values[sortedBy] ?? 0));
  const order = Array.from({ length: cases }, (_, index) => ({ index, value: lowest(index) })).sort(
    (a, b) => a.value - b.value || a.index - b.index,
  );
  const questions = order.slice(0, maxQuestions).map(({ index }) => question(index, configurations, metrics));
  const hasSeparation = configurations.some((one) => one.separation);
  const hidden = cases - questions.length;
  const columns: (readonly [label: string, cell: (one: ConfigurationReport) => string | number | undefined])[] = [
    ...metrics.map((name) => [labelOf(name), (one: ConfigurationReport) => metricCell(one.metrics[name])] as const),
    ...(hasSeparation ? [['AUC', ({ separation }: ConfigurationReport) => separation?.auc.toFixed(3)] as const] : []),
    ['p50 ms', ({ latency }) => latency.p50.toFixed(1)],
    ['p95 ms', ({ latency }) => latency.p95.toFixed(1)],
    ['Calls', ({ cost }) => cost?.calls],
    ['Tokens', ({ cost }) => cost?.tokens],
    ['Context', ({ contextCharacters }) => contextCharacters],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${reportStyle}</style>
</head>
<body>
<header><p class="overline">Evaluation</p><h1>${escapeHtml(title)}</h1>
<p>${cases} ${cases === 1 ? 'question' : 'questions'}, ${configurations.length} ${configurations.length === 1 ? 'configuration' : 'configurations'}</p></header>
<main>
<h2>Configurations</h2>
<div class="wide" tabindex="0" role="region" aria-label="Metrics of the configurations"><table>
<thead><tr><th scope="col">Configuration</th>${columns.map(([label]) => `<th scope="col">${escapeHtml(label)}</th>`).join('')}</tr></thead>
<tbody>
${configurations.map((one) => `<tr>${rowTitle(one)}${columns.map(([, cell]) => `<td>${cell(one) ?? ''}</td>`).join('')}</tr>`).join('\n')}
</tbody></table></div>
<p class="note">Small figures are 95 % confidence intervals; with fewer than 20 questions they are too narrow. p50 and p95 are the median and the 95th percentile of the latency per question. The context is the mean length of the results in characters.${hasSeparation ? ' AUC: how often a question with an answer has a larger confidence than one without.' : ''}</p>
${comparisons.length === 0 ? '' : `<h2>Differences from ${escapeHtml(configurations[0]?.name ?? '')}</h2>\n${differences(comparisons)}`}
<h2>Questions</h2>
<p class="note">Sorted by the lowest ${escapeHtml(labelOf(sortedBy))} of a configuration.${hidden > 0 ? ` ${hidden} more questions are not shown.` : ''}</p>
<p><label><input type="checkbox" id="missed"> Only questions with a miss</label></p>
<ol class="questions">
${questions.join('\n')}
</ol>
</main>
</body>
</html>
`;
}

function differences(comparisons: readonly Comparison[]): string {
  const list = (some: readonly Comparison[]): string =>
    `<ul class="differences">${some.map((one) => `<li>${escapeHtml(describeComparison(one))}</li>`).join('\n')}</ul>`;
  const sure = comparisons.filter(({ isSignificant }) => isSignificant);
  const unsure = comparisons.filter(({ isSignificant }) => !isSignificant);
  return `${sure.length > 0 ? list(sure) : '<p>None is significant.</p>'}
${unsure.length > 0 ? `<details><summary>${unsure.length} that are not significant</summary>${list(unsure)}</details>` : ''}`;
}

function describeComparison({ configuration, baseline, metric, difference, wins, losses }: Comparison): string {
  const { mean, low, high } = difference;
  return `${configuration} against ${baseline}: ${labelOf(metric)} ${signed(mean)} (${signed(low)} to ${signed(high)}), better for ${wins} questions, worse for ${losses}.`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

function reportsOf(configurations: readonly ConfigurationReport[], index: number): QuestionReport[] {
  return configurations.flatMap(({ questions }) => questions[index] ?? []);
}

/** `recallAt5` as `recall@5`. */
function labelOf(metric: MetricName): string {
  return metric.replace('At', '@');
}

function rowTitle({ name, identicalTo }: ConfigurationReport): string {
  const note = identicalTo === undefined ? '' : `<br><small>identical to ${escapeHtml(identicalTo)}</small>`;
  return `<th scope="row">${escapeHtml(name)}${note}</th>`;
}

function metricCell(interval: Interval | undefined): string {
  if (!interval) return '';
  const { mean, low, high } = interval;
  return `<b>${mean.toFixed(3)}</b><meter min="0" max="1" value="${mean.toFixed(4)}"></meter><small>${low.toFixed(2)}–${high.toFixed(2)}</small>`;
}

function question(
  index: number,
  configurations: readonly ConfigurationReport[],
  metrics: readonly MetricName[],
): string {
  const reports = reportsOf(configurations, index);
  const hasMiss = reports.some(({ missed }) => missed.length > 0);
  const marks = reports.map(
    ({ missed, values }, position) =>
      `<span class="${missed.length > 0 ? 'bad' : 'good'}">${missed.length > 0 ? '✗' : '✓'} ${escapeHtml(configurations[position]?.name ?? '')} ${(values[metrics[0] as MetricName] ?? 0).toFixed(2)}</span>`,
  );
  return `<li${hasMiss ? '' : ' class="complete"'}><details><summary><span class="question">${escapeHtml(reports[0]?.question ?? '')}</span><span class="marks">${marks.join('')}</span></summary>
${reports.map((report, position) => found(configurations[position]?.name ?? '', report, metrics)).join('\n')}
</details></li>`;
}

function found(name: string, report: QuestionReport, metrics: readonly MetricName[]): string {
  const values = metrics.map((metric) => `${labelOf(metric)} ${(report.values[metric] ?? 0).toFixed(2)}`).join(', ');
  const missed = report.missed.map((part) => `<p class="bad">✗ missed ${escapeHtml(part)}</p>`).join('');
  return `<section><h3>${escapeHtml(name)}</h3><p class="note">${escapeHtml(values)}, ${report.milliseconds.toFixed(1)} ms</p>${missed}${
    report.results.length === 0 ? '<p>Nothing was found.</p>' : `<ol>${report.results.map(result).join('')}</ol>`
  }</section>`;
}

function result({ id, source, score, text, isRelevant }: ReportedResult): string {
  const origin = [source ?? id, score?.toFixed(3)].filter((part) => part !== undefined).join(' · ');
  return `<li class="${isRelevant ? 'good' : ''}"><span class="source">${isRelevant ? '✓ relevant · ' : ''}${escapeHtml(origin)}</span><p class="text">${escapeHtml(text)}</p></li>`;
}
