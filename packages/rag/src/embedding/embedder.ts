/** Purpose of an embedding; some models treat queries and documents differently. */
export type EmbeddingPurpose = 'query' | 'document';

/** Options of `embed()` of an embedder. */
export interface EmbedOptions {
  signal?: AbortSignal | undefined;
  purpose?: EmbeddingPurpose | undefined;
}

/** Usage of an embedder so far. */
export interface EmbeddingUsage {
  /** Requests to the model, without those that failed. */
  readonly requests: number;
  /** Tokens, as the model reported them; 0 for a model that does not. */
  readonly tokens: number;
  /** Price of the tokens, if the price of the model was given. */
  readonly cost?: number;
  /** Texts whose vector came from a cache. */
  readonly cached?: number;
  /** Texts of which the model read only the beginning: those with at least `maxInputTokens`, as far as their number of tokens is known. */
  readonly cut?: number;
}

/** Embeds texts: similar texts get similar vectors. `toEmbedder()` makes one of a model or of a `CustomEmbedder`. */
export interface Embedder {
  /** Id of the model and its settings. Vectors of different ids must never be compared. */
  readonly id: string;
  /** Length of the vectors; for some models absent before the first embedding, then that of the last one. */
  readonly dimension?: number | undefined;
  /**
   * Weight of its ranking in a hybrid search, where keyword search has the weight 1. Default 1; less where the vectors contain
   * little more than the keywords.
   */
  readonly hybridWeight?: number | undefined;
  /**
   * Tokens that the model reads of a text. `ingest` embeds a longer chunk in several parts, each with a vector. Default: any number.
   */
  readonly maxInputTokens?: number | undefined;
  /** Usage of all calls together; absent where an embedder does not count. */
  readonly usage?: EmbeddingUsage | undefined;
  /** Returns one vector for each text, in order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
}

/** Your own embedder: every function that takes an embedder accepts it. */
export interface CustomEmbedder extends Omit<Embedder, 'embed'> {
  /**
   * Returns one vector for each text, in order, as lists of numbers or as `Float32Array`s: finite numbers, all of one length, which is
   * `dimension` if that is set. Anything else is `EMBEDDING_INVALID`. Numbers are used with 32 bits.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly (readonly number[] | Float32Array)[]>;
}
