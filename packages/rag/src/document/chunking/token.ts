import { packSpans, type PackOptions } from './pack-spans.js';
import type { Measure } from './size-limit.js';
import type { Span } from './span.js';
import { findWordCut } from './word-cut.js';

/**
 * The `token` strategy: chunks of as many tokens as fit, cut between words, or between characters where there are none. The
 * number of tokens of each chunk, as the tokenizer counts them in that chunk alone, is in its metadata.
 */
export function chunkByTokens(text: string, options: PackOptions & { readonly measure: Measure }): Span[] {
  return packSpans(text, 0, text.length, options, findWordCut(text, options)).map(({ start, end }) => ({
    start,
    end,
    metadata: { tokenCount: options.measure(text.slice(start, end)) },
  }));
}
