import { QuiverError, toErrorMessage, untilAborted } from '@quiver/core';
import {
  anyValue,
  unchecked,
  bootstrapMean,
  checkOptions,
  compareMeans,
  functionValue,
  listOf,
  type OptionChecks,
  signalValue,
  stringValue,
  valueThat,
  invalidOptions,
} from '@quiver/core/internal';
import type { EmbedderInput } from '../embedding/index.js';
import type { VectorStore } from '../store/index.js';
import { storeValue } from '../store/options.js';
import { recordText } from '../store/record-text.js';
import { scanPages } from '../store/paging.js';
import { checkCases, describeTarget, type RetrievalCase } from './cases.js';
import {
  checkConfigurations,
  createRetrieve,
  type CheckedConfiguration,
  type RetrievalConfiguration,
} from './configuration.js';
import type { Comparison, ConfigurationReport, Evaluation, QuestionReport, SeparationReport } from './evaluation.js';
import { judge, locateCases, textOf, type LocatedCase, type RetrievedResult } from './judge.js';
import { makeCases, type CasePassage } from './make-cases.js';
import { parseMetric, separation, type Metric, type MetricName } from './metrics.js';

/** Progress of an evaluation. */
export interface EvaluationProgress {
  /** Questions that were asked, of all configurations. */
  done: number;
  total: number;
  /** Name of the configuration. */
  configuration: string;
}

/** Options of `evaluateRetrieval()`. */
export interface EvaluateRetrievalOptions {
  /** Store of the index. */
  vectorStore: VectorStore;
  /** Index of the configurations that name none. */
  indexName?: string;
  /** Default: 100 questions that are made from the index without a model, see `makeCases()`. The result then has a `finding`. */
  cases?: readonly RetrievalCase[];
  /** Questions that the documents do not answer: the report says how well the confidence separates them from the cases. Default: none. */
  unanswerable?: readonly string[];
  /** At least one. The others are compared with the first. Default: keyword, vector and hybrid search. */
  configurations?: readonly RetrievalConfiguration[];
  /** Embedder of the configurations that name none. */
  model?: EmbedderInput;
  /** Default `recallAt5`, `allAt5`, `precisionAt5`, `hitRateAt5`, `mrrAt10` and `ndcgAt10`. */
  metrics?: readonly MetricName[];
  /** Called while questions are asked. */
  onProgress?: (progress: EvaluationProgress) => void;
  /** Aborts the run. */
  signal?: AbortSignal | undefined;
}

const checks: OptionChecks<EvaluateRetrievalOptions> = {
  vectorStore: storeValue,
  indexName: stringValue,
  // `checkCases`, `checkConfigurations` and `checkMetrics` name the part that is invalid.
  cases: anyValue,
  unanswerable: listOf(valueThat((value) => typeof value === 'string' && value.trim() !== '', 'a question')),
  ...unchecked<EvaluateRetrievalOptions>()('configurations', 'model', 'metrics'),
  onProgress: functionValue,
  signal: signalValue,
};

const defaultMetrics: readonly MetricName[] = [
  'recallAt5',
  'allAt5',
  'precisionAt5',
  'hitRateAt5',
  'mrrAt10',
  'ndcgAt10',
];

/**
 * Measures how well configurations retrieve what questions need. First it looks up every case in the index of every configuration, so that
 * a case that cannot be answered is an error; that reads the whole index, without vectors.
 *
 * @throws `OPTIONS_INVALID` for invalid options and cases; `CASES_NOT_FOUND` for cases that an index does not contain;
 *   `EVALUATION_FAILED` with the cause when a configuration fails; errors of the store; the abort reason
 * @example
 * const evaluation = await evaluateRetrieval({
 *   vectorStore,
 *   indexName: 'guides',
 *   cases: [{ question: 'How do I install it?', relevant: [{ quote: 'npm install' }] }],
 *   configurations: [{ name: 'keyword', mode: 'keyword' }, { name: 'hybrid', mode: 'hybrid', model }],
 * });
 * console.log(evaluation.configurations[1]?.metrics.recallAt5);
 */
