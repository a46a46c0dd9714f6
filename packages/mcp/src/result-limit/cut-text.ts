/** UTF-16 code units of the longest character that stays whole. */
const MAX_CHARACTER = 256;

let segmenter: Intl.Segmenter | undefined;

/**
 * Returns the last place up to `end` at which a text can be cut: not inside a code point, and not inside a grapheme cluster (combining marks, joined
 * emoji) unless the cluster is longer than 256 UTF-16 code units.
 *
 * @see [Unicode Standard Annex 29, grapheme cluster boundaries](https://unicode.org/reports/tr29/)
 */
export function findCut(text: string, end: number): number {
  if (end >= text.length) return text.length;
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  const cut = segmenter.segment(text).containing(end)?.index ?? 0;
  if (end - cut <= MAX_CHARACTER) return cut;
  return /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
