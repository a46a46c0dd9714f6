/** UTF-16 code units before a cut that are searched for the begin of its character. */
const WINDOW = 256;

let segmenter: Intl.Segmenter | undefined;

/**
 * Returns the last place up to `end` at which a text can be cut, behind its first character at least: not inside a code point, and not inside a grapheme cluster (combining
 * marks, joined emoji) unless the cluster is longer than 256 UTF-16 code units.
 *
 * @see [Unicode Standard Annex 29, grapheme cluster boundaries](https://unicode.org/reports/tr29/)
 */
export function findCut(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const begin = Math.max(0, beginOfCodePoint(text, end - WINDOW));
  const from = isInsideFlag(text, begin) ? begin - 2 : begin;
  const window = text.slice(from, end + WINDOW);
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  const character = segmenter.segment(window).containing(Math.max(end, from) - from);
  const cut = from + (character?.index ?? 0);
  if (cut > 0) return cut;
  const next = character?.segment.length ?? 1;
  return next <= WINDOW ? next : Math.max(beginOfCodePoint(text, end), endOfCodePoint(text, 0));
}

/** A flag is a pair of regional indicators, and many flags may follow each other. */
function isInsideFlag(text: string, place: number): boolean {
  if (!isRegionalIndicator(text, place)) return false;
  let first = place;
  while (first >= 2 && isRegionalIndicator(text, first - 2)) first -= 2;
  return (place - first) % 4 === 2;
}

function isRegionalIndicator(text: string, place: number): boolean {
  const point = text.codePointAt(place) ?? 0;
  return point >= 0x1f1e6 && point <= 0x1f1ff;
}

function beginOfCodePoint(text: string, place: number): number {
  return isInsideCodePoint(text, place) ? place - 1 : place;
}

function endOfCodePoint(text: string, place: number): number {
  return isInsideCodePoint(text, place + 1) ? place + 2 : place + 1;
}

function isInsideCodePoint(text: string, place: number): boolean {
  const [before, after] = [text.charCodeAt(place - 1), text.charCodeAt(place)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}
