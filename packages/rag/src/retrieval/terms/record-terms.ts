import { keywordText } from '../../store/check-arguments.js';
import type { VectorRecord } from '../../store/vector-store.js';
import { loadAnalyzer, toQueryTerms } from './term-analyzer.js';

/**
 * Returns the terms of each record, in order, for databases that rank by terms.
 *
 * @throws `VECTOR_ARGUMENT_INVALID` for an id of another version of this package
 */
export async function recordTerms(
  analyzerId: string | undefined,
  records: readonly Pick<VectorRecord, 'document' | 'metadata'>[],
): Promise<string[][]> {
  const analyzer = await loadAnalyzer(analyzerId);
  const texts = records.map((record) => {
    const text = keywordText(record);
    return { text, language: analyzer.languageOf(text, record.metadata['language']) };
  });
  await analyzer.load(texts.map(({ language }) => language));
  return texts.map(({ text, language }) => analyzer.toTerms(text, language));
}

/**
 * Returns the different terms of a query.
 *
 * @throws `VECTOR_ARGUMENT_INVALID` for an id of another version of this package
 */
export async function queryTerms(analyzerId: string | undefined, queryText: string): Promise<string[]> {
  return [...new Set(await toQueryTerms(queryText, await loadAnalyzer(analyzerId)))];
}
