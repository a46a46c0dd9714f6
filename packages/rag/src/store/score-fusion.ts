import type { QueryMode, VectorMatch } from './vector-store.js';

/** Results of one search, best first, and how much they count. */
export interface Ranking<Match> {
  /** Their scores are raw: larger is better, and any number. */
  readonly matches: readonly Match[];
  readonly weight: number;
  /** A record without a word of the query has the keyword relevance 0, while every record has a similarity. */
  readonly mode: QueryMode;
}

/** Number of the first results of each ranking that count. A search for a fusion finds at least so many. */
export const fusedDepth = 40;
/** Results behind the first one that it is compared with. */
const comparedWith = 10;
/** A ranking of fewer vectors counts less: in a small index, and behind a narrow filter, every record is a neighbor. */
const manyVectors = 20;

/**
 * Merges rankings by their scores. The first {@link fusedDepth} scores of each ranking are scaled to 0…1. A ranking counts by its weight times its
 * prominence, the distance of its first result from those behind it: a search that knows the answer ranks it far above other records. The
 * prominence of vectors is squared, because even vectors that mean nothing have a nearest one.
 *
 * A result does not depend on the number of results behind {@link fusedDepth}: these follow in their order with the score 0. Equal scores are ordered
 * by rank and by id.
 *
 * @returns the matches of all rankings, best first, with scores from 0 to 1: 1 for the first result of every ranking that counts
 * @see Bruch, Gai and Ingber: An Analysis of Fusion Functions for Hybrid Retrieval. ACM TOIS 42, 2023. https://doi.org/10.1145/3596512
 */
export function fuseScores<Match extends Pick<VectorMatch, 'id' | 'score' | 'foundBy'>>(
  rankings: readonly Ranking<Match>[],
): Match[] {
  const scaled = rankings.filter(({ weight }) => weight > 0).map(scale);
  const total = scaled.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const fused = new Map<string, { match: Match; rank: number }>();
  for (const { matches, scores, weight } of scaled) {
    for (const [rank, match] of matches.entries()) {
      const known = fused.get(match.id);
      const score = (known?.match.score ?? 0) + ((scores[rank] ?? 0) * weight) / total;
      const foundBy = [...new Set([...(known?.match.foundBy ?? []), ...(match.foundBy ?? [])])];
      const merged = { ...(known?.match ?? match), score, ...(foundBy.length > 0 && { foundBy }) };
      fused.set(match.id, { match: merged, rank: Math.min(rank, known?.rank ?? rank) });
    }
  }
  return [...fused.values()]
    .toSorted((a, b) => b.match.score - a.match.score || a.rank - b.rank || (a.match.id < b.match.id ? -1 : 1))
    .map(({ match }) => match);
}

/** Returns the scores that count from 0 to 1, and the weight of the ranking: 0 where all scores are equal, which says nothing. */
function scale<Match extends Pick<VectorMatch, 'score'>>({
  matches,
  weight,
  mode,
}: Ranking<Match>): {
  matches: readonly Match[];
  scores: number[];
  weight: number;
} {
  const raw = matches.slice(0, fusedDepth).map(({ score }) => score);
  const numbers = raw.filter((score) => Number.isFinite(score));
  // A list that is not full contains every record with a word of the query.
  const floor = Math.min(...numbers, ...(mode !== 'vector' && raw.length < fusedDepth ? [0] : []));
  const width = Math.max(...numbers) - floor;
  const toShare = (score: number): number => Math.min(1, Math.max(0, (score - floor) / width)) || 0;
  const scores = width > 0 ? raw.map(toShare) : [];
  const behind = scores.slice(1, 1 + comparedWith).reduce((sum, score) => sum + score, 0) / comparedWith;
  const prominence = Math.max(0, (scores[0] ?? 0) - behind);
  const share = mode === 'vector' ? prominence * Math.min(1, raw.length / manyVectors) : 1;
  return { matches, scores, weight: weight * prominence * share };
}
