import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { chunkIdOf } from '../document/metadata-keys.js';
import { diverseDepth, findDifferent, fusedDepth } from './depths.js';
import { defaultTopK } from './options.js';
import { fuseScores } from './score-fusion.js';
import type { QueryMode, QueryParams, VectorMatch, VectorRecord, VectorStoreCapabilities } from './vector-store.js';

/** A search by vectors. */
export interface VectorSearch {
  readonly mode: 'vector';
  /** Its length and numbers are not checked yet: see `toVector`. */
  readonly queryVector: ArrayLike<number>;
  /** Number of results to find; larger than `topK` when diverse results are selected among them. */
  readonly limit: number;
  /** Whether the results must carry their vectors. */
  readonly includeVector: boolean;
}

/** A search by words. */
export interface KeywordSearch extends Pick<VectorSearch, 'limit' | 'includeVector'> {
  readonly mode: 'keyword';
  /** Not empty. */
  readonly queryText: string;
}

/** A record, and what a database states of it: larger is better. */
export interface FoundRecord {
  /** Cosine similarity; negative squared distance; dot product; relevance of the keywords. */
  readonly similarity: number;
  readonly record: VectorRecord;
}

/** A query after it was checked, with its defaults. */
export interface Search extends Omit<VectorSearch, 'mode'>, Omit<KeywordSearch, 'mode'> {
  readonly mode: QueryMode;
  readonly fusion: { readonly vector: number; readonly keyword: number };
  /** Selects diverse results at the end. */
  readonly mmr: { readonly lambda: number; readonly topK: number; readonly includeVector: boolean } | undefined;
}

/**
 * Checks that the parameters of a query, which have valid values, fit together.
 *
 * @throws `VECTOR_QUERY_UNSUPPORTED` for a mode that the store does not have; `OPTIONS_INVALID`
 */
export function parseSearch(
  params: QueryParams,
  store: { readonly name: string; readonly capabilities: VectorStoreCapabilities },
): Search {
  const { mode = 'vector', includeVector = false, topK = defaultTopK, queryVector, queryText, mmr } = params;
  requireMode(mode, store);
  const { lambda = 0.5, candidates = diverseDepth(topK) } = mmr ?? {};
  if (mmr && candidates < topK)
    throw invalidOptions(`mmr.candidates must be an integer of at least topK (${topK}), not ${candidates}.`);
  const hasVector = typeof queryVector === 'object' && queryVector !== null;
  const hasText = typeof queryText === 'string' && queryText.trim() !== '';
  if (mode !== 'keyword' && !hasVector)
    throw invalidOptions(`A query in the mode '${mode}' needs queryVector, the embedding of the query.`);
  if (mode !== 'vector' && !hasText) throw invalidOptions(`A query in the mode '${mode}' needs queryText.`);
  const { vector = 1, keyword = 1 } = params.fusion ?? {};
  if (mode === 'hybrid' && vector + keyword === 0)
    throw invalidOptions('At least one weight of fusion must be above 0.');
  return {
    mode,
    // Checked above, as far as the mode needs them.
    queryVector: queryVector as ArrayLike<number>,
    queryText: queryText as string,
    limit: mmr ? candidates : topK,
    includeVector: includeVector || mmr !== undefined,
    fusion: { vector, keyword },
    mmr: mmr && { lambda, topK, includeVector },
  };
}

function requireMode(mode: QueryMode, { name, capabilities }: Parameters<typeof parseSearch>[1]): void {
  if (capabilities.modes.includes(mode)) return;
  throw new QuiverError(
    'VECTOR_QUERY_UNSUPPORTED',
    `${name} cannot search in the mode '${mode}'; it knows: ${capabilities.modes.join(', ')}.`,
    { details: { mode, modes: capabilities.modes } },
  );
}

/** Selects diverse results, if they were requested. */
export function selectDiverse({ mmr }: Search, found: VectorMatch[]): VectorMatch[] {
  if (!mmr) return found;
  const chosen = maximalMarginalRelevance(found, mmr);
  if (!mmr.includeVector) for (const match of chosen) delete match.vector;
  return chosen;
}

/**
 * Runs a search in an index; fuses both lists of a hybrid search.
 *
 * @param find - returns the best `limit` records, best first, with their vectors if `includeVector` is set
 * @param toScore - score of a similarity. A fusion compares the similarities themselves, so that the scores of stores do not decide its order
 */
