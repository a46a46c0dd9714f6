import { isQuiverError, QuiverError, toErrorMessage, untilAborted, type EmbeddingTraceEvent } from '@quiver/core';
import type { EmbeddingModel } from '@quiver/core/llm';
import {
  checkOptions,
  numberIn,
  objectOf,
  type OptionChecks,
  stringValue,
  valueThat,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import { canonicalJson } from '../document/content-hash.js';
import { partsOf } from '../requests/parts-of.js';
import { retry } from '../requests/retry.js';
import { createLimit, type Limit } from '../requests/limit.js';
import { checkEmbeddings, traceEmbedding } from './call-model.js';
import type { CustomEmbedder, Embedder, EmbeddingPurpose, EmbeddingUsage, EmbedOptions } from './embedder.js';
import { mostTokens, publishedInputTokens } from './input-tokens.js';
import { createRateLimiter, rateLimitValue, type EmbeddingRateLimit, type RateLimiter } from './rate-limit.js';

/** An {@link Embedder}, your own embedder, an embedding model of AI SDK 5, 6 or 7, or a string such as `openai/text-embedding-3-small`. */
export type EmbedderInput = CustomEmbedder | EmbeddingModel | string;

/** Settings of the provider, passed on with every call, for example `{ openai: { dimensions: 512 } }`. */
export type EmbeddingProviderOptions = Record<string, Record<string, unknown>>;

/** Options of `toEmbedder()`. */
export interface ModelEmbedderOptions {
  /** Options for the provider of the model. */
  providerOptions?: EmbeddingProviderOptions | undefined;
  /** Attempts of each request after the first. Default 2. */
  maxRetries?: number | undefined;
  /** Limit of the provider; requests wait for it. Default: none. It belongs to this embedder, in this process, unless it is `shared`. */
  rateLimit?: EmbeddingRateLimit | undefined;
  /** Price of a million tokens, for `usage.cost`. */
  pricePerMillion?: number | undefined;
  /** Tokens that the model reads of a text. Default: what the providers of OpenAI, Google and Cohere publish; of other models, any number. */
  maxInputTokens?: number | undefined;
  /**
   * Text before each query and each text of a document, as the card of the model asks, such as `search_query: `. It is a part of the id of the
   * embedder. Default: none.
   */
  prefixes?: Partial<Record<EmbeddingPurpose, string>> | undefined;
}

/** With fewer, there would be a vector for each word. */
const leastInputTokens = 16;

/** Checks of {@link ModelEmbedderOptions}. */
export const modelEmbedderChecks: OptionChecks<ModelEmbedderOptions> = {
  providerOptions: valueThat((value) => typeof value === 'object' && value !== null, 'an object'),
  maxRetries: wholeNumber(0),
  rateLimit: rateLimitValue,
  pricePerMillion: numberIn({ least: 0 }),
  maxInputTokens: wholeNumber(leastInputTokens),
  prefixes: objectOf<Partial<Record<EmbeddingPurpose, string>>>({ query: stringValue, document: stringValue }),
};

/**
 * Returns an embedder for a model, or for your own. Texts are sent in batches of the size that the model accepts, in parallel if it allows that;
 * transient errors are retried twice; results are checked.
 *
 * The embedder throws `EMBEDDING_FAILED` with the model's error as its cause, `EMBEDDING_INVALID` for an answer that does not
 * fit, and the abort reason. A string is resolved at the first call, by `ModelRouterEmbeddingModel`.
 *
 * @throws `OPTIONS_INVALID` for anything else, and for an unknown option or an invalid value
 *
 * @example
 * const [vector] = await toEmbedder('openai/text-embedding-3-small').embed(['a text']);
 */
export function toEmbedder(input: EmbedderInput, options: ModelEmbedderOptions = {}): Embedder {
  checkOptions('toEmbedder', options, modelEmbedderChecks);
  if (typeof input === 'string') {
    const name = input.trim();
    if (name === '') throw invalidOptions('The name of an embedding model must not be empty.');
    let model: Promise<EmbeddingModel> | undefined;
    const load = (): Promise<EmbeddingModel> =>
      (model ??= import('@quiver/core/llm').then((llm) => new llm.ModelRouterEmbeddingModel(name)));
    return createModelEmbedder(name, load, options);
  }
  if (isEmbedder(input)) {
    const { maxInputTokens = input.maxInputTokens } = options;
    checkOptions('An embedder', { maxInputTokens }, modelEmbedderChecks);
    return createCheckedEmbedder(input, maxInputTokens);
  }
  if (isEmbeddingModel(input)) return createModelEmbedder(modelId(input), () => input, options);
  throw invalidOptions(
    'An embedder must be an AI SDK embedding model, a string such as openai/text-embedding-3-small, or an object with id and embed().',
  );
}

function isEmbedder(value: unknown): value is CustomEmbedder {
  const { id, embed } = (value ?? {}) as Partial<CustomEmbedder>;
  return typeof id === 'string' && typeof embed === 'function';
}

function isEmbeddingModel(value: unknown): value is EmbeddingModel {
  const { provider, modelId: name, doEmbed } = (value ?? {}) as Partial<EmbeddingModel>;
  return typeof doEmbed === 'function' && typeof provider === 'string' && typeof name === 'string';
}

/** Checks and converts the vectors of an embedder. Its members may be getters of a class with private fields. */
function createCheckedEmbedder(embedder: CustomEmbedder, maxInputTokens: number | undefined): Embedder {
  const { id, hybridWeight } = embedder;
  return {
    id,
    hybridWeight,
    maxInputTokens,
    get dimension() {
      return embedder.dimension;
    },
    get usage() {
      return embedder.usage;
    },
    async embed(texts, options) {
      const vectors = await embedder.embed(texts, options);
      return checkEmbeddings(vectors, { id, count: texts.length, dimension: embedder.dimension });
    },
  };
}

/** The same for a model object (`openai.embedding`) and for the string that names it. */
function modelId({ provider, modelId: name }: EmbeddingModel): string {
  return `${provider.split('.', 1)[0]}/${name}`;
}

/** Requests in flight at once, of all calls of one embedder, where the model allows more than one. */
const maxParallelCalls = 4;
/**
 * In UTF-8. A token is at least one byte, so no request exceeds the 300,000 tokens that OpenAI allows. A text that is longer on
 * its own is sent alone.
 */
const maxBytesPerCall = 300_000;

interface Call {
  readonly signal: AbortSignal;
  readonly event: EmbeddingTraceEvent | undefined;
  /** Length of the vectors of the first response. */
  dimension: number | undefined;
}

/** Creates an embedder over an AI SDK embedding model of any major version. */
function createModelEmbedder(
  name: string,
  resolveModel: () => EmbeddingModel | Promise<EmbeddingModel>,
  options: ModelEmbedderOptions,
): Embedder {
  const { providerOptions, maxRetries, rateLimit, pricePerMillion, prefixes } = options;
  const { maxInputTokens = publishedInputTokens(name) } = options;
  const id = prefixes ? `${name} ${canonicalJson(prefixes)}` : name;
  const limiter = rateLimit && createRateLimiter(rateLimit);
  let dimension: number | undefined;
  let requests = 0;
  let tokens = 0;
  let cut = 0;
  /** Shared by all calls. */
  let limit: Limit | undefined;

  async function embedBatch(model: EmbeddingModel, values: string[], common: Call): Promise<Float32Array[]> {
    const { signal, event } = common;
    const call = { values, abortSignal: signal, providerOptions };
    const request = async (): Promise<Embeddings> => {
      await limiter?.wait(values, signal);
      return model.doEmbed(call);
    };
    const { embeddings, usage } = await retry(request, { maxRetries, signal });
    requests += 1;
    tokens += usage?.tokens ?? 0;
    if (usage && maxInputTokens !== undefined) cut += countCut(values, usage.tokens, maxInputTokens);
    if (event && usage) event.inputTokens = (event.inputTokens ?? 0) + usage.tokens;
    const vectors = checkEmbeddings(embeddings, { id, count: values.length, dimension: common.dimension });
    common.dimension ??= vectors[0]?.length;
    return vectors;
  }

  async function embedTexts(
    texts: readonly string[],
    signal: AbortSignal | undefined,
    event: EmbeddingTraceEvent | undefined,
  ): Promise<Float32Array[]> {
    signal?.throwIfAborted();
    if (texts.length === 0) return [];
    const stop = new AbortController();
    try {
      const model = await resolveModel();
      const batches = split(texts, await model.maxEmbeddingsPerCall, limiter);
      const isParallel = await model.supportsParallelCalls;
      const run = (limit ??= createLimit(isParallel ? maxParallelCalls : 1));
      const call: Call = { signal: stop.signal, event, dimension: undefined };
      const embedAll = (): Promise<Float32Array[][]> =>
        Promise.all(batches.map((batch) => run(() => embedBatch(model, batch, call))));
      const vectors = (await untilAborted(embedAll, signal)).flat();
      // A later call can have another dimension than a wrong first one. An index compares them with its own.
      dimension = call.dimension;
      return vectors;
    } catch (error) {
      // No further request starts, and the running ones are canceled: after an error, and when the caller aborts.
      stop.abort(error);
      signal?.throwIfAborted();
      if (isQuiverError(error)) throw error;
      throw new QuiverError(
        'EMBEDDING_FAILED',
        `The embedding model ${id} failed: ${toErrorMessage(error)}${adviceFor(error, texts)}`,
        { cause: error },
      );
    }
  }

  return {
    id,
    get dimension(): number | undefined {
      return dimension;
    },
    get usage(): EmbeddingUsage {
      const cost = pricePerMillion === undefined ? {} : { cost: (tokens * pricePerMillion) / 1e6 };
      return { requests, tokens, ...cost, ...(cut > 0 && { cut }) };
    },
    maxInputTokens: maxInputTokens && maxInputTokens - Math.ceil(mostTokens(prefixes?.document ?? '')),
    embed(given, { signal, purpose }: EmbedOptions = {}) {
      const prefix = (purpose && prefixes?.[purpose]) ?? '';
      const texts = prefix === '' ? given : given.map((text) => prefix + text);
      return traceEmbedding(id, texts, (event) => embedTexts(texts, signal, event));
    },
  };
}

/**
 * Returns how many texts have more tokens than the model reads. It reports those of all texts together; each has its share by the
 * estimate, which the report corrects.
 */
function countCut(texts: readonly string[], reported: number, maxInputTokens: number): number {
  const estimates = texts.map(mostTokens);
  const correction = reported / estimates.reduce((sum, tokens) => sum + tokens, 0);
  return estimates.filter((tokens) => tokens * correction >= maxInputTokens).length;
}

/** Status codes of requests that a provider refuses, such as those with a text that is too long. */
const refusals: ReadonlySet<unknown> = new Set([400, 413, 422]);

/** Returns a sentence for a refused request: the longest of its texts is the first suspect. */
function adviceFor(error: unknown, texts: readonly string[]): string {
  if (!refusals.has((error as { statusCode?: unknown } | null)?.statusCode)) return '';
  const longest = texts.reduce((most, text) => (text.length > most.length ? text : most), '');
  return ` If a text is too long for the model: the longest has ${longest.length} characters and begins with ${JSON.stringify(longest.slice(0, 80))}. State the limit, toEmbedder(model, { maxInputTokens }), and ingest() embeds longer texts in several parts.`;
}

/** Returns batches of as many texts as the model accepts and one minute allows, by number and by size. */
function split(texts: readonly string[], maxTexts: number | undefined, limiter: RateLimiter | undefined): string[][] {
  const count = typeof maxTexts === 'number' && maxTexts >= 1 ? Math.floor(maxTexts) : texts.length;
  const encoder = new TextEncoder();
  const batches = partsOf(texts, count, { sizeOf: (text) => encoder.encode(text).length, maxSize: maxBytesPerCall });
  if (!limiter || limiter.maxTokens === Infinity) return batches;
  const limits = { sizeOf: (text: string) => limiter.countTokens(text), maxSize: limiter.maxTokens };
  return batches.flatMap((batch) => partsOf(batch, count, limits));
}

interface Embeddings {
  readonly embeddings: unknown;
  readonly usage?: { readonly tokens: number } | undefined;
}
