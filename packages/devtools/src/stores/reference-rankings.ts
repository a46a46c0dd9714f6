import { englishAnalysis, termsOf } from '@quiver/rag/internal';

/** BM25 by its definition, text by text: what `keywordRanking: 'bm25'` promises. Ids of the texts that share a term, best first. */
export function referenceBm25(texts: ReadonlyMap<string, string>, question: string): { id: string; score: number }[] {
  const documents = [...texts].map(([id, text]) => ({ id, terms: termsOf(text, englishAnalysis()) }));
  const averageLength = documents.reduce((sum, { terms }) => sum + terms.length, 0) / documents.length;
  const wanted = termsOf(question, englishAnalysis());
  const weightOf = (term: string): number => {
    const frequency = documents.filter(({ terms }) => terms.includes(term)).length;
    return Math.log(1 + (documents.length - frequency + 0.5) / (frequency + 0.5));
  };
  const largest = wanted.reduce((sum, term) => sum + weightOf(term) * 2.2, 0);
  return documents
    .map(({ id, terms }) => {
      let sum = 0;
      // The same term twice counts twice, in one addition: sums of equal texts stay equal.
      for (const term of new Set(wanted)) {
        const count = terms.filter((other) => other === term).length;
        const times = wanted.filter((other) => other === term).length;
        sum += (times * weightOf(term) * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * terms.length) / averageLength));
      }
      return { id, score: sum / largest };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

/** Maximal marginal relevance by its definition, for vectors other than zero. @param results - best first */
export function referenceDiversity<Result extends { score: number; vector?: readonly number[] }>(
  results: readonly Result[],
  { lambda, topK }: { lambda: number; topK: number },
): Result[] {
  const chosen: Result[] = [];
  const valueOf = ({ score, vector = [] }: Result): number =>
    lambda * score - (1 - lambda) * Math.max(...chosen.map((other) => cosine(vector, other.vector ?? [])));
  while (chosen.length < topK) {
    const left = results.filter((result) => !chosen.includes(result));
    chosen.push(
      chosen.length === 0 ? left[0]! : left.reduce((best, next) => (valueOf(next) > valueOf(best) ? next : best)),
    );
  }
  return chosen;
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (one: readonly number[], other: readonly number[]): number =>
    one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
