/** What a text is embedded for; some models treat questions and documents differently. */
export type EmbeddingPurpose = 'query' | 'document';

export interface EmbedOptions {
  signal?: AbortSignal | undefined;
  purpose?: EmbeddingPurpose | undefined;
}

/** Turns texts into vectors whose nearness means likeness. */
export interface Embedder {
  /** Names the model and whatever else decides the vectors: vectors of different ids must never be compared. */
  readonly id: string;
  /** Length of every vector; absent until it is known. */
  readonly dimension?: number | undefined;
  /**
   * How much its ranking should count beside one by words, which counts 1, when both are merged. Default 1; less where the vectors
   * know little more than the words.
   */
  readonly hybridWeight?: number | undefined;
  /** One vector for each text, in order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
}
