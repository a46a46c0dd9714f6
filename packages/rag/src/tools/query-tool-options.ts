import {
  anyValue,
  booleanValue,
  eitherOf,
  oneOf,
  type OptionChecks,
  stringValue,
  valueThat,
  wholeNumber,
} from '@quiver/core/internal';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { EmbedderInput } from '../embedding/index.js';
import { expandValue, type PassageExpansion } from '../search/expand-passages.js';
import { rerankConfigValue, type RerankConfig } from '../search/rerank.js';
import { confidenceValue, mmrValue, fusionValue, modeValue, objectsByName, topKValue } from '../store/options.js';
import { trustedFilterChecks, type DatabaseConfig, type TrustedFilterOptions } from '../store/scope.js';
import type { MmrOptions, FusionWeights, QueryMode, VectorStore } from '../store/index.js';
import { fieldsValue } from '../filter/declared-fields.js';
import type { FilterFields } from './model-filter.js';

/** Chooses the store for a call, for example by the tenant in the request context. */
export type VectorStoreResolver = (options: {
  requestContext?: AnyRequestContext;
  /** Registry that the caller of the tool passed. */
  mastra?: unknown;
}) => VectorStore | Promise<VectorStore>;

/** Stores by name, for example a `Mastra` instance. */
export interface VectorStoreRegistry {
  /** Returns a `VectorStore`, or a promise of one. */
  getVector(name: string): unknown;
}

/** Options of `createVectorQueryTool()`. The filter of the request context and that of the model narrow `filter` and `scope` further. */
export interface VectorQueryToolOptions extends TrustedFilterOptions {
  /** Default `VectorQuery <vectorStoreName> <indexName> Tool`. */
  id?: string;
  /** Description of the tool for models. */
  description?: string;
  /** Index to search. */
  indexName: string;
  /** Embedder of the query; must be the one of the index. */
  model: EmbedderInput;
  /**
   * A store, a function that chooses one for each call, or a registry of stores by `vectorStoreName`. Default: the registry
   * `mastra` in the options of the call, or under that key in the request context.
   */
  vectorStore?: VectorStore | VectorStoreResolver | VectorStoreRegistry;
  /** Name of the store in a registry, and part of the default id. The request context overrides it. */
  vectorStoreName?: string;
  /** Vector search, keyword search, or both (`hybrid`). Default `vector`. A store without the mode throws. */
  mode?: QueryMode;
  /** Weights of the two rankings of `hybrid`. Default 1 each, or the recommendation of the embedder for its vectors. */
  fusion?: FusionWeights;
  /** Prefers passages that differ from each other. Default: the best passages. */
  mmr?: MmrOptions;
  /** Returns the sections or neighbors of the passages that match, merged where they touch. Default: the passages themselves. */
  expand?: PassageExpansion;
  /** Number of passages of a call that names none. Default 10, or `maxTopK` if that is less. */
  topK?: number;
  /** Largest number of passages that a call receives; larger requests are reduced to it. Default 50, or `topK` if that is more. */
  maxTopK?: number;
  /** Largest number of characters of a query. Default 8000. */
  maxQuestionLength?: number;
  /**
   * Leaves out passages with a lower `confidence`, from 0 to 1. A result without any passage has `nothingFound`, and `nearestTopics` if any are near, so that a
   * model can say that the documents do not answer the query. Default 0.
   */
  minConfidence?: number;
  /** Whether the model can filter by metadata. Default: whether `filterFields` is given. */
  enableFilter?: boolean;
  /**
   * Metadata fields for filters of the model, each with a description, or with a description, a type and values. A filter with another field or
   * type is an error that names the fields and their frequent values. `auto`: the fields of the index. Default with `enableFilter`: any field, unchecked.
   */
  filterFields?: FilterFields;
  /**
   * Largest number of tokens that a model receives of a result, at four bytes of UTF-8 per token. The last passages are left out or shortened
   * after a sentence, which a note at the end states; `sources` are complete. The header and first words of the first passage and the note always
   * remain: about 60 tokens. Default: any.
   */
  maxTokens?: number;
  /** Whether to return the passages as `sources` in addition to their text, which names their sources. Default `true`. */
  includeSources?: boolean;
  /** Whether to return the vectors of the sources. Default `false`. */
  includeVectors?: boolean;
  /** Settings of the store, by its name. */
  databaseConfig?: DatabaseConfig;
  /** Model that selects the passages among the best four times `topK` of the search, or sorts the `topK` passages of `mmr`. */
  reranker?: RerankConfig;
  /** Options of the embedding model. */
  providerOptions?: Record<string, Record<string, unknown>>;
}

/** Options of every query tool. In the mode `filter` there is no ranking. */
export interface QueryToolOptions extends Omit<VectorQueryToolOptions, 'mode'> {
  mode?: QueryMode | 'filter';
}

export function isRegistry(value: unknown): value is VectorStoreRegistry {
  return !isStore(value) && typeof (value as Partial<VectorStoreRegistry> | null | undefined)?.getVector === 'function';
}

export function isStore(value: unknown): value is VectorStore {
  const { query, listVectors } = (value ?? {}) as Partial<VectorStore>;
  return typeof query === 'function' || typeof listVectors === 'function';
}

/** Options that a tool that lists records does not have. */
export type RankingOption =
  | 'mode'
  | 'mmr'
  | 'reranker'
  | 'maxQuestionLength'
  | 'minConfidence'
  | 'fusion'
  | 'providerOptions';

/** Checks of the options of a tool that lists records. */
export const listToolChecks: OptionChecks<Omit<VectorQueryToolOptions, RankingOption>> = {
  vectorStore: valueThat(
    (value) => typeof value === 'function' || isStore(value) || isRegistry(value),
    'a vector store, a registry with getVector(name), or a function',
  ),
  vectorStoreName: stringValue,
  indexName: stringValue,
  model: anyValue,
  id: stringValue,
  description: stringValue,
  ...trustedFilterChecks,
  topK: topKValue,
  maxTopK: topKValue,
  enableFilter: booleanValue,
  filterFields: eitherOf("'auto', or an object of descriptions by field", oneOf('auto'), fieldsValue),
  expand: expandValue,
  maxTokens: wholeNumber(1),
  includeSources: booleanValue,
  includeVectors: booleanValue,
  databaseConfig: objectsByName,
};

/** Checks of the options that all tools for questions have. */
export const queryToolChecks: OptionChecks<Omit<VectorQueryToolOptions, 'mode' | 'mmr' | 'reranker'>> = {
  ...listToolChecks,
  maxQuestionLength: wholeNumber(1),
  minConfidence: confidenceValue,
  fusion: fusionValue,
  providerOptions: objectsByName,
};

/** Checks of the options of vector query tools. */
export const vectorQueryToolChecks: OptionChecks<VectorQueryToolOptions> = {
  ...queryToolChecks,
  mode: modeValue,
  mmr: mmrValue,
  reranker: rerankConfigValue,
};
