import { isGraphemeBoundary } from './grapheme-boundary.js';

let segmenter: Intl.Segmenter | undefined;

/** Scripts without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** No word is longer, and the segmenter needs some text around it. */
const context = 40;

/**
 * Returns the last boundary between words at or before `at`, in a script that has no spaces: Chinese, Japanese, Thai. Returns `at`
 * in other scripts, and if there is no boundary from `from` on.
 *
 * @see [UAX #29, Word Boundaries](https://www.unicode.org/reports/tr29/#Word_Boundaries)
 */
export function floorWordBoundary(text: string, at: number, from: number): number {
  if (at >= text.length || !unspaced.test(text.charAt(at)) || !unspaced.test(text.charAt(at - 1))) return at;
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  const offset = Math.max(0, at - context);
  let boundary = at;
  for (const { index } of segmenter.segment(text.slice(offset, at + context))) {
    const position = offset + index;
    if (position > at) break;
    // The window may start inside a word or a character.
    if (position >= from && index > 0 && isGraphemeBoundary(text, position, offset)) boundary = position;
  }
  return boundary;
}
