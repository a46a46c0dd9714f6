import { QuiverError, toErrorMessage, untilAborted } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  functionValue,
  invalidOptions,
  listOf,
  type OptionChecks,
  signalValue,
  stringValue,
  valueThat,
  wholeNumber,
} from '@quiver/core/internal';
import {
  answerCacheValue,
  cacheScopeValue,
  languageModelValue,
  type AnswerCache,
  type LanguageModelInput,
} from '../document/extract/extract-options.js';
import { toEmbedder, type Embedder, type EmbedderInput } from '../embedding/index.js';
import { bothFilters } from '../filter/index.js';
import { mergeCopies, otherPlaces } from '../search/merge-copies.js';
import { findPassages } from '../search/find-passages.js';
import { ratePassages, type NothingFound, type RatedPassage } from '../search/confidence.js';
import { checkQuestion, Question } from '../search/question.js';
import { rerankConfigValue, selectByReranker, type RerankConfig } from '../search/rerank.js';
import { fusedDepth, rerankDepth } from '../store/depths.js';
import { fuseScores } from '../store/score-fusion.js';
import {
  parseScope,
  readTrustedFilter,
  requireScope,
  toIndexRead,
  trustedFilterChecks,
  type DatabaseConfig,
  type IndexRead,
  type TrustedFilterOptions,
} from '../store/scope.js';
import {
  confidenceValue,
  defaultTopK,
  fusionValue,
  modeValue,
  objectsByName,
  storeValue,
  topKValue,
} from '../store/options.js';
import type { FusionWeights, QueryMode, VectorFilter, VectorMatch, VectorStore } from '../store/index.js';
import {
  runSteps,
  stepsValue,
  type ConversationTurn,
  type RetrievalSteps,
  type StepAnswer,
  type StepName,
} from './steps.js';

/**
 * Options of `retrieve()`. A filter of the step `filter` narrows `filter`
 * and `scope` further.
 */
export interface RetrieveOptions extends TrustedFilterOptions {
  /** Query in plain language. */
  question: string;
  /** Store of the index. */
  vectorStore: VectorStore;
  /** Embedding model of the index: an AI SDK model, a model string, or an `Embedder`. Required unless the mode is `keyword`. */
  model?: EmbedderInput;
  /** Largest number of characters of the query. Default 8000. */
  maxQuestionLength?: number;
  /** Index to search. */
  indexName: string;
  /** Steps before the search, each one request to a language model. Default: none, the query is searched for unchanged. */
  steps?: RetrievalSteps;
  /** Model of all steps. There is no default. */
  llm?: LanguageModelInput;
  /** The conversation before the query, oldest turn first. Required by the step `rewrite`. */
  history?: readonly ConversationTurn[];
  /** Default `vector`. */
  mode?: QueryMode;
  /** Weights of the two rankings of a hybrid search. */
  fusion?: FusionWeights;
  /** Default 10. */
  topK?: number;
  /** Leaves out matches with a lower `confidence`, from 0 to 1. Default 0. */
  minConfidence?: number;
  /** Second ranking of the matches. Default none. */
  reranker?: RerankConfig;
  /** Settings of the store, by its name. */
  databaseConfig?: DatabaseConfig;
  /** Answers of the model, by a hash of the step, the query and the prompt. Default: none. */
  cache?: AnswerCache;
  /** Part of every key of the cache: change it with the model. Default empty. */
  cacheScope?: string;
  /** Receives each failed step. The search continues without it then; by default a failed step is an error. */
  onStepFailure?: (failure: { step: StepName; error: unknown }) => void;
  /** Aborts the search. */
  signal?: AbortSignal | undefined;
}

const optionChecks: OptionChecks<RetrieveOptions> = {
  question: anyValue,
  vectorStore: storeValue,
  indexName: stringValue,
  model: anyValue,
  steps: stepsValue,
  llm: languageModelValue,
  history: listOf(valueThat(isTurn, 'a turn with a role and a content, which are strings')),
  mode: modeValue,
  fusion: fusionValue,
  ...trustedFilterChecks,
  topK: topKValue,
  maxQuestionLength: wholeNumber(1),
  minConfidence: confidenceValue,
  reranker: rerankConfigValue,
  databaseConfig: objectsByName,
  cache: answerCacheValue,
  cacheScope: cacheScopeValue,
  onStepFailure: functionValue,
  signal: signalValue,
};

function isTurn(value: unknown): boolean {
  const { role, content } = (value ?? {}) as Partial<ConversationTurn>;
  return typeof role === 'string' && typeof content === 'string';
}

