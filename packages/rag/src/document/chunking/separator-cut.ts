import { isGraphemeBoundary } from './grapheme-boundary.js';
import type { CutWindow, FindCut } from './pack-spans.js';
import { lastAtOrBefore } from './sorted-search.js';

/** Whether a separator stands at the start of the chunk after the cut or at the end of the one before. */
export type SeparatorPosition = 'start' | 'end';

/** A text, or a pattern with the flag `g`. */
export type Separator = string | RegExp;

export interface SeparatorOptions {
  readonly separators: readonly Separator[];
  readonly separatorPosition: SeparatorPosition;
  readonly stripWhitespace: boolean;
}

type LastCut = (from: number, window: CutWindow) => number | undefined;

/**
 * Cuts at the last occurrence of the first separator that has one. Separators are tried in order, first for a chunk of a
 * reasonable size, then for a chunk of any size; an empty separator stands for a cut anywhere.
 */
export function findSeparatorCut(text: string, options: SeparatorOptions): FindCut {
  const { separators, separatorPosition, stripWhitespace } = options;
  const finders = separators.map((separator): LastCut => {
    if (separator === '') return (_from, { last }) => last;
    if (typeof separator !== 'string') return findPattern(text, separator, separatorPosition);
    // White space needs no room if it will be left out, so the chunk may end right before it.
    const isLeftOut = stripWhitespace && separator.trim() === '';
    return (from, window) => lastCut(text, separator, isLeftOut ? 'start' : separatorPosition, from, window);
  });
  return (window) => {
    for (const from of window.preferred > window.first ? [window.preferred, window.first] : [window.first]) {
      for (const find of finders) {
        const cut = find(from, window);
        if (cut !== undefined) return cut;
      }
    }
    return undefined;
  };
}

function lastCut(
  text: string,
  separator: string,
  position: SeparatorPosition,
  from: number,
  { start, last }: CutWindow,
): number | undefined {
  const shift = position === 'end' ? separator.length : 0;
  // Only a slice is searched: `text.lastIndexOf` would run to the start of the text for a separator that is absent.
  const offset = Math.max(start, from - shift);
  const slice = text.slice(offset, Math.min(text.length, last - shift + separator.length));
  for (let at = slice.lastIndexOf(separator); at !== -1; at = slice.lastIndexOf(separator, at - 1)) {
    const cut = offset + at + shift;
    if (cut >= from && isGraphemeBoundary(text, cut, start)) return cut;
    if (at === 0) return undefined;
  }
  return undefined;
}

/** Matches are sought in the whole text, once, so that `^` and look-arounds see what is really around them. */
function findPattern(text: string, pattern: RegExp, position: SeparatorPosition): LastCut {
  let cuts: number[] | undefined;
  return (from, { start, last }) => {
    cuts ??= Array.from(text.matchAll(pattern), ({ index, 0: match }) =>
      position === 'end' ? index + match.length : index,
    );
    for (let at = lastAtOrBefore(cuts, last); at >= 0 && (cuts[at] as number) >= from; at--) {
      const cut = cuts[at] as number;
      if (isGraphemeBoundary(text, cut, start)) return cut;
    }
    return undefined;
  };
}