export async function runSearch(
  { mode: wanted, fusion, limit, mmr: _mmr, ...search }: Search,
  find: (search: VectorSearch | KeywordSearch) => Promise<FoundRecord[]>,
  toScore: (mode: 'vector' | 'keyword', similarity: number, best: number) => number,
): Promise<VectorMatch[]> {
  if (wanted !== 'hybrid') {
    const found = await find({ ...search, limit, mode: wanted });
    const best = found[0]?.similarity ?? 0;
    return rateDistances(wanted, found).map(({ record, similarity, ...rated }) => {
      return { ...record, ...rated, score: toScore(wanted, similarity, best) };
    });
  }
  const rankings = (['vector', 'keyword'] as const).map(async (mode) => {
    const part = { ...search, mode, limit: Math.max(limit, fusedDepth) };
    const found = fusion[mode] === 0 ? [] : await findChunks(part, find);
    const matches = rateDistances(mode, found).map(({ record, similarity, ...rated }) => {
      return { id: chunkIdOf(record), score: similarity, foundBy: [mode], record, ...rated };
    });
    return { matches, mode, weight: fusion[mode] };
  });
  const fused = fuseScores<Omit<VectorMatch, 'metadata'> & { record: VectorRecord }>(await Promise.all(rankings));
  return fused.slice(0, limit).map(({ id: _chunkId, record, ...scored }) => ({ ...record, ...scored }));
}

/**
 * Adds their lead to the first records of a search by vectors. The largest similarities of a query with texts that do not answer it fall by
 * about the same amount each time that the rank doubles.
 */
function rateDistances(
  mode: 'vector' | 'keyword',
  found: readonly FoundRecord[],
): (FoundRecord & Pick<VectorMatch, 'standsOut'>)[] {
  if (mode !== 'vector') return [...found];
  const chunks = new Map(found.toReversed().map(({ record, similarity }) => [chunkIdOf(record), similarity]));
  const similarities = [...chunks.values()].toSorted((a, b) => b - a);
  const [tenth = 0, twentieth = 0, fortieth] = [10, 20, 40].map((rank) => similarities[rank - 1]);
  if (fortieth === undefined) return [...found];
  const unit = Math.max(tenth - twentieth, twentieth - fortieth);
  return found.map((one) => {
    const standsOut = (one.similarity - twentieth) / unit;
    return standsOut > 0 && Number.isFinite(standsOut) ? { ...one, standsOut } : one;
  });
}

/** Returns the best record of each chunk. The limit counts chunks, which have one place however many of their vectors are near. */
function findChunks(part: VectorSearch | KeywordSearch, find: Parameters<typeof runSearch>[1]): Promise<FoundRecord[]> {
  return findDifferent(part.limit, part.limit, async (limit) => {
    const found = await find({ ...part, limit });
    const seen = new Set<string>();
    const results = found.filter(({ record }) => seen.size < seen.add(chunkIdOf(record)).size);
    return { results, isLast: found.length < limit };
  });
}

/**
 * Chooses results one after another, each time the one with the largest `λ · score − (1 − λ) · similarity`, where similarity is the
 * cosine to the nearest result chosen before. Where that is equal, the earlier candidate wins; scores stay unchanged.
 *
 * @param options.lambda - 1 looks at relevance alone, 0 at difference alone
 * @param candidates - best first; a candidate without a vector, or with a vector of zeros, is not similar to any other
 * @see Carbonell and Goldstein: The use of MMR, diversity-based reranking. SIGIR 1998. https://doi.org/10.1145/290941.291025
 */
export function maximalMarginalRelevance<
  Candidate extends { readonly score: number; readonly vector?: ArrayLike<number> },
>(candidates: readonly Candidate[], { lambda, topK }: { lambda: number; topK: number }): Candidate[] {
  const left = candidates.map((candidate) => ({
    candidate,
    direction: toDirection(candidate.vector),
    /** Similarity to the nearest result chosen so far; unknown before the first. */
    nearest: Number.NEGATIVE_INFINITY,
  }));
  const chosen: Candidate[] = [];
  while (chosen.length < topK && left.length > 0) {
    let best = 0;
    let bestValue = Number.NEGATIVE_INFINITY;
    for (const [position, { candidate, nearest }] of left.entries()) {
      const value = lambda * candidate.score - (chosen.length === 0 ? 0 : (1 - lambda) * nearest);
      if (value <= bestValue) continue;
      best = position;
      bestValue = value;
    }
    const [taken] = left.splice(best, 1) as [(typeof left)[number]];
    chosen.push(taken.candidate);
    for (const other of left) other.nearest = Math.max(other.nearest, similarity(taken.direction, other.direction));
  }
  return chosen;
}

function toDirection(vector: ArrayLike<number> | undefined): Float64Array | undefined {
  const direction = Float64Array.from(vector ?? []);
  const length = Math.sqrt(direction.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? undefined : direction.map((value) => value / length);
}

function similarity(a: Float64Array | undefined, b: Float64Array | undefined): number {
  if (!a || !b) return 0;
  let sum = 0;
  for (let position = 0; position < a.length; position += 1) sum += (a[position] as number) * (b[position] as number);
  return sum;
}