/** A query, and what it brought. */
export interface QueryTrace {
  text: string;
  /** Number of records that it found. */
  found: number;
  /** Number of its records in the result. */
  inResult: number;
}

/** A step, and what it brought. */
export interface StepTrace {
  step: 'question' | StepName;
  /** Requests to the model; 0 when the answer was cached. */
  calls: number;
  queries: QueryTrace[];
  /** Ids in the result that only queries of this step found. */
  contributed: string[];
  /** Filter that the step `filter` wrote; absent when the query restricts nothing. */
  filter?: VectorFilter;
  /** Reason why the step failed, if `onStepFailure` was given. */
  error?: unknown;
}

/** Result of `retrieve()`. */
export interface Retrieval extends NothingFound {
  /** The best records, best first, with their confidence. */
  matches: RatedPassage<VectorMatch>[];
  /** The query that was searched for: the given one, or the one that the step `rewrite` wrote. */
  question: string;
  /** Contribution of each step. A step that contributes nothing over many questions costs money and time for nothing. */
  trace: StepTrace[];
}

/**
 * Searches an index for a query, with steps that prepare the search. Without steps it is one search.
 *
 * The rankings of all queries are merged by their scores. The given query has the weight 1; those of one step share its
 * weight. With a reranker, the best four times `topK` merged results are sorted by it.
 *
 * @throws `QUERY_SCOPE_MISSING`; `RETRIEVE_STEP_FAILED` with the step in `details.step` and its error as cause, unless `onStepFailure` was given;
 *   `OPTIONS_INVALID` for an unknown or invalid option or step; `FILTER_INVALID`; `QUERY_EMBEDDER_CHANGED`; errors of store, embedder and reranker; the
 *   abort reason
 * @example
 * const { matches, trace } = await retrieve({
 *   question: 'Who approves travel in the red team?',
 *   vectorStore,
 *   indexName: 'handbook',
 *   model: 'openai/text-embedding-3-small',
 *   llm: 'openai/gpt-5.1-mini',
 *   steps: { variants: true, filter: { fields: { team: 'Name of the team' } } },
 * });
 */
export async function retrieve(options: RetrieveOptions): Promise<Retrieval> {
  checkOptions('retrieve', options, optionChecks);
  const { vectorStore: store, question, reranker, signal, onStepFailure, topK = defaultTopK } = options;
  checkQuestion(question, options.maxQuestionLength);
  const given = readTrustedFilter(options);
  const scope = parseScope(options.scope);
  // A model or a cache may not know the signal.
  const planned = await untilAborted(() => runSteps(options), signal);
  for (const { step, error } of planned.answers) {
    if (error === undefined) continue;
    if (!onStepFailure) throw stepFailed(step, error);
    onStepFailure({ step, error });
  }
  const searches = planSearches(planned.question, planned.answers);
  const written = planned.answers.find((answer) => answer.filter)?.filter;
  const candidates = reranker ? rerankDepth(topK) : topK;
  const limit = searches.length > 1 ? Math.max(candidates, fusedDepth) : candidates;
  const { indexName, databaseConfig } = options;
  const read = toIndexRead(store, { indexName, databaseConfig, filter: given, signal });
  const lists = await search(options, searches, { ...read, filter: bothFilters(given, written) }, limit);
  requireScope({ store, read, scope }, lists.flat());
  const found = mergeLists(lists);
  // One list is unchanged, with the scores of the store.
  const mode = options.mode ?? 'vector';
  const weighted = searches.map(({ weight }, place) => ({ matches: found[place]!, weight, mode }));
  const merged = (found.length === 1 ? found[0]! : fuseScores(weighted)).slice(0, candidates);
  const ranked = reranker && (await selectByReranker(reranker, planned.question, merged, { topK, signal }));
  const best = ranked?.map(({ result, score }) => ({ ...result, score })) ?? merged;
  const { passages: matches, ...emptiness } = ratePassages(best, { ...options, question: searches[0].question });
  const trace = traceOf(searches, found, matches, planned.answers);
  return { matches, ...emptiness, question: planned.question, trace };
}

/** The given query, or one of a step. */
interface PlannedSearch {
  readonly step: 'question' | StepName;
  readonly text: string;
  readonly question: Question;
  readonly weight: number;
}

