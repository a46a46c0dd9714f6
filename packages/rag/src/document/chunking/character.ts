import type { RecursiveOptions } from './parse-options.js';
import { packSpans } from './pack-spans.js';
import { findSeparatorCut } from './separator-cut.js';
import type { Span } from './span.js';
import { findWordCut } from './word-cut.js';

/**
 * The `character` strategy: chunks end at one separator only, as many pieces in each as fit. A piece that is too long by itself
 * is cut between words, and a word that is too long between characters.
 */
export function chunkByCharacter(text: string, options: RecursiveOptions): Span[] {
  const atSeparator = findSeparatorCut(text, options);
  const otherwise = findWordCut(text, options);
  return packSpans(text, 0, text.length, options, (window) => atSeparator(window) ?? otherwise(window));
}
