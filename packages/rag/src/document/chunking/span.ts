/**
 * A part of a text by its position: `text.slice(start, end)`, in UTF-16 code units.
 *
 * Strategies return spans rather than strings, so that every chunk can be cited.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** Decoded text of the span, where it differs from the span: HTML without tags, JSON without escapes. */
  readonly text?: string;
  /** Titles of the headings above the span, outermost first. Only strategies with headings set it. */
  readonly headings?: readonly string[];
  /** Further metadata from the strategy. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A strategy with its options: a pure function of the text. */
export type Chunker = (text: string) => Span[];
