import { toPackOptions, type CommonChunkOptions, type MeasureOptions } from './chunk-options.js';
import { createPacker, packSpans, type Chunker } from './pack-spans.js';
import {
  findCuts,
  findSeparatorCut,
  findWordCut,
  readSeparators,
  type SeparatorChunkOptions,
} from './separator-cut.js';

/** Default separator: a blank line. */
export interface CharacterChunkOptions extends CommonChunkOptions, MeasureOptions, SeparatorChunkOptions {
  strategy?: 'character';
}

/**
 * The `character` strategy: chunks end at one separator only, and contain as many parts as fit. With a separator and without a size, each
 * part is a chunk. A part that is too long is cut between words, and a word that is too long between characters.
 */
export function character(given: CharacterChunkOptions): Chunker {
  const separators = readSeparators(given);
  // An empty separator means any place between words or characters.
  const isSplit = separators !== undefined && !separators.includes('') && given.maxSize === undefined;
  const options = { ...toPackOptions(given, isSplit ? { overlap: 0 } : {}), separators: separators ?? ['\n\n'] };
  return (text) => {
    const betweenWords = findWordCut(text, options);
    if (!isSplit) {
      const atSeparator = findSeparatorCut(text, options);
      return packSpans(text, options, (window) => atSeparator(window) ?? betweenWords(window));
    }
    const pack = createPacker(text, options, betweenWords);
    const ends = [...findCuts(text, options), text.length];
    return ends.flatMap((end, index) => pack(ends[index - 1] ?? 0, end));
  };
}