/** Texts that differ in upper and lower case or in space alone are searched for once. */
function planSearches(question: string, answers: readonly StepAnswer[]): [PlannedSearch, ...PlannedSearch[]] {
  const known = new Set<string>();
  const isNew = (text: string): boolean => {
    const key = text.trim().replace(/\s+/g, ' ').toLowerCase();
    return key !== '' && known.size !== known.add(key).size;
  };
  isNew(question);
  const toSearch = (search: Omit<PlannedSearch, 'question'>): PlannedSearch => {
    return { ...search, question: new Question(search.text) };
  };
  const searches: ReturnType<typeof planSearches> = [toSearch({ step: 'question', text: question, weight: 1 })];
  for (const { step, queries, weight } of answers) {
    const texts = queries.filter(isNew);
    for (const text of texts) searches.push(toSearch({ step, text, weight: weight / texts.length }));
  }
  return searches;
}

function requireModel({ model }: RetrieveOptions): EmbedderInput {
  if (model !== undefined) return model;
  throw invalidOptions("retrieve needs 'model', the embedding model of the index, or the mode 'keyword'.");
}

async function search(
  options: RetrieveOptions,
  searches: readonly PlannedSearch[],
  read: IndexRead,
  limit: number,
): Promise<VectorMatch[][]> {
  const { vectorStore: store, mode, fusion, signal } = options;
  const embedder = mode === 'keyword' ? undefined : toEmbedder(requireModel(options));
  const vectors = embedder ? await embedAll(embedder, searches, signal) : [];
  return Promise.all(
    searches.map(({ text: queryText, question }, place) => {
      const query = { mode, queryText, queryVector: vectors[place], fusion, topK: limit };
      return findPassages({ store, read, embedder, question }, query);
    }),
  );
}

/** Replaces copies of a text that different queries have found by the first of them, so that they count as one. */
function mergeLists(lists: readonly VectorMatch[][]): readonly VectorMatch[][] {
  if (lists.length === 1) return lists;
  const merged = mergeCopies(lists.flat()).toReversed();
  const ofId = new Map(merged.flatMap((match) => otherPlaces(match.metadata).map(({ id }) => [id, match] as const)));
  for (const match of merged) ofId.set(match.id, match);
  return lists.map((list) => list.map(({ id }) => ofId.get(id) as VectorMatch));
}

/** A hypothetical passage is embedded like a document, the others like queries. */
async function embedAll(
  embedder: Embedder,
  searches: readonly PlannedSearch[],
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const purposeOf = ({ step }: PlannedSearch): 'query' | 'document' => (step === 'hyde' ? 'document' : 'query');
  const embed = async (purpose: 'query' | 'document'): Promise<[PlannedSearch, Float32Array][]> => {
    const found = searches.filter((one) => purposeOf(one) === purpose);
    const texts = found.map(({ text }) => text);
    const vectors = texts.length === 0 ? [] : await embedder.embed(texts, { purpose, signal });
    return found.map((one, place) => [one, vectors[place]!]);
  };
  const vectorOf = new Map((await Promise.all([embed('query'), embed('document')])).flat());
  return searches.map((one) => vectorOf.get(one)!);
}

function traceOf(
  searches: readonly PlannedSearch[],
  found: readonly VectorMatch[][],
  matches: readonly VectorMatch[],
  answers: readonly StepAnswer[],
): StepTrace[] {
  const result = new Set(matches.map(({ id }) => id));
  const steps = [{ step: 'question' as const, calls: 0 }, ...answers];
  /** Steps that found each record of the result. */
  const finders = new Map<string, Set<string>>();
  for (const [place, { step }] of searches.entries())
    for (const { id } of found[place]!)
      if (result.has(id)) finders.set(id, (finders.get(id) ?? new Set<string>()).add(step));
  return steps.map(({ step, calls, ...answer }) => ({
    step,
    calls,
    queries: searches.flatMap((one, place) => {
      const list = found[place]!;
      const inResult = list.filter(({ id }) => result.has(id)).length;
      return one.step === step ? [{ text: one.text, found: list.length, inResult }] : [];
    }),
    contributed: [...finders].flatMap(([id, names]) => (names.size === 1 && names.has(step) ? [id] : [])),
    ...('filter' in answer && answer.filter && { filter: answer.filter }),
    ...('error' in answer && answer.error !== undefined && { error: answer.error }),
  }));
}

function stepFailed(step: StepName, error: unknown): QuiverError {
  return new QuiverError(
    'RETRIEVE_STEP_FAILED',
    `The step '${step}' of retrieve() failed: ${toErrorMessage(error)} Pass onStepFailure to search without a step that fails.`,
    { cause: error, details: { step } },
  );
}
