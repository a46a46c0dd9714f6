import type { RelevanceScorer } from '@quiver/rag';

/** Scores a passage by the share of the query's words that it contains, weighted by their length. Needs no model. */
export const wordOverlap: RelevanceScorer = {
  async getRelevanceScore(question, passage) {
    const found = wordsOf(passage);
    let total = 0;
    let matched = 0;
    for (const word of wordsOf(question)) {
      total += word.length;
      if (found.has(word)) matched += word.length;
    }
    return total === 0 ? 0 : matched / total;
  },
};

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu));
}
