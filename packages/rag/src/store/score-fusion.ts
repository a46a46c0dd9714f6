import { fusedDepth } from './depths.js';
import type { QueryMode, VectorMatch } from './vector-store.js';

/** Results of one search, best first, with scores that may be any numbers. */
export interface Ranking<Match> {
  readonly matches: readonly Match[];
  readonly weight: number;
  /** A record without a term of the query has the keyword relevance 0, while every record has a similarity. */
  readonly mode: QueryMode;
}

/** Results behind the first one that it is compared with. */
const comparedWith = 10;
/** A ranking of fewer vectors counts less: in a small index, and behind a narrow filter, every record is a neighbor. */
const manyVectors = 20;

/**
 * Merges rankings by their scores. The first {@link fusedDepth} scores of each ranking are scaled to 0…1. A ranking counts by its weight times its
 * prominence, the distance of its first result from those behind it: a search that knows the answer ranks it far above other records. The
 * prominence of vectors is squared, because even vectors that mean nothing have a nearest one.
 * Results behind {@link fusedDepth} follow with the lowest score, so that the first ones do not depend on their number.
 *
 * @returns the matches of all rankings, best first, with scores up to 1, for the first result of every ranking that counts. Where keyword rankings are
 *   full, the lowest score is the share of the best relevance at which they end; otherwise 0
 * @see Bruch, Gai and Ingber: An Analysis of Fusion Functions for Hybrid Retrieval. ACM TOIS 42, 2023. https://doi.org/10.1145/3596512
 */
export function fuseScores<Match extends Pick<VectorMatch, 'id' | 'score' | 'foundBy'>>(
  rankings: readonly Ranking<Match>[],
): Match[] {
  const scaled = rankings.filter(({ weight }) => weight > 0).map(scale);
  const total = scaled.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const lowest = scaled.reduce((sum, { last, weight }) => sum + last * (weight / total), 0);
  const fused = new Map<string, { match: Match; rank: number }>();
  for (const { matches, scores, weight } of scaled) {
    for (const [rank, match] of matches.entries()) {
      const known = fused.get(match.id);
      // The sum of shares can exceed 1 by rounding, and a score above 1 is an invalid result of a query tool.
      const score = Math.min(1, (known?.match.score ?? lowest) + (1 - lowest) * (scores[rank] ?? 0) * (weight / total));
      const foundBy = [...new Set([...(known?.match.foundBy ?? []), ...(match.foundBy ?? [])])];
      const merged = { ...(known?.match ?? match), score, ...(foundBy.length > 0 && { foundBy }) };
      fused.set(match.id, { match: merged, rank: Math.min(rank, known?.rank ?? rank) });
    }
  }
  return [...fused.values()]
    .toSorted((a, b) => b.match.score - a.match.score || a.rank - b.rank || (a.match.id < b.match.id ? -1 : 1))
    .map(({ match }) => match);
}

/** Returns the scores that count, from 0 to 1; the weight, 0 where all are equal, which has no effect; and the share of the best at which they end. */
function scale<Match extends Pick<VectorMatch, 'score'>>({ matches, weight, mode }: Ranking<Match>) {
  const raw = matches.slice(0, fusedDepth).map(({ score }) => score);
  const numbers = raw.filter((score) => Number.isFinite(score));
  // A list that is not full contains every record with a word of the query.
  const floor = Math.min(...numbers, ...(mode !== 'vector' && raw.length < fusedDepth ? [0] : []));
  const best = Math.max(...numbers);
  if (!(best > floor)) return { matches, scores: [], last: 0, weight: 0 };
  const scores = raw.map((score) => Math.min(1, Math.max(0, (score - floor) / (best - floor))) || 0);
  const behind = scores.slice(1, 1 + comparedWith).reduce((sum, score) => sum + score, 0) / comparedWith;
  const prominence = Math.max(0, (scores[0] ?? 0) - behind);
  // Similarities have no natural 0.
  if (mode !== 'vector') return { matches, scores, last: Math.max(0, floor) / best || 0, weight: weight * prominence };
  return { matches, scores, last: 0, weight: weight * prominence ** 2 * Math.min(1, raw.length / manyVectors) };
}
