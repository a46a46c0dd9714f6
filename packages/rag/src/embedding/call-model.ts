import { QuiverError, traceChannels, type EmbeddingTraceEvent } from '@quiver/core';

/**
 * Checks the result of an embedding model, and returns its vectors.
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
    const isCopied = values instanceof Float32Array;
    const vector = isCopied ? values.slice() : Float32Array.from(values ?? []);
    expected ??= vector.length;
    if (vector.length !== expected || expected === 0) {
      throw invalid(
        `The embedding model ${id} gave a vector of ${vector.length} numbers where ${expected} were expected.`,
      );
    }
    // Checks the original values too: `null`, which JSON writes for NaN, has become 0.
    if (!vector.every((value, place) => Number.isFinite(value) && (isCopied || typeof values?.[place] === 'number'))) {
      throw invalid(
        `The embedding model ${id} gave a vector (number ${index} of ${count}) with values that are not finite numbers.`,
      );
    }
    return vector;
  });
}

function invalid(message: string): QuiverError {
  return new QuiverError('EMBEDDING_INVALID', `${message} The result was discarded.`);
}

const channel = traceChannels['quiver:embedding'];

/**
 * Runs a call of an embedder, and publishes it.
 *
 * @param model - id of the embedder
 * @param run - receives the event, if there is one, for the number of tokens
 */
export function traceEmbedding(
  model: string,
  texts: readonly string[],
  run: (event?: EmbeddingTraceEvent) => Promise<Float32Array[]>,
): Promise<Float32Array[]> {
  if (!channel.isActive || texts.length === 0) return run();
  const event: EmbeddingTraceEvent = { type: 'embedding', model, texts };
  return channel.trace(event, async () => {
    const vectors = await run(event);
    event.dimension = vectors[0]?.length;
    return vectors;
  });
}
