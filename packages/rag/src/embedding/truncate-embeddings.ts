import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import type { Embedder } from './embedder.js';
import { toEmbedder, type EmbedderInput } from './to-embedder.js';

/**
 * Returns an embedder that keeps the first numbers of each vector, scaled to length 1. It is right for models that were trained for it
 * (Matryoshka representation learning), such as `text-embedding-3-*`; others lose most of their quality. Smaller vectors need less memory and time.
 *
 * @throws `OPTIONS_INVALID` for a dimension that is not a whole number above 0; from `embed`, `EMBEDDING_INVALID` for a shorter vector, and what the
 *   embedder throws
 * @see Kusupati et al.: Matryoshka Representation Learning. NeurIPS 2022. https://arxiv.org/abs/2205.13147
 * @example
 * const embedder = truncateEmbeddings('openai/text-embedding-3-large', 512);
 */
export function truncateEmbeddings(input: EmbedderInput, dimension: number): Embedder {
  const whole = toEmbedder(input);
  if (!Number.isSafeInteger(dimension) || dimension < 1)
    throw invalidOptions(`The dimension must be a whole number above 0, not ${String(dimension)}.`);
  return {
    get usage() {
      return whole.usage;
    },
    hybridWeight: whole.hybridWeight,
    maxInputTokens: whole.maxInputTokens,
    id: `${whole.id}@${dimension}`,
    dimension,
    async embed(texts, options) {
      return (await whole.embed(texts, options)).map((vector) => truncate(vector, dimension, whole.id));
    },
  };
}

function truncate(vector: Float32Array, dimension: number, id: string): Float32Array {
  if (vector.length < dimension) {
    throw new QuiverError(
      'EMBEDDING_INVALID',
      `The embedding model ${id} gave a vector of ${vector.length} numbers, which cannot be truncated to ${dimension}.`,
    );
  }
  const kept = vector.slice(0, dimension);
  const length = Math.hypot(...kept);
  return length === 0 ? kept : kept.map((value) => value / length);
}
