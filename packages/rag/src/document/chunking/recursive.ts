import type { RecursiveOptions } from './parse-options.js';
import { packSpans } from './pack-spans.js';
import { findSeparatorCut } from './separator-cut.js';
import type { Span } from './span.js';

/**
 * The `recursive` strategy: each chunk is as long as fits and ends at the best separator there is, paragraphs before lines
 * before words before characters; in source code, declarations first.
 */
export function chunkRecursively(text: string, options: RecursiveOptions): Span[] {
  const spans = packSpans(text, 0, text.length, options, findSeparatorCut(text, options));
  if (options.language === undefined) return spans;
  const metadata = { language: options.language };
  return spans.map((span) => ({ ...span, metadata }));
}
