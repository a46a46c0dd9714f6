import { rankedDepth } from '../store/depths.js';
import type { VectorMatch } from '../store/vector-store.js';
import type { Question, QuestionMatches } from './question.js';

/** Weight of a line or sentence, where what is above the text has 1. Decision 0180 has its origin. */
const lineWeight = 0.6;

/**
 * Ranks the candidates of a search again, by how much of the query is above the text (title, source, headings), and how much of the rest
 * is in one line or sentence of it: a long text with one line that answers is not worse than a short one.
 *
 * Three letters count more, the fewer candidates contain them. Nothing but the candidates is read, so that every store gives the same order for
 * the same candidates.
 *
 * @param matches - best first
 * @param depth - number of candidates: the matches after them stay behind. Default 20
 * @returns the same matches, best first, with new scores from 0 to 1
 */
export function rankCandidates<Match extends VectorMatch>(
  question: Question,
  matches: readonly Match[],
  depth: number = rankedDepth,
): Match[] {
  const found = matches.slice(0, depth).map((match) => question.findIn(match));
  const rarities = raritiesAmong(found, question.size);
  const total = rarities.reduce((sum, rarity) => sum + rarity, 0) || 1;
  const shareOf = (numbers: readonly number[]): number =>
    numbers.reduce((sum, number) => sum + (rarities[number] as number), 0) / total;
  const largest = matches[0]?.score ?? 0;
  const ranked = matches.map((match, place) => {
    const { above = [], lines = [] } = found[place] ?? {};
    const line = lines.reduce((most, each) => Math.max(most, shareOf(each)), 0);
    // A sum of all shares can exceed 1 by rounding, and a score above 1 is an invalid result of a query tool.
    const score = match.score + largest * Math.min(1, shareOf(above) + lineWeight * line);
    return { ...match, score: score / 2 };
  });
  const first = ranked.slice(0, depth).toSorted((a, b) => b.score - a.score);
  return [...first, ...ranked.slice(depth)];
}

function raritiesAmong(found: readonly QuestionMatches[], size: number): number[] {
  const frequencies = new Uint32Array(size);
  /** Candidate that contained a trigram last, plus 1. */
  const last = new Uint32Array(size);
  for (const [place, { above, lines }] of found.entries()) {
    for (const numbers of [above, ...lines]) {
      for (const number of numbers) {
        if (last[number] === place + 1) continue;
        last[number] = place + 1;
        (frequencies[number] as number) += 1;
      }
    }
  }
  return Array.from(frequencies, (frequency) => Math.log(1 + (found.length + 1) / (frequency + 0.5)));
}
