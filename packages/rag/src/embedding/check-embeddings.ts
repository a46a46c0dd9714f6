import { QuiverError } from '@quiver/core';

/**
 * Turns what a model answered into vectors, if it is fit to be stored.
 *
 * @param dimension - the length that is expected, if it is known
 * @throws `EMBEDDING_INVALID` for another number of vectors than texts, another dimension, and anything but finite numbers
 */
export function checkEmbeddings(
  embeddings: unknown,
  { id, count, dimension }: { id: string; count: number; dimension: number | undefined },
): Float32Array[] {
  if (!Array.isArray(embeddings) || embeddings.length !== count) {
    const got = Array.isArray(embeddings) ? `${embeddings.length} vectors` : 'no list of vectors';
    throw invalid(`The embedding model ${id} was given ${count} texts and answered with ${got}.`);
  }
  let expected = dimension;
  return embeddings.map((values: ArrayLike<number> | null | undefined, index) => {
    const vector = Float32Array.from(values ?? []);
    expected ??= vector.length;
    if (vector.length !== expected || expected === 0) {
      throw invalid(
        `The embedding model ${id} gave a vector of ${vector.length} numbers where ${expected} were expected.`,
      );
    }
    // Of the values that were given, too: `null`, which is how JSON writes NaN, has become 0.
    if (!vector.every((value, place) => Number.isFinite(value) && typeof values?.[place] === 'number')) {
      throw invalid(
        `The embedding model ${id} gave a vector (number ${index} of ${count}) with values that are not finite numbers.`,
      );
    }
    return vector;
  });
}

function invalid(message: string): QuiverError {
  return new QuiverError('EMBEDDING_INVALID', `${message} Nothing of this answer is used.`);
}
