import type { RecursiveOptions } from './chunk-options.js';
import { packSpans } from './pack-spans.js';
import { findSeparatorCut } from './separator-cut.js';
import type { Span } from './span.js';

/**
 * The `recursive` strategy: each chunk is as long as fits and ends at the best separator there is, paragraphs before lines
 * before words before characters.
 */
export function chunkRecursively(text: string, options: RecursiveOptions): Span[] {
  return packSpans(text, 0, text.length, options, findSeparatorCut(text, options));
}
