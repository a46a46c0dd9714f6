import { QuiverError } from '@quiver/core';
import { invalidArgument, largestTopK, requireTopK } from './check-arguments.js';
import type { QueryMode, QueryParams, VectorStoreCapabilities } from './vector-store.js';

/** A query after it was checked, with its defaults. */
export type Search = VectorSearch | KeywordSearch | HybridSearch;

interface CommonSearch {
  /** Results to find; more than were asked for where some of them are left out again to get different ones. */
  readonly limit: number;
  /** Whether the results must carry their vectors. */
  readonly includeVector: boolean;
}

export interface VectorSearch extends CommonSearch {
  readonly mode: 'vector';
  /** Its length and numbers are not checked yet: see `toVector`. */
  readonly queryVector: ArrayLike<number>;
}

export interface KeywordSearch extends CommonSearch {
  readonly mode: 'keyword';
  /** Not empty. */
  readonly queryText: string;
}

export interface HybridSearch extends CommonSearch {
  readonly mode: 'hybrid';
  readonly queryVector: ArrayLike<number>;
  readonly queryText: string;
  readonly fusion: { readonly vector: number; readonly keyword: number };
}

/** What is done with the results that a search found. */
export interface Choice {
  /** Results wanted. */
  readonly topK: number;
  readonly includeVector: boolean;
  readonly lambda: number | undefined;
}

/** The store that is asked. */
export interface SearchedStore<Mode extends QueryMode = QueryMode> {
  /** For messages. */
  readonly name: string;
  readonly capabilities: VectorStoreCapabilities<Mode>;
}

const modes: readonly QueryMode[] = ['vector', 'keyword', 'hybrid'];

/**
 * Checks a query before anything is sent anywhere.
 *
 * @throws `VECTOR_QUERY_UNSUPPORTED` for a mode that the store does not have; `VECTOR_ARGUMENT_INVALID`
 */
export function parseSearch(params: QueryParams, store: SearchedStore): { search: Search; choice: Choice } {
  const { mode = 'vector', includeVector = false } = params;
  requireMode(mode, store);
  const topK = requireTopK(params.topK ?? 10);
  const diversity = params.diversity && parseDiversity(params.diversity, topK);
  const choice = { topK, includeVector, lambda: diversity?.lambda };
  const common = { limit: diversity?.candidates ?? topK, includeVector: includeVector || diversity !== undefined };
  switch (mode) {
    case 'vector':
      return { choice, search: { mode, ...common, queryVector: requireVector(params, mode) } };
    case 'keyword':
      return { choice, search: { mode, ...common, queryText: requireText(params, mode) } };
    case 'hybrid':
      return {
        choice,
        search: {
          mode,
          ...common,
          queryVector: requireVector(params, mode),
          queryText: requireText(params, mode),
          fusion: parseWeights(params.fusion ?? {}),
        },
      };
  }
}

function requireMode(mode: QueryMode, { name, capabilities }: SearchedStore): void {
  if (!modes.includes(mode)) throw invalidArgument(`Unknown mode '${String(mode)}'; known: ${modes.join(', ')}.`);
  if (capabilities.modes.includes(mode)) return;
  throw new QuiverError(
    'VECTOR_QUERY_UNSUPPORTED',
    `${name} cannot search in the mode '${mode}'; it knows: ${capabilities.modes.join(', ')}.`,
    { details: { mode, modes: capabilities.modes } },
  );
}

function requireVector({ queryVector }: QueryParams, mode: QueryMode): ArrayLike<number> {
  if (queryVector !== undefined && typeof queryVector === 'object' && queryVector !== null) return queryVector;
  throw invalidArgument(`A query in the mode '${mode}' needs queryVector, the embedding of the question.`);
}

function requireText({ queryText }: QueryParams, mode: QueryMode): string {
  if (typeof queryText === 'string' && queryText.trim() !== '') return queryText;
  throw invalidArgument(`A query in the mode '${mode}' needs queryText, the question in words.`);
}

function parseWeights({ vector = 1, keyword = 1 }: NonNullable<QueryParams['fusion']>): HybridSearch['fusion'] {
  for (const [name, weight] of Object.entries({ vector, keyword })) {
    if (!Number.isFinite(weight) || weight < 0)
      throw invalidArgument(`fusion.${name} must be a number of at least 0, not ${String(weight)}.`);
  }
  if (vector + keyword === 0) throw invalidArgument('At least one weight of fusion must be above 0.');
  return { vector, keyword };
}

function parseDiversity(
  { lambda = 0.5, candidates }: NonNullable<QueryParams['diversity']>,
  topK: number,
): { lambda: number; candidates: number } {
  if (!(lambda >= 0 && lambda <= 1))
    throw invalidArgument(`diversity.lambda must be a number from 0 to 1, not ${String(lambda)}.`);
  if (candidates === undefined) return { lambda, candidates: Math.min(largestTopK, Math.max(20, 4 * topK)) };
  requireTopK(candidates, 'diversity.candidates');
  if (candidates < topK)
    throw invalidArgument(
      `diversity.candidates must be an integer of at least topK (${topK}), not ${String(candidates)}.`,
    );
  return { lambda, candidates };
}
