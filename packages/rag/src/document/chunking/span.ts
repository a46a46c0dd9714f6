/**
 * A piece of a text by its place: `text.slice(start, end)`, in UTF-16 code units.
 *
 * Strategies return spans rather than strings, so that every chunk is verbatim and can be cited.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** Titles of the headings above the span, outermost first. Only strategies that know headings set it. */
  readonly headings?: readonly string[];
}
