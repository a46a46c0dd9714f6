import type { LanguageModel } from '@quiver/core/llm';
import {
  anyValue,
  checkOptions,
  eitherOf,
  functionValue,
  listOf,
  objectOf,
  oneOf,
  type OptionCheck,
  type OptionChecks,
  signalValue,
  stringList,
  valueThat,
  wholeNumber,
} from '@quiver/core/internal';
import type { Schema } from '@quiver/core/schema';
import { fixedKeys } from '../metadata-keys.js';

/** A language model of AI SDK 5, 6 or 7, or a model string such as `openai/gpt-5.1`. */
export type LanguageModelInput = LanguageModel | string;

/** Answers of a model between runs: a `Map`, or an object with its two methods, which may return promises. */
export interface AnswerCache {
  get(key: string): unknown;
  set(key: string, answer: unknown): unknown;
}

interface ExtractorOptions {
  /** Model for this extractor. Default: the common `llm`. */
  llm?: LanguageModelInput;
}

/** Writes `documentTitle`, the same for all chunks of a document (or of all with the same `metadata.docId`). */
export interface TitleExtractorOptions extends ExtractorOptions {
  /** Number of chunks, from the first, that are read for the title. Default 5. */
  nodes?: number;
  /** Prompt for the title of one chunk, which replaces `{context}`. */
  nodeTemplate?: string;
  /** Prompt for one title from the titles of the chunks, which replace `{context}`. */
  combineTemplate?: string;
}

/** Writes `sectionSummary`, `prevSectionSummary` and `nextSectionSummary`. */
export interface SummaryExtractorOptions extends ExtractorOptions {
  /** Chunks whose summaries are stored: its own, the previous, the next. Default `['self']`. */
  summaries?: readonly ('self' | 'prev' | 'next')[];
  promptTemplate?: string;
}

/** Writes `questionsThisExcerptCanAnswer`. */
export interface QuestionsExtractorOptions extends ExtractorOptions {
  /** Default 5; `{numQuestions}` in the template. */
  questions?: number;
  promptTemplate?: string;
}

/** Writes `excerptKeywords`. */
export interface KeywordsExtractorOptions extends ExtractorOptions {
  /** Default 5; `{maxKeywords}` in the template. */
  keywords?: number;
  promptTemplate?: string;
}

/** Writes an object of the schema: under `metadataKey`, or each property under its name. */
export interface SchemaExtractorOptions extends ExtractorOptions {
  schema: Schema;
  /** Instructions for the model. */
  instructions?: string;
  /** Metadata key. Required if the schema is not an object, or has properties that Quiver relies on, such as `source` or `headings`. */
  metadataKey?: string;
}

/**
 * Writes `excerptContext`: what situates a chunk within its document. `ingest()` embeds it with the chunk, and keyword search finds its words; it is not
 * shown as part of the text.
 */
export interface ContextExtractorOptions extends ExtractorOptions {
  /** Metadata keys that the context begins with. Default `['title', 'headings', 'date']`. */
  fields?: readonly string[];
  /** Sentences by a hash of the document, the chunk, `cacheScope` and the prompt. A run with the same cache resumes. Default: none. */
  cache?: AnswerCache;
  /** Part of every key of the cache: change it with the model. Default empty. */
  cacheScope?: string;
  /** Length above which the model sees only the part of the document around the chunks, in UTF-16 code units. Default 100,000. */
  maxDocumentLength?: number;
}

/** Progress of metadata extraction. */
export interface ExtractProgress {
  /** Finished requests, including failed ones. */
  done: number;
  total: number;
}

/** A failed extraction. */
export interface ExtractFailure {
  extractor: 'title' | 'summary' | 'questions' | 'keywords' | 'schema' | 'context';
  /** Index of the chunk. */
  chunk: number;
  /** Id of the chunk; absent for a whole document. */
  chunkId?: string;
  error: unknown;
}

