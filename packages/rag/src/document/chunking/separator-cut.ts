import { invalidOptions } from '@quiver/core/internal';
import type { CutWindow, FindCut, SeparatorPosition } from './pack-spans.js';
import {
  floorWordBoundary,
  isGraphemeBoundary,
  isWhiteSpace,
  lastAtOrBefore,
  startOfWhiteSpace,
} from './text-boundary.js';

/** Options of the strategies that cut at separators. */
export interface SeparatorChunkOptions {
  /** Separators, best first; `''` means anywhere between words or characters. */
  separators?: string | readonly string[];
  /** Alias of `separators`. */
  separator?: string | readonly string[];
  /** Whether separators are regular expressions. Default `false`. */
  isSeparatorRegex?: boolean;
}

/** A text, or a pattern with the flag `g`. */
export type Separator = string | RegExp;

export interface SeparatorOptions {
  readonly separators: readonly Separator[];
  readonly separatorPosition: SeparatorPosition;
  readonly stripWhitespace: boolean;
  /** Whether a separator may end a chunk. Default: all may. */
  readonly mayCut?: (cut: number) => boolean;
}

/** @throws `OPTIONS_INVALID` */
export function readSeparators(options: SeparatorChunkOptions): readonly Separator[] | undefined {
  const separators = options.separators === undefined ? undefined : [options.separators].flat();
  if (!options.isSeparatorRegex) return separators;
  return separators?.map((source) => {
    if (source === '') return '';
    try {
      return new RegExp(source, 'g');
    } catch (error) {
      const problem = (error as Error).message;
      throw invalidOptions(`The separator '${source}' is not a regular expression: ${problem}`, { cause: error });
    }
  });
}

type LastCut = (from: number, window: CutWindow) => number | undefined;

/**
 * Cuts at the last occurrence of the first separator that occurs in the window. Separators are tried in order, first for a chunk of a
 * reasonable size, then for a chunk of any size.
 */
export function findSeparatorCut(text: string, options: SeparatorOptions): FindCut {
  const { separators, separatorPosition, stripWhitespace, mayCut = () => true } = options;
  const finders = separators.map((separator): LastCut => {
    if (separator === '') {
      return (from, { last }) => {
        const cut = floorWordBoundary(text, last, from);
        return mayCut(cut) ? cut : undefined;
      };
    }
    if (typeof separator !== 'string') return findPattern(text, separator, separatorPosition, mayCut);
    // White space that will be removed needs no room, so the chunk may end right before it.
    const isRemoved = stripWhitespace && separator.trim() === '';
    const position = isRemoved ? 'start' : separatorPosition;
    return (from, window) => lastCut(text, separator, position, mayCut, from, window);
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
  mayCut: (cut: number) => boolean,
  from: number,
  { start, last }: CutWindow,
): number | undefined {
  const shift = position === 'end' ? separator.length : 0;
  // Only a slice is searched: `text.lastIndexOf` would run to the start of the text for a separator that is absent.
  const offset = Math.max(start, from - shift);
  const slice = text.slice(offset, Math.min(text.length, last - shift + separator.length));
  for (let at = slice.lastIndexOf(separator); at !== -1;) {
    const cut = offset + at + shift;
    let before = at - 1;
    if (cut >= from && isGraphemeBoundary(text, cut, start)) {
      if (mayCut(cut)) return cut;
      // Other cuts in the same white space separate the same texts.
      before = startOfWhiteSpace(slice, 0, at) - 1;
    }
    if (before < 0) return undefined;
    at = slice.lastIndexOf(separator, before);
  }
  return undefined;
}

/** Searches the whole text once, so that `^` and look-arounds see what is really around them. */
function findPattern(
  text: string,
  pattern: RegExp,
  position: SeparatorPosition,
  mayCut: (cut: number) => boolean,
): LastCut {
  let cuts: number[] | undefined;
  return (from, { start, last }) => {
    cuts ??= cutsOfPattern(text, pattern, position);
    for (let at = lastAtOrBefore(cuts, last); at >= 0 && (cuts[at] as number) >= from; at--) {
      const cut = cuts[at] as number;
      if (isGraphemeBoundary(text, cut, start) && mayCut(cut)) return cut;
    }
    return undefined;
  };
}

/** Returns the places where one of the separators cuts the text, in order. Separators are not empty. */
export function findCuts(text: string, { separators, separatorPosition }: SeparatorOptions): number[] {
  const places = separators.flatMap((separator) =>
    typeof separator === 'string'
      ? cutsOfText(text, separator, separatorPosition)
      : cutsOfPattern(text, separator, separatorPosition),
  );
  let last = 0;
  return places
    .toSorted((a, b) => a - b)
    .filter((place) => {
      const isCut = place > last && place < text.length && isGraphemeBoundary(text, place, last);
      if (isCut) last = place;
      return isCut;
    });
}

function cutsOfText(text: string, separator: string, position: SeparatorPosition): number[] {
  const cuts: number[] = [];
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + separator.length))
    cuts.push(position === 'end' ? at + separator.length : at);
  return cuts;
}

function cutsOfPattern(text: string, pattern: RegExp, position: SeparatorPosition): number[] {
  return Array.from(text.matchAll(pattern), ({ index, 0: match }) =>
    position === 'end' ? index + match.length : index,
  );
}

/** Cuts at the last white space of the window: before it where it is removed or belongs to the next chunk, otherwise after it. */
export function findWordCut(
  text: string,
  { stripWhitespace, separatorPosition }: Pick<SeparatorOptions, 'stripWhitespace' | 'separatorPosition'>,
): FindCut {
  return ({ start, first, last }) => {
    for (let at = last; at >= first; at--) {
      const isAfter = isWhiteSpace(text.charCodeAt(at - 1));
      const isBefore = isWhiteSpace(text.charCodeAt(at));
      if (isAfter === isBefore) continue;
      if (!stripWhitespace && isBefore !== (separatorPosition === 'start')) continue;
      if (isGraphemeBoundary(text, at, start)) return at;
    }
    return undefined;
  };
}
