import { keywordText } from '../../store/check-arguments.js';
import type { VectorRecord } from '../../store/vector-store.js';
import { loadAnalyzer } from './term-analyzer.js';

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
  return records.map((record) => {
    const text = keywordText(record);
    return analyzer.toTerms(text, analyzer.languageOf(text, record.metadata['language']));
  });
}

/**
 * Returns the different terms of a query.
 *
 * @throws `VECTOR_ARGUMENT_INVALID` for an id of another version of this package
 */
export async function queryTerms(analyzerId: string | undefined, queryText: string): Promise<string[]> {
  const analyzer = await loadAnalyzer(analyzerId);
  return [...new Set(analyzer.toQueryTerms(queryText, []))];
}
