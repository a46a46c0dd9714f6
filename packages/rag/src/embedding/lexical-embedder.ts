import { checkOptions, type OptionChecks, wholeNumber } from '@quiver/core/internal';
import { traceEmbedding } from './call-model.js';
import { lacksDirection } from '../store/checks.js';
import type { Embedder, EmbedOptions } from './embedder.js';
import { contentTermsOf, englishAnalysis } from '../words/analysis.js';

/** Options of `createLexicalEmbedder()`. */
export interface LexicalEmbedderOptions {
  /**
   * Length of the vectors. Default 1024, which finds nearly as much as 4096 at a quarter of the size; below 1024 too many words
   * share a place.
   */
  dimension?: number;
}

const defaultDimension = 1024;
const maxDimension = 65_536;
const checks: OptionChecks<LexicalEmbedderOptions> = { dimension: wholeNumber(1, maxDimension) };
/** It compares words without their rarity, so it adds nothing to BM25: decision 0080. */
const hybridWeight = 0;
const gramLength = 3;
/** Parts of words count less than words: they find other forms of a word, but also other words. */
const gramWeight = 0.25;

/**
 * An embedder that needs no model, no network and no training: it hashes words and parts of words into a vector. The same text
 * gives the same vector on every machine.
 *
 * It compares **wording, not meaning**: "car" and "automobile" have nothing in common. It is right for tests, for demos and for
 * search over names and technical terms; use an embedding model if queries use other words than the documents.
 *
 * Feature hashing with signs (Weinberger et al. 2009, FNV-1a 32 bit) of stemmed words and their character trigrams, weighted
 * by 1 + ln(frequency), scaled to length 1. Words without a subject count only in a text without others. A document without words, such as
 * “***”, is similar to the same text only, because stores refuse vectors of zeros; a query without them has zeros, which are similar to nothing.
 *
 * @throws `OPTIONS_INVALID` for an unknown option, and a dimension that is not an integer from 1 to 65,536
 *
 * @example
 * const search = createVectorQueryTool({ vectorStore: store, indexName: 'guides', model: createLexicalEmbedder() });
 */
export function createLexicalEmbedder(options: LexicalEmbedderOptions = {}): Embedder {
  checkOptions('createLexicalEmbedder', options, checks);
  const { dimension = defaultDimension } = options;
  const id = `quiver/lexical-3-${dimension}`;
  const embed = async (texts: readonly string[], { signal, purpose }: EmbedOptions): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      signal?.throwIfAborted();
      const vector = embedText(text, dimension);
      // Features with different signs can cancel out as well.
      if (purpose !== 'query' && lacksDirection(vector)) addFeature(vector, `t${text}`, 1);
      vectors.push(vector);
    }
    return vectors;
  };
  return {
    id,
    dimension,
    hybridWeight,
    embed: (texts, options = {}) => traceEmbedding(id, texts, () => embed(texts, options)),
  };
}

function embedText(text: string, dimension: number): Float32Array {
  const vector = new Float32Array(dimension);
  const frequencies = new Map<string, number>();
  for (const term of contentTermsOf(text, englishAnalysis())) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  for (const [term, frequency] of frequencies) {
    const weight = 1 + Math.log(frequency);
    addFeature(vector, `w${term}`, weight);
    for (let start = 0; start + gramLength <= term.length; start++) {
      addFeature(vector, `c${term.slice(start, start + gramLength)}`, weight * gramWeight);
    }
  }
  return toUnitLength(vector);
}

/** Half of the features count negatively, so that features which share a place cancel out rather than add up. */
function addFeature(vector: Float32Array, feature: string, weight: number): void {
  const hash = fnv1a(feature);
  const place = (hash & 0x7fff_ffff) % vector.length;
  vector[place] = (vector[place] as number) + (hash < 0 ? -weight : weight);
}

/** @see [FNV-1a](http://www.isthe.com/chongo/tech/comp/fnv/), over UTF-16 code units */
function fnv1a(text: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  return hash;
}

function toUnitLength(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (squares === 0) return vector;
  const factor = 1 / Math.sqrt(squares);
  for (let place = 0; place < vector.length; place++) vector[place] = (vector[place] as number) * factor;
  return vector;
}
