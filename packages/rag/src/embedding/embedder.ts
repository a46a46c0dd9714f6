import { QuiverError, traceChannels, type EmbeddingTraceEvent } from '@quiver/core';

/** Purpose of an embedding; some models treat queries and documents differently. */
export type EmbeddingPurpose = 'query' | 'document';

/** Options of `embed()` of an embedder. */
export interface EmbedOptions {
  signal?: AbortSignal | undefined;
  purpose?: EmbeddingPurpose | undefined;
}

/** What an embedder has used so far. */
export interface EmbeddingUsage {
  /** Requests to the model, without those that failed. */
  readonly requests: number;
  /** Tokens, as the model reported them; 0 for a model that does not. */
  readonly tokens: number;
  /** Price of the tokens, if the price of the model was given. */
  readonly cost?: number;
  /** Texts whose vector came from a cache. */
  readonly cached?: number;
}

/** Embeds texts: similar texts get similar vectors. */
export interface Embedder {
  /** Id of the model and its settings. Vectors of different ids must never be compared. */
  readonly id: string;
  /** Length of every vector; absent before the first embedding of some models. */
  readonly dimension?: number | undefined;
  /**
   * Weight of its ranking in a hybrid search, where keyword search has the weight 1. Default 1; less where the vectors contain
   * little more than the keywords.
   */
  readonly hybridWeight?: number | undefined;
  /** What all calls together have used; absent where an embedder does not count. */
  readonly usage?: EmbeddingUsage | undefined;
  /** Returns one vector for each text, in order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
}

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
