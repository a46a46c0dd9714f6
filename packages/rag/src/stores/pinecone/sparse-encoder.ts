import { contentHash } from '../../document/content-hash.js';
import { lexicalTerms } from '../../retrieval/lexical-terms.js';
import type { SparseVector } from './pinecone-client.js';

/** Turns texts into the weights of their words. */
export interface SparseEncoder {
  /** For a text that is stored; `undefined` for one without words. */
  encodeDocument(text: string): SparseVector | undefined;
  /** For a query; `undefined` for one without terms. */
  encodeQuery(text: string): SparseVector | undefined;
}

export interface LexicalSparseEncoderOptions {
  /** Words of a text of usual length. Default 100. */
  averageLength?: number;
}

/** The constants of BM25. */
const k1 = 1.2;
const b = 0.75;

/**
 * Weights of words as in BM25, without a model and without a look at other texts: in a text, `tf / (tf + k1 · (1 − b + b · length /
 * averageLength))`, below 1; in a query, the number of occurrences. The rarity of a word, which BM25 includes, would change with
 * every stored text. Words become numbers by a hash of 32 bits.
 *
 * @see Robertson and Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond. 2009. https://doi.org/10.1561/1500000019
 */
export function createLexicalSparseEncoder({ averageLength = 100 }: LexicalSparseEncoderOptions = {}): SparseEncoder {
  return {
    encodeDocument: (text) =>
      encode(text, (count, length) => count / (count + k1 * (1 - b + (b * length) / averageLength))),
    encodeQuery: (text) => encode(text, (count) => count),
  };
}

function encode(text: string, weigh: (count: number, length: number) => number): SparseVector | undefined {
  const counts = new Map<number, number>();
  const terms = lexicalTerms(text);
  for (const term of terms) {
    const index = Number.parseInt(contentHash(term).slice(0, 8), 16);
    counts.set(index, (counts.get(index) ?? 0) + 1);
  }
  if (counts.size === 0) return undefined;
  return { indices: [...counts.keys()], values: [...counts.values()].map((count) => weigh(count, terms.length)) };
}