export async function evaluateRetrieval(options: EvaluateRetrievalOptions): Promise<Evaluation> {
  checkOptions('evaluateRetrieval', options, checks);
  const { vectorStore: store, indexName, model, onProgress, signal, unanswerable = [] } = options;
  const metrics = checkMetrics(options.metrics ?? defaultMetrics);
  const configurations = checkConfigurations(options.configurations ?? defaultConfigurations, { indexName, model });
  signal?.throwIfAborted();
  const given = options.cases && checkCases(options.cases);
  const cases = given ?? (await casesOfIndex(store, configurations[0] as CheckedConfiguration, signal));
  const located = new Map<string, LocatedCase[]>();
  const keyOf = ({ indexName: index, filter }: CheckedConfiguration): string => JSON.stringify([index, filter]);
  for (const one of configurations)
    if (!located.has(keyOf(one)))
      located.set(
        keyOf(one),
        await locateCases(cases, { store, indexName: one.indexName, filter: one.filter, signal }),
      );

  const topKOfMetrics = Math.max(...metrics.map(({ k }) => k));
  const total = configurations.length * (cases.length + unanswerable.length);
  let done = 0;
  const reports: ConfigurationReport[] = [];
  for (const configuration of configurations) {
    const topK = configuration.topK ?? topKOfMetrics;
    const { retrieve, readCost } = await createRetrieve(store, configuration);
    const where = `The configuration '${configuration.name}'`;
    const ask = async (question: string): Promise<{ results: RetrievedResult[]; milliseconds: number }> => {
      const started = performance.now();
      const results = await untilAborted(async () => retrieve(question, { topK, signal }), signal).catch(
        (cause: unknown) => {
          signal?.throwIfAborted();
          throw new QuiverError(
            'EVALUATION_FAILED',
            `${where} failed for the question '${question}': ${toErrorMessage(cause)}`,
            { cause },
          );
        },
      );
      const milliseconds = performance.now() - started;
      if (!Array.isArray(results)) throw invalidOptions(`${where} must return a list of results.`);
      done += 1;
      onProgress?.({ done, total, configuration: configuration.name });
      return { results: (results as readonly RetrievedResult[]).slice(0, topK), milliseconds };
    };
    const asked: QuestionReport[] = [];
    for (const one of located.get(keyOf(configuration)) as LocatedCase[])
      asked.push(report(one, { ...(await ask(one.question)), metrics, where }));
    const unanswered: SeparationReport['unanswerable'] = [];
    for (const question of unanswerable)
      unanswered.push({ question, confidence: confidenceOf((await ask(question)).results) });
    requireSources(asked, cases, configuration.name);
    reports.push({
      name: configuration.name,
      topK,
      metrics: toRecord(metrics, (name) => bootstrapMean(valuesOf(asked, name))),
      ...(unanswered.length > 0 && {
        separation: { auc: separation(confidencesOf(asked), confidencesOf(unanswered)), unanswerable: unanswered },
      }),
      ...identicalTo(reports, asked),
      latency: latencyOf(asked.map(({ milliseconds }) => milliseconds)),
      ...(readCost && { cost: readCost() }),
      contextCharacters: Math.round(asked.reduce((sum, one) => sum + one.contextCharacters, 0) / asked.length),
      questions: asked,
    });
  }
  const finding = given ? undefined : findMisfit(configurations, reports);
  return {
    cases: cases.length,
    metrics: metrics.map(({ name }) => name),
    configurations: reports,
    comparisons: compareWithFirst(reports, metrics),
    ...(finding !== undefined && { finding }),
  };
}

const defaultConfigurations: readonly RetrievalConfiguration[] = (['keyword', 'vector', 'hybrid'] as const).map(
  (mode) => ({ name: mode, mode }),
);

async function casesOfIndex(
  store: VectorStore,
  { indexName, filter }: CheckedConfiguration,
  signal: AbortSignal | undefined,
): Promise<RetrievalCase[]> {
  async function* passages(): AsyncGenerator<CasePassage> {
    for await (const records of scanPages(store, { indexName, filter, signal }))
      for (const record of records) yield { text: recordText(record) };
  }
  return makeCases({ passages: passages(), signal });
}

/** An embedder that finds less than this part of what keyword search finds does not fit the documents. */
const leastShare = 0.5;

function findMisfit(
  configurations: readonly CheckedConfiguration[],
  reports: readonly ConfigurationReport[],
): string | undefined {
  const foundIn = (mode: 'keyword' | 'vector'): number | undefined => {
    const place = configurations.findIndex((one) => one.retrieve === undefined && (one.mode ?? 'vector') === mode);
    return reports[place]?.questions.filter(({ missed }) => missed.length === 0).length;
  };
  const [byKeyword, byVector] = [foundIn('keyword'), foundIn('vector')];
  if (byKeyword === undefined || byVector === undefined) return undefined;
  const figures = `Keyword search finds ${byKeyword} of ${reports[0]?.questions.length} questions made from the index, the vectors ${byVector}`;
  return byVector < leastShare * byKeyword
    ? `${figures}: wrong language or model, or texts that are longer than it reads?`
    : `${figures}: the embedder fits. Whether it helps, only questions of people show.`;
}

