import type { CommonChunkOptions, MeasureOptions, OptionReader } from './chunk-options.js';
import { packSpans, type Chunker } from './pack-spans.js';
import { findSeparatorCut, findWordCut, readSeparators, type SeparatorChunkOptions } from './separator-cut.js';

/** Default separator: a blank line. */
export interface CharacterChunkOptions extends CommonChunkOptions, MeasureOptions, SeparatorChunkOptions {
  strategy?: 'character';
}

/**
 * The `character` strategy: chunks end at one separator only, and contain as many parts as fit. A part that is too long is cut
 * between words, and a word that is too long between characters.
 */
export function character(read: OptionReader): Chunker {
  const options = { ...read.common(), separators: readSeparators(read) ?? ['\n\n'] };
  return (text) => {
    const atSeparator = findSeparatorCut(text, options);
    const betweenWords = findWordCut(text, options);
    return packSpans(text, options, (window) => atSeparator(window) ?? betweenWords(window));
  };
}
