let graphemeSegmenter: Intl.Segmenter | undefined;

/**
 * Returns whether a text can be cut at `index` without splitting a user-perceived character: an emoji sequence, a letter and its
 * accents, a flag, CR LF.
 *
 * @param knownBoundary - a grapheme boundary at or before `index`; nothing before it is read
 * @see [UAX #29, Grapheme Cluster Boundary Rules](https://www.unicode.org/reports/tr29/#Grapheme_Cluster_Boundary_Rules)
 */
export function isGraphemeBoundary(text: string, index: number, knownBoundary: number): boolean {
  return floorGraphemeBoundary(text, index, knownBoundary) === index;
}

/** The last grapheme boundary at or before `index`. */
export function floorGraphemeBoundary(text: string, index: number, knownBoundary: number): number {
  if (index <= knownBoundary) return knownBoundary;
  if (index >= text.length) return text.length;
  let from = index;
  while (from > knownBoundary && !isCertainBoundary(text, from)) from--;
  // Whether a cluster ends at `index` depends on the text before it and on one character after it.
  return from === index ? index : from + clusterAt(text.slice(from, index + 2), index - from).index;
}

/** The first grapheme boundary at or after `index`. */
export function ceilGraphemeBoundary(text: string, index: number, knownBoundary: number): number {
  const floor = floorGraphemeBoundary(text, index, knownBoundary);
  return floor === index ? index : nextGraphemeBoundary(text, floor);
}

/** The first grapheme boundary after `index`, which itself must be one. */
export function nextGraphemeBoundary(text: string, index: number): number {
  if (index + 1 >= text.length) return text.length;
  if (isCertainBoundary(text, index + 1)) return index + 1;
  for (let size = 64; ; size *= 2) {
    const { length } = clusterAt(text.slice(index, index + size), 0).segment;
    // At the end of the slice, the cluster may continue, or a surrogate pair may be cut.
    if (length < size - 1 || index + size >= text.length) return index + length;
  }
}

/** Returns the grapheme cluster that contains a position of a text. */
function clusterAt(text: string, position: number): Intl.SegmentData {
  graphemeSegmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return graphemeSegmenter.segment(text).containing(position)!;
}

/** Characters that neither extend a cluster, nor continue one, nor pair up: Latin, Greek, Cyrillic, kana, Han, Hangul syllables. */
const plain = String.raw`[\0-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u3000-\u3029\u3041-\u3096\u30a1-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff9d]`;
/** Units that can join an ASCII character after them: halves of a pair, and scripts with Prepend characters. */
const joining = String.raw`\ud800-\udfff\u0600-\u08ff\u0d00-\u0d7f`;
const certainBoundary = new RegExp(`^(?:${plain}{2}|[^${joining}][\\0-\\x7f])$`);

/** Returns `true` only where no rule of UAX #29 can forbid a break. `false` means that the segmenter must decide. */
function isCertainBoundary(text: string, index: number): boolean {
  const next = text.charCodeAt(index);
  const previous = text.charCodeAt(index - 1);
  if (next === 0x0a && previous === 0x0d) return false;
  return (next < 0x300 && previous < 0x300) || certainBoundary.test(text.slice(index - 1, index + 1));
}

let wordSegmenter: Intl.Segmenter | undefined;

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
  wordSegmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  const offset = Math.max(0, at - context);
  const window = wordSegmenter.segment(text.slice(offset, at + context));
  let { index } = window.containing(at - offset)!;
  // The window may start inside a word or a character, and a misspelled word may be split inside a character.
  for (; index > 0 && offset + index >= from; { index } = window.containing(index - 1)!)
    if (isGraphemeBoundary(text, offset + index, offset)) return offset + index;
  return at;
}

/**
 * Returns the first place from `at` on where a word starts in a script that has no spaces; `end` if there is none before it.
 *
 * @param knownBoundary - a grapheme boundary at or before `at`
 */
export function ceilUnspacedWord(text: string, at: number, end: number, knownBoundary: number): number {
  if (!unspaced.test(text.slice(at, end))) return end;
  wordSegmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  const offset = Math.max(0, at - context);
  for (const { index } of wordSegmenter.segment(text.slice(offset, end + context))) {
    const start = offset + index;
    if (start >= end) break;
    const isBetween = start >= at && unspaced.test(text.charAt(start)) && unspaced.test(text.charAt(start - 1));
    if (isBetween && isGraphemeBoundary(text, start, knownBoundary)) return start;
  }
  return end;
}

/** White space as `String.prototype.trim` means it. */
export function isWhiteSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x1680) return unit === 0xa0;
  return unit <= 0x3000 ? /\s/.test(String.fromCharCode(unit)) : unit === 0xfeff;
}

/** The first position from `start` that is not white space, or `end`. */
export function endOfWhiteSpace(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isWhiteSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The position after the last character before `end` that is not white space, or `start`. */
export function startOfWhiteSpace(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isWhiteSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

/** Like {@link endOfWhiteSpace}, but white space that carries an accent is not skipped. */
export function skipWhiteSpace(text: string, start: number, end: number): number {
  let at = endOfWhiteSpace(text, start, end);
  while (at > start && at < end && !isGraphemeBoundary(text, at, start)) at--;
  return at;
}

/** Like {@link startOfWhiteSpace}, but white space that carries an accent stays. */
export function trimEnd(text: string, start: number, end: number): number {
  let at = startOfWhiteSpace(text, start, end);
  while (at < end && !isGraphemeBoundary(text, at, start)) at++;
  return at;
}

/** Returns the index of the last position up to `limit` in a sorted list, or −1. */
export function lastAtOrBefore(sorted: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