/** Without any source, every case that is bound to one would count as missed. */
function requireSources(asked: readonly QuestionReport[], cases: readonly RetrievalCase[], name: string): void {
  const results = asked.flatMap((one) => one.results);
  const isNeeded = cases.some(({ relevant }) => relevant.some(({ source }) => source !== undefined));
  if (!isNeeded || results.length === 0 || results.some(({ source }) => source !== undefined)) return;
  throw invalidOptions(
    `No result of the configuration '${name}' has metadata.source, but cases are bound to sources. Return it with the results.`,
  );
}

function confidencesOf(questions: readonly { confidence: number }[]): number[] {
  return questions.map(({ confidence }) => confidence);
}

function confidenceOf(results: readonly RetrievedResult[]): number {
  return results.reduce((most, { confidence, score = 0 }) => Math.max(most, confidence ?? score), 0);
}

/** A comparison with the same results under another name, such as hybrid search without a weight for vectors, is not a finding. */
function identicalTo(
  reports: readonly ConfigurationReport[],
  asked: readonly QuestionReport[],
): Pick<ConfigurationReport, 'identicalTo'> {
  const resultsOf = (questions: readonly QuestionReport[]): string =>
    JSON.stringify(questions.map(({ results }) => results.map(({ id, source, text }) => [id, source, text])));
  const own = resultsOf(asked);
  const other = reports.find(({ questions }) => resultsOf(questions) === own);
  return other ? { identicalTo: other.name } : {};
}

const shownCharacters = 300;

function report(
  one: LocatedCase,
  given: { results: readonly RetrievedResult[]; metrics: readonly Metric[]; where: string; milliseconds: number },
): QuestionReport {
  const { results, metrics, where, milliseconds } = given;
  const judged = judge(one, results, where);
  const found = new Set(judged.found.flat());
  const texts = results.map(textOf);
  return {
    question: one.question,
    confidence: confidenceOf(results),
    values: toRecord(metrics, (_, { measure }) => measure(judged)),
    milliseconds,
    missed: one.targets.flatMap(({ target }, index) => (found.has(index) ? [] : [describeTarget(target)])),
    contextCharacters: texts.reduce((sum, { length }) => sum + length, 0),
    results: results.map(({ id, score, confidence, metadata }, index) => ({
      ...(id !== undefined && { id }),
      ...(typeof metadata?.['source'] === 'string' && { source: metadata['source'] }),
      ...(score !== undefined && { score }),
      ...(confidence !== undefined && { confidence }),
      text: (texts[index] as string).slice(0, shownCharacters),
      isRelevant: judged.relevant[index] as boolean,
    })),
  };
}

function toRecord<Value>(
  metrics: readonly Metric[],
  valueOf: (name: MetricName, metric: Metric) => Value,
): Record<MetricName, Value> {
  return Object.fromEntries(metrics.map((metric) => [metric.name, valueOf(metric.name, metric)]));
}

function valuesOf(questions: readonly QuestionReport[], metric: MetricName): number[] {
  return questions.map(({ values }) => values[metric] as number);
}

function compareWithFirst(
  [first, ...others]: readonly ConfigurationReport[],
  metrics: readonly Metric[],
): Comparison[] {
  if (!first) return [];
  return others.flatMap((other) =>
    metrics.map(({ name: metric }) => ({
      metric,
      baseline: first.name,
      configuration: other.name,
      ...compareMeans(valuesOf(first.questions, metric), valuesOf(other.questions, metric)),
    })),
  );
}

/** Nearest ranks. */
function latencyOf(milliseconds: readonly number[]): { p50: number; p95: number } {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
  return { p50: at(0.5), p95: at(0.95) };
}

/** @throws `OPTIONS_INVALID` */
function checkMetrics(names: readonly string[]): Metric[] {
  if (!Array.isArray(names) || names.length === 0) throw invalidOptions('metrics must name at least one metric.');
  return [...new Set<string>(names)].map((name) => parseMetric(String(name)));
}
