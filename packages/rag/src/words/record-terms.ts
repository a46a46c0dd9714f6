import { keywordText } from '../store/record-text.js';
import type { VectorRecord } from '../store/vector-store.js';
import { english } from './languages.js';
import { type QueryTerm, toQueryTerms } from './query-terms.js';
import { loadAnalyzer } from './term-analyzer.js';

/**
 * Returns the terms of each record, in order, for databases that rank by terms.
 *
 * @throws `OPTIONS_INVALID` for an id of another version of this package
 */
export async function recordTerms(
  analyzerId: string,
  records: readonly Pick<VectorRecord, 'document' | 'metadata'>[],
): Promise<string[][]> {
  const analyzer = await loadAnalyzer(analyzerId);
  const texts = records.map((record) => {
    const text = keywordText(record);
    const { shown, likely } = analyzer.languagesOf(text, record.metadata['language']);
    return { text, languages: shown ? [shown] : [...new Set([english, ...likely])] };
  });
  await analyzer.load(texts.flatMap(({ languages }) => languages));
  return texts.map(({ text, languages }) => analyzer.toTerms(text, languages));
}

/** A term of a query with its weight: its occurrences, less for words of questions. */
export type WeightedTerm = readonly [term: string, weight: number];

/** Words that questions have and texts rarely: their rarity means little, and not every database can limit it. */
const questionTermWeight = 0.3;

/**
 * Returns the different terms of a query.
 *
 * @throws `OPTIONS_INVALID` for an id of another version of this package
 */
export async function queryTerms(analyzerId: string, queryText: string): Promise<WeightedTerm[]> {
  return weighTerms(await toQueryTerms(queryText, await loadAnalyzer(analyzerId)));
}

export function weighTerms(terms: readonly QueryTerm[]): WeightedTerm[] {
  const weights = new Map<string, number>();
  for (const { forms, weight, isQuestionWord } of terms) {
    const own = weight * (isQuestionWord ? questionTermWeight : 1);
    for (const form of forms) weights.set(form, Math.max(own, weights.get(form) ?? 0));
  }
  return [...weights];
}

/**
 * Returns the terms of a query for a database without weights of terms: words of questions only if there are no others, and a term that
 * counts twice two times.
 *
 * @throws `OPTIONS_INVALID` for an id of another version of this package
 */
export async function plainQueryTerms(analyzerId: string, queryText: string): Promise<string[]> {
  const terms = await queryTerms(analyzerId, queryText);
  const content = terms.filter(([, weight]) => weight > questionTermWeight);
  return (content.length > 0 ? content : terms).flatMap(([term, weight]) =>
    Array.from({ length: Math.max(1, Math.floor(weight)) }, () => term),
  );
}
