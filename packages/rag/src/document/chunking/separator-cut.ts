import { isGraphemeBoundary } from './grapheme-boundary.js';
import type { CutWindow, FindCut } from './pack-spans.js';

/** Whether a separator stands at the start of the chunk after the cut or at the end of the one before. */
export type SeparatorPosition = 'start' | 'end';

export interface SeparatorOptions {
  readonly separators: readonly string[];
  readonly separatorPosition: SeparatorPosition;
  readonly stripWhitespace: boolean;
}

/**
 * Cuts at the last occurrence of the first separator that has one. Separators are tried in order, first for a chunk of a
 * reasonable size, then for a chunk of any size; an empty separator stands for a cut anywhere.
 */
export function findSeparatorCut(text: string, options: SeparatorOptions): FindCut {
  const { separators, separatorPosition, stripWhitespace } = options;
  return (window) => {
    for (const from of window.preferred > window.first ? [window.preferred, window.first] : [window.first]) {
      for (const separator of separators) {
        if (separator === '') return window.last;
        // White space needs no room if it will be left out, so the chunk may end right before it.
        const isLeftOut = stripWhitespace && separator.trim() === '';
        const cut = lastCut(text, separator, isLeftOut ? 'start' : separatorPosition, from, window);
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
