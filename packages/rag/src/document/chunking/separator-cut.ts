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
    // White space that will be removed needs no room, so the chunk may end right before it.
    const isRemoved = stripWhitespace && typeof separator === 'string' && separator.trim() === '';
    const position = isRemoved ? 'start' : separatorPosition;
    // The whole text is searched once, so that `^` and look-arounds of a pattern see what is really around them.
    let cuts: number[] | undefined;
    return (from, { start, last }) => {
      cuts ??= cutsOf(text, separator, position);
      for (let limit = last; ;) {
        const cut = cuts[lastAtOrBefore(cuts, limit)] ?? -1;
        if (cut < from) return undefined;
        const isPossible = isGraphemeBoundary(text, cut, start);
        if (isPossible && mayCut(cut)) return cut;
        // Other cuts in the same white space separate the same texts.
        limit = (isPossible ? Math.min(cut, startOfWhiteSpace(text, from, cut)) : cut) - 1;
      }
    };
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

/** Returns the places where one of the separators cuts the text, in order. Separators are not empty. */
export function findCuts(text: string, { separators, separatorPosition }: SeparatorOptions): number[] {
  const places = separators.flatMap((separator) => cutsOf(text, separator, separatorPosition));
  let last = 0;
  return places
    .toSorted((a, b) => a - b)
    .filter((place) => {
      const isCut = place > last && place < text.length && isGraphemeBoundary(text, place, last);
      if (isCut) last = place;
      return isCut;
    });
}

function cutsOf(text: string, separator: Separator, position: SeparatorPosition): number[] {
  const cuts: number[] = [];
  const add = (start: number, { length }: string): void => void cuts.push(position === 'end' ? start + length : start);
  if (typeof separator === 'string') {
    for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + separator.length))
      add(at, separator);
  } else for (const { 0: match, index } of text.matchAll(separator)) add(index, match);
  return cuts;
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
