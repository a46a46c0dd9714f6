import { loadAnalyzer } from '../../retrieval/terms/term-analyzer.js';
import { keywordText } from '../../store/check-arguments.js';
import type { VectorRecord } from '../../store/vector-store.js';

/** Limits of a `tsvector`: bytes of a lexeme, and the largest position. */
const longestLexeme = 2046;
const largestPosition = 16_383;

/** Returns the terms of each record as `tsvector` in text form, which PostgreSQL stores unchanged. */
export async function recordTerms(
  analyzerId: string,
  records: readonly Pick<VectorRecord, 'document' | 'metadata'>[],
): Promise<string[]> {
  const analyzer = await loadAnalyzer(analyzerId);
  return records.map((record) => {
    const text = keywordText(record);
    return toTsvector(analyzer.toTerms(text, analyzer.languageOf(text, record.metadata['language'])));
  });
}

/** Returns the different terms of a query. */
export async function queryTerms(analyzerId: string, queryText: string): Promise<string[]> {
  const analyzer = await loadAnalyzer(analyzerId);
  return [...new Set(analyzer.toQueryTerms(queryText, []))].filter(isLexeme);
}

function toTsvector(terms: readonly string[]): string {
  const positions = new Map<string, number[]>();
  for (const [place, term] of terms.entries()) {
    if (!isLexeme(term)) continue;
    const position = Math.min(place + 1, largestPosition);
    const list = positions.get(term);
    if (list) list.push(position);
    else positions.set(term, [position]);
  }
  // Terms consist of letters, digits and a few signs; none of them ends a quoted lexeme.
  return Array.from(positions, ([term, list]) => `'${term}':${list.join(',')}`).join(' ');
}

function isLexeme(term: string): boolean {
  return term.length * 3 <= longestLexeme || Buffer.byteLength(term) <= longestLexeme;
}
