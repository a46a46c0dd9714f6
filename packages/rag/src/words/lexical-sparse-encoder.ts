import { wordHash } from '../document/content-hash.js';
import { englishAnalysis, isFunctionTerm, termsOf } from './analysis.js';
import { english } from './languages.js';
import { queryTermsIn } from './query-terms.js';
import { type WeightedTerm, weighTerms } from './record-terms.js';

/** The non-zero numbers of a vector with very many dimensions, such as the weights of words. */
export interface SparseVector {
  indices: number[];
  values: number[];
}

/** Turns texts into the weights of their words. */
export interface SparseEncoder {
  /** For a text that is stored; `undefined` for one without words. */
  encodeDocument(text: string): SparseVector | undefined;
  /** For a query; `undefined` for one without terms. */
  encodeQuery(text: string): SparseVector | undefined;
}

const k1 = 1.2;
const b = 0.75;
/** Words of a text of usual length. */
const averageLength = 100;

/**
 * Weights of words as in BM25, without a model and without a look at other texts: in a text, `tf / (tf + k1 · (1 − b + b · length /
 * averageLength))`, below 1; in a query, the number of occurrences, and
 * less for words that questions often have, such as “please”. The rarity of a word, which BM25 includes, would change with
 * every stored text. Words become numbers by a hash of 32 bits.
 *
 * @see Robertson and Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond. 2009. https://doi.org/10.1561/1500000019
 *
 * @example
 * const store = new PineconeVector({ apiKey: 'key', sparseEncoder: createLexicalSparseEncoder() });
 */
export function createLexicalSparseEncoder(): SparseEncoder {
  return {
    encodeDocument: (text) => weighDocumentTerms(termsOf(text, englishAnalysis())),
    encodeQuery: (text) => toSparseVector(weighTerms(queryTermsIn(text, [english]))),
  };
}

/** Returns the weights of the terms of a stored text; `undefined` without terms. */
export function weighDocumentTerms(terms: readonly string[]): SparseVector | undefined {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const length = terms.filter((term) => !isFunctionTerm(term)).length;
  const norm = k1 * (1 - b + (b * length) / averageLength);
  return toSparseVector(Array.from(counts, ([term, count]) => [term, count / (count + norm)]));
}

/** Returns weighted terms as a vector; `undefined` without terms. */
export function toSparseVector(terms: readonly WeightedTerm[]): SparseVector | undefined {
  const weights = new Map<number, number>();
  for (const [term, weight] of terms) {
    const index = wordHash(term);
    weights.set(index, Math.max(weight, weights.get(index) ?? 0));
  }
  return weights.size === 0 ? undefined : { indices: [...weights.keys()], values: [...weights.values()] };
}
