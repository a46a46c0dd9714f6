import { isGraphemeBoundary } from './grapheme-boundary.js';
import type { FindCut } from './pack-spans.js';
import { isWhiteSpace } from './trim-span.js';

/** Cuts at the last white space of the window, whatever kind it is: after it, or before it where white space is left out. */
export function findWordCut(text: string, { stripWhitespace }: { stripWhitespace: boolean }): FindCut {
  return ({ start, first, last }) => {
    for (let at = last; at >= first; at--) {
      const isAfter = isWhiteSpace(text.charCodeAt(at - 1));
      const isBefore = isWhiteSpace(text.charCodeAt(at));
      if (isAfter === isBefore || (isBefore && !stripWhitespace)) continue;
      if (isGraphemeBoundary(text, at, start)) return at;
    }
    return undefined;
  };
}
