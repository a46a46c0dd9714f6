/**
 * A piece of a text by its place: `text.slice(start, end)`, in UTF-16 code units.
 *
 * Strategies return spans rather than strings, so that every chunk can be cited.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** What the span says once it is decoded, where that is not the span itself: HTML without its tags, JSON without its escapes. */
  readonly text?: string;
  /** Titles of the headings above the span, outermost first. Only strategies that know headings set it. */
  readonly headings?: readonly string[];
  /** What else the strategy knows about the span, for its metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}