/** Metadata to extract, each with its options or `true`; `false` means no extraction. */
export interface ExtractParams {
  /** Model of all extractors. There is no default. */
  llm?: LanguageModelInput;
  /** A title of each document, as `documentTitle`. */
  title?: boolean | TitleExtractorOptions;
  /** A summary of each chunk, as `sectionSummary`. */
  summary?: boolean | SummaryExtractorOptions;
  /** Questions that each chunk answers, as `questionsThisExcerptCanAnswer`. */
  questions?: boolean | QuestionsExtractorOptions;
  /** Keywords of each chunk, as `excerptKeywords`. */
  keywords?: boolean | KeywordsExtractorOptions;
  /** Your own fields, as a schema. */
  schema?: SchemaExtractorOptions;
  /**
   * Text that situates a chunk within its document: title, headings and date, then one or two sentences by the model. `'prefix'` leaves out the
   * sentences and needs no model. Only for chunks.
   */
  context?: boolean | 'prefix' | ContextExtractorOptions;
  /** Maximum number of parallel requests. Default 4. */
  concurrency?: number;
  /** Called after each call of the model. */
  onProgress?: (progress: ExtractProgress) => void;
  /** Called for each failure. If it is given, no error is thrown at the end. */
  onFailure?: (failure: ExtractFailure) => void;
  /** Cancels running requests, and prevents further ones. */
  signal?: AbortSignal | undefined;
}

const text = valueThat((value) => typeof value === 'string', 'a string');
const count = wholeNumber(1);
/** The model would not see the text without its placeholder. */
const template = valueThat(
  (value) => typeof value === 'string' && value.includes('{context}'),
  'a string that contains {context}',
);
/** Accepts a language model. */
export const languageModelValue: OptionCheck = valueThat(
  (value) => (typeof value === 'string' ? value !== '' : hasMethods(value, 'doGenerate')),
  "an AI SDK language model, or a string such as 'openai/gpt-5.1'",
);

/** Accepts an {@link AnswerCache}. */
export const answerCacheValue: OptionCheck = valueThat(
  (value) => hasMethods(value, 'get', 'set'),
  'a Map, or an object with get and set',
);

/** Accepts the part of all keys of an {@link AnswerCache}. */
export const cacheScopeValue: OptionCheck = text;

function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  const members = (value ?? {}) as Readonly<Record<string, unknown>>;
  return names.every((name) => typeof members[name] === 'function');
}

/** Accepts the options of an extractor, or one of the values instead of them. */
function extractor<Options extends object>(
  checks: OptionChecks<Options>,
  values: readonly (string | boolean)[] = [true, false],
): OptionCheck {
  return eitherOf(`one of ${values.join(', ')}, or an object with options`, oneOf(...values, null), objectOf(checks));
}

const checks: OptionChecks<ExtractParams> = {
  llm: languageModelValue,
  title: extractor<TitleExtractorOptions>({
    llm: languageModelValue,
    nodes: count,
    nodeTemplate: template,
    combineTemplate: template,
  }),
  summary: extractor<SummaryExtractorOptions>({
    llm: languageModelValue,
    summaries: listOf(oneOf('self', 'prev', 'next')),
    promptTemplate: template,
  }),
  questions: extractor<QuestionsExtractorOptions>({
    llm: languageModelValue,
    questions: count,
    promptTemplate: template,
  }),
  keywords: extractor<KeywordsExtractorOptions>({ llm: languageModelValue, keywords: count, promptTemplate: template }),
  schema: extractor<SchemaExtractorOptions>(
    {
      llm: languageModelValue,
      schema: anyValue,
      instructions: text,
      metadataKey: valueThat(
        (value) => typeof value === 'string' && !fixedKeys.has(value),
        `a metadata key other than those that Quiver relies on: ${[...fixedKeys].join(', ')}`,
      ),
    },
    [false],
  ),
  context: extractor<ContextExtractorOptions>(
    {
      llm: languageModelValue,
      fields: stringList,
      cache: answerCacheValue,
      cacheScope: cacheScopeValue,
      maxDocumentLength: count,
    },
    [true, false, 'prefix'],
  ),
  concurrency: count,
  onProgress: functionValue,
  onFailure: functionValue,
  signal: signalValue,
};

/** @throws `OPTIONS_INVALID` for an unknown extractor or option, and for invalid values */
export function requireExtractParams(params: ExtractParams): void {
  checkOptions('extractMetadata', params, checks);
}
