/** Facts about a text, kept with it in a store: plain JSON data. */
export type Metadata = Record<string, unknown>;

/** The metadata of the document, and where in it the chunk stands. */
export interface ChunkMetadata extends Metadata {
  /**
   * The place in the source, in UTF-16 code units: `text === source.slice(startIndex, endIndex)`, except in HTML and JSON, where
   * the text is what stands there once it is decoded.
   */
  startIndex: number;
  endIndex: number;
  /** Titles of the headings above the chunk, outermost first; absent where there are none. */
  headings?: readonly string[];
}

/** A piece of a document. Its place stands in the metadata, because that is what stores keep. */
export interface Chunk {
  /**
   * The same for the same text in a document with the same metadata, wherever it stands in it, and whatever surrounds it: an
   * edit changes the ids of the chunks that it changes, and no others.
   */
  readonly id: string;
  readonly text: string;
  /** The same as `text`. */
  readonly content: string;
  readonly metadata: ChunkMetadata;
}
