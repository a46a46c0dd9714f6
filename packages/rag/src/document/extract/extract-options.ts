import { QuiverError } from '@quiver/core';
import type { LanguageModel } from '@quiver/core/llm';
import type { Schema } from '@quiver/core/schema';

/** A language model of AI SDK 5, 6 or 7, or a model string such as `openai/gpt-5.1`. */
export type LanguageModelInput = LanguageModel | string;

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
  /** Metadata key. Required if the schema is not an object, or has properties named `startIndex` or `endIndex`. */
  metadataKey?: string;
}

export interface ExtractProgress {
  /** Finished requests, including failed ones. */
  done: number;
  total: number;
}

/** A failed extraction. */
export interface ExtractFailure {
  extractor: 'title' | 'summary' | 'questions' | 'keywords' | 'schema';
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
  title?: boolean | TitleExtractorOptions;
  summary?: boolean | SummaryExtractorOptions;
  questions?: boolean | QuestionsExtractorOptions;
  keywords?: boolean | KeywordsExtractorOptions;
  schema?: SchemaExtractorOptions;
  /** Maximum number of parallel requests. Default 4. */
  concurrency?: number;
  onProgress?: (progress: ExtractProgress) => void;
  /** Called for each failure. If it is given, no error is thrown at the end. */
  onFailure?: (failure: ExtractFailure) => void;
  /** Cancels running requests, and prevents further ones. */
  signal?: AbortSignal;
}

const optionNames: Readonly<Record<string, readonly string[]>> = {
  title: ['llm', 'nodes', 'nodeTemplate', 'combineTemplate'],
  summary: ['llm', 'summaries', 'promptTemplate'],
  questions: ['llm', 'questions', 'promptTemplate'],
  keywords: ['llm', 'keywords', 'promptTemplate'],
  schema: ['llm', 'schema', 'instructions', 'metadataKey'],
};
/** Metadata keys of the position of a chunk. */
export const placeKeys: ReadonlySet<string> = new Set(['startIndex', 'endIndex']);

const commonNames = ['llm', 'concurrency', 'onProgress', 'onFailure', 'signal'];

/** @throws `EXTRACT_OPTIONS_INVALID` for an unknown extractor or option, and for counts below 1 */
export function requireExtractParams(params: ExtractParams): void {
  if (typeof params !== 'object' || params === null)
    throw invalid(`What to extract must be an object such as { llm, title: true }, not ${String(params)}.`);
  requireNames('extract', Object.keys(params), [...Object.keys(optionNames), ...commonNames]);
  requireCount('concurrency', params.concurrency);
  for (const [extractor, known] of Object.entries(optionNames)) {
    const options = (params as Record<string, unknown>)[extractor] ?? false;
    if (typeof options === 'boolean' && extractor !== 'schema') continue;
    if (options === false) continue;
    if (typeof options !== 'object') throw invalid(`${extractor} must be an object of options.`);
    requireNames(extractor, Object.keys(options as object), known);
    for (const name of ['nodes', 'questions', 'keywords'])
      requireCount(name, (options as Record<string, unknown>)[name]);
    const { summaries = [] } = options as { summaries?: unknown };
    const isKnown = Array.isArray(summaries) && summaries.every((whose) => ['self', 'prev', 'next'].includes(whose));
    if (!isKnown) throw invalid(`summaries must be a list of 'self', 'prev' and 'next', not ${String(summaries)}.`);
    const { promptTemplate, nodeTemplate, combineTemplate } = options as Record<string, unknown>;
    for (const template of [promptTemplate, nodeTemplate, combineTemplate]) {
      if (template === undefined) continue;
      if (typeof template !== 'string') throw invalid(`The template of ${extractor} must be a text.`);
      if (!template.includes('{context}'))
        throw invalid(`The template of ${extractor} has no {context}, so the model would not see the text.`);
    }
    const { metadataKey = 'facts' } = options as { metadataKey?: unknown };
    if (typeof metadataKey !== 'string' || placeKeys.has(metadataKey))
      throw invalid(
        `metadataKey must be a key other than ${[...placeKeys].join(' and ')}, not ${String(metadataKey)}.`,
      );
  }
}

function requireNames(subject: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw invalid(`${subject} has no option '${unknown.join(', ')}'. Known: ${known.join(', ')}.`);
}

function requireCount(name: string, value: unknown): void {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 1)) return;
  throw invalid(`${name} must be a whole number of at least 1, not ${String(value)}.`);
}

function invalid(message: string): QuiverError {
  return new QuiverError('EXTRACT_OPTIONS_INVALID', message);
}
