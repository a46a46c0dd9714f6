import { queryTerms, recordTerms } from '../../words/record-terms.js';
import type { VectorRecord } from '../../store/vector-store.js';

/** Limits of a `tsvector`: bytes of a lexeme, and the largest position. */
const longestLexeme = 2046;
const largestPosition = 16_383;

/** Returns the terms of each record as `tsvector` in text form, which PostgreSQL stores unchanged. */
export async function recordTsvectors(
  analyzerId: string,
  records: readonly Pick<VectorRecord, 'document' | 'metadata'>[],
): Promise<string[]> {
  return (await recordTerms(analyzerId, records)).map(toTsvector);
}

/** Returns the different terms of a query that PostgreSQL can store, and their weights. */
export async function queryLexemes(
  analyzerId: string,
  queryText: string,
): Promise<[lexemes: string[], weights: number[]]> {
  const terms = (await queryTerms(analyzerId, queryText)).filter(([term]) => isLexeme(term));
  return [terms.map(([term]) => term), terms.map(([, weight]) => weight)];
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
  // Names such as “o'reilly#” contain an apostrophe.
  return Array.from(positions, ([term, list]) => `'${term.replaceAll("'", "''")}':${list.join(',')}`).join(' ');
}

function isLexeme(term: string): boolean {
  return term.length * 3 <= longestLexeme || Buffer.byteLength(term) <= longestLexeme;
}
