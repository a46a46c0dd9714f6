import type { PageBox } from './text-place.js';

/** Metadata of a text: plain JSON data. */
export type Metadata = Record<string, unknown>;

/** Metadata of the document, and the position of the chunk in it. */
export interface ChunkMetadata extends Metadata {
  /**
   * Start in the source, in UTF-16 code units: `text === source.slice(startIndex, endIndex)`, except in JSON, where the text is
   * decoded. The source of HTML is the page as Markdown, `document.sources`.
   */
  startIndex: number;
  endIndex: number;
  /** Titles of the headings above the chunk, outermost first; absent where there are none. */
  headings?: readonly string[];
  /** Number of the page on which the chunk begins, from 1; present for PDF. */
  page?: number;
  /** Number of the page on which it ends, if that is another one. */
  endPage?: number;
  /** Rectangle around the text of the chunk on `page`, in points from the upper left corner; present for PDF. */
  box?: PageBox;
}

/** A part of a document. Its position is in the metadata, because stores keep metadata. */
export interface Chunk {
  /**
   * Id made from the text and the document's metadata, independent of the position: an edit changes the ids of the chunks that it
   * changes, and no others.
   */
  readonly id: string;
  readonly text: string;
  /** The same as `text`. */
  readonly content: string;
  readonly metadata: ChunkMetadata;
  /** The chunk before it in the same text; absent for the first one. `ingest` stores it as `previousChunk` and `textBefore`. */
  readonly previous?: PreviousChunk;
}

/** Link from a chunk to the one before it. */
export interface PreviousChunk {
  readonly id: string;
  /** Verbatim text between both chunks, usually white space. Absent where they touch or overlap, and where their texts are decoded. */
  readonly textBetween?: string;
}
