import { createHash } from 'node:crypto';
import { QuiverError } from '@quiver/core';
import {
  anyValue,
  unchecked,
  checkOptions,
  functionValue,
  type Interval,
  listOf,
  objectOf,
  oneOf,
  type OptionChecks,
  required,
  signalValue,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import {
  type EmbedderInput,
  type MDocument,
  type QueryMode,
  type VectorStore,
  createLexicalEmbedder,
  ingest,
} from '@quiver/rag';
import {
  type ConfigurationReport,
  type EvaluationProgress,
  type MetricName,
  type RetrievalCase,
  type SearchConfiguration,
  evaluateRetrieval,
  makeCases,
} from '@quiver/rag/evaluate';
import type { FusionWeights } from '@quiver/rag/store';
import { checkCases, parseMetric } from '@quiver/rag/internal';
import { passagesOf } from './generate-cases.js';

/** Values to try; every combination is one candidate. */
export interface TuneGrid {
  /** `maxSize` of the chunks, in characters. */
  chunkSize: readonly number[];
  /** Default `['keyword']`. */
  mode?: readonly QueryMode[];
  /** Weights of the mode `hybrid`. Default: several weights of the vectors, or, without `cases`, that of the embedder. */
  fusion?: readonly FusionWeights[];
  /** Number of results. Default: the k of the metric. */
  topK?: readonly number[];
}

/** Options of `tune()`. The store holds one index `tune-<chunk size>` for each chunk size, until the end. */
export interface TuneOptions {
  /** Store in which each configuration is indexed. */
  vectorStore: VectorStore;
  /** Documents that each configuration indexes. */
  documents: readonly MDocument[];
  /**
   * Bound to quotes, places or sources, because ids change with the chunks. At least 30 for the choice and 10 held out, or 14 and 6 where the
   * candidates differ in their weights only. Default: 100 that are made from the documents without a model, see `makeCases()`. These prefer
   * keyword search: compare sizes with them, not modes.
   */
  cases?: readonly RetrievalCase[];
  /** Embedding model. Default: the lexical embedder. */
  model?: EmbedderInput;
  /** Values to try, by setting. */
  grid: TuneGrid;
  /** The metric that decides. Default `ndcgAt10`. */
  metric?: MetricName;
  /** Share of the cases that only the winner is measured with. Default 0.3. */
  heldOut?: number;
  /** Called while questions are asked. */
  onProgress?: (progress: EvaluationProgress) => void;
  /** Aborts the run. */
  signal?: AbortSignal | undefined;
}

const checks: OptionChecks<TuneOptions> = {
  // `parseMetric` and `splitCases` check the last two.
  ...unchecked<TuneOptions>()('documents', 'cases', 'model', 'metric', 'heldOut'),
  vectorStore: required(anyValue, 'a vector store, such as a LocalVector'),
  grid: objectOf<TuneGrid>({
    chunkSize: listOf(wholeNumber(1)),
    mode: listOf(oneOf('vector', 'keyword', 'hybrid')),
    fusion: anyValue,
    topK: listOf(wholeNumber(1)),
  }),
  onProgress: functionValue,
  signal: signalValue,
};

/** Settings of a candidate. */
export interface TunedSettings {
  chunkSize: number;
  mode: QueryMode;
  fusion?: FusionWeights;
  topK: number;
}

/** A candidate, measured with the cases that are not held out. */
export interface TuneCandidate {
  settings: TunedSettings;
  value: Interval;
  contextCharacters: number;
}

/** Result of `tune()`. */
export interface TuneResult {
  winner: TunedSettings;
  /**
   * The winner, measured with cases that did not take part in the choice. The value of the winner among the candidates is too high: it
   * was chosen for it.
   */
  heldOut: ConfigurationReport;
  /** All candidates, best first. */
  candidates: TuneCandidate[];
  /** Number of cases of each part. */
  cases: { tuning: number; heldOut: number };
  /** Without `cases`, for a model: whether its vectors fit the documents, as a sentence. */
  finding?: string;
}

/** Fewest cases of each part, and for the choice of one weight. */
const minCases = { tuning: 30, heldOut: 10 };
const minCasesOfWeight = { tuning: 14, heldOut: 6 };
/** Weights that are tried by default. Of weights that are equally good within the tolerance, the first one wins. */
const weights: readonly FusionWeights[] = [1, 0.5, 2, 0.25, 4].map((vector) => ({ vector }));
/** Of candidates that are at most this much worse than the best, the one with the shortest results wins. */
const tolerance = 0.01;

/**
 * Chooses chunk size, mode, weights and number of results: measures every combination with one part of the cases, and the winner with the
 * other part.
 *
 * @throws `CASES_TOO_FEW` when a part has too few cases for a comparison; `OPTIONS_INVALID`; the errors of `ingest` and
 *   `evaluateRetrieval`; the abort reason
 * @example
 * const { winner, heldOut } = await tune({
 *   documents,
 *   cases,
 *   vectorStore: new LocalVector(),
 *   grid: { chunkSize: [300, 600, 1200], mode: ['keyword', 'hybrid'], topK: [5, 10] },
 * });
 */
export async function tune(options: TuneOptions): Promise<TuneResult> {
  checkOptions('tune', options, checks);
  const { documents, vectorStore: store, metric = 'ndcgAt10', heldOut = 0.3, onProgress, signal } = options;
  const model = options.model ?? createLexicalEmbedder();
  const { k } = parseMetric(metric);
  if (!Array.isArray(documents))
    throw invalidOptions(
      'documents must be a list, because they are read once for each chunk size. Collect the documents of a loader first.',
    );
  const own = options.cases === undefined ? undefined : checkCases(options.cases);
  const settings = combine(options.grid, { k, fusion: own ? weights : [] });
  const cases = own ?? (await makeCases({ passages: passagesOf(documents), signal }));
  const others = new Set(settings.map((one) => JSON.stringify({ ...one, fusion: undefined })));
  const isWeight = settings.length > 1 && others.size === 1;
  const parts = splitCases(cases, heldOut, isWeight ? minCasesOfWeight : minCases);
  const indexNames = new Map(settings.map(({ chunkSize }) => [chunkSize, `tune-${chunkSize}`]));
  const existing = await store.listIndexes({ signal });
  const taken = [...indexNames.values()].find((name) => existing.includes(name));
  if (taken !== undefined) throw invalidOptions(`The index '${taken}' exists. Delete it, or pass another store.`);
  const configurations = settings.map((one): SearchConfiguration => {
    const { chunkSize, ...search } = one;
    return { name: JSON.stringify(one), indexName: indexNames.get(chunkSize) as string, model, ...search };
  });
  const common = { vectorStore: store, metrics: [metric], signal };
  try {
    for (const [maxSize, indexName] of indexNames)
      await ingest({ documents, vectorStore: store, indexName, model, chunkOptions: { maxSize }, signal });
    const progress = onProgress ? { onProgress } : {};
    const measured = await evaluateRetrieval({ ...common, ...progress, cases: parts.tuning, configurations });
    const ranked = measured.configurations
      .map((report, index) => ({
        index,
        settings: settings[index] as TunedSettings,
        value: report.metrics[metric] as Interval,
        contextCharacters: report.contextCharacters,
      }))
      .sort((a, b) => b.value.mean - a.value.mean || a.contextCharacters - b.contextCharacters || a.index - b.index);
    const best = ranked[0]?.value.mean ?? 0;
    const [winner] = ranked
      .filter(({ value }) => value.mean >= best - tolerance)
      .sort((a, b) => (isWeight ? 0 : a.contextCharacters - b.contextCharacters) || a.index - b.index);
    const chosen = configurations[winner?.index ?? 0] as SearchConfiguration;
    const final = await evaluateRetrieval({ ...common, cases: parts.heldOut, configurations: [chosen] });
    const isChecked = !own && options.model !== undefined && store.capabilities.modes.includes('keyword');
    const modes = (['keyword', 'vector'] as const).map((mode) => ({ ...chosen, name: mode, mode }));
    const finding = isChecked ? (await evaluateRetrieval({ ...common, configurations: modes })).finding : undefined;
    return {
      winner: settings[winner?.index ?? 0] as TunedSettings,
      heldOut: final.configurations[0] as ConfigurationReport,
      candidates: ranked.map(({ index: _index, ...candidate }) => candidate),
      cases: { tuning: parts.tuning.length, heldOut: parts.heldOut.length },
      ...(finding !== undefined && { finding }),
    };
  } finally {
    // Without the signal: an aborted run also leaves nothing behind.
    for (const indexName of indexNames.values())
      if ((await store.listIndexes()).includes(indexName)) await store.deleteIndex({ indexName });
  }
}

/** @throws `CASES_TOO_FEW` */
function splitCases(
  cases: readonly RetrievalCase[],
  heldOut: number,
  least: TuneResult['cases'],
): { tuning: RetrievalCase[]; heldOut: RetrievalCase[] } {
  const shuffled = cases
    .map((one, index) => ({ one, key: createHash('sha256').update(`${index} ${one.question}`).digest('hex') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ one }) => one);
  const size = Math.round(cases.length * heldOut);
  const parts = { heldOut: shuffled.slice(0, size), tuning: shuffled.slice(size) };
  if (parts.tuning.length >= least.tuning && parts.heldOut.length >= least.heldOut) return parts;
  throw new QuiverError(
    'CASES_TOO_FEW',
    `A choice needs at least ${least.tuning} cases and ${least.heldOut} more that are held out, not ${parts.tuning.length} and ${parts.heldOut.length}: with fewer, chance decides. Add cases, for example by generateCases(), or change heldOut.`,
  );
}

/** Returns every combination. @throws `OPTIONS_INVALID` */
function combine(grid: TuneGrid, defaults: { k: number; fusion: readonly FusionWeights[] }): TunedSettings[] {
  const { chunkSize, mode = ['keyword'], fusion = defaults.fusion, topK = [defaults.k] } = grid ?? {};
  for (const [name, values] of Object.entries({ chunkSize, mode, topK }))
    if (!Array.isArray(values) || values.length === 0) throw invalidOptions(`grid.${name} must be a list of values.`);
  const counts = [...new Set(topK)];
  const searches = [...new Set(mode)].flatMap((one) =>
    one === 'hybrid' && fusion.length > 0 ? fusion.map((weight) => ({ mode: one, fusion: weight })) : [{ mode: one }],
  );
  return [...new Set(chunkSize)].flatMap((size) =>
    searches.flatMap((search) => counts.map((count) => ({ chunkSize: size, ...search, topK: count }))),
  );
}
