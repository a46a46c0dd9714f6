import type { CommonChunkOptions, OptionReader } from './chunk-options.js';
import { packSpans, type Chunker } from './pack-spans.js';
import { findWordCut } from './separator-cut.js';
import { readTokenCounter, type TokenOptions } from './token-counter.js';

/** `maxSize` and `overlap` are numbers of tokens. */
export interface TokenChunkOptions extends CommonChunkOptions, TokenOptions {
  strategy?: 'token';
}

/**
 * The `token` strategy: chunks of as many tokens as fit, cut between words, or between characters where there are none. The metadata
 * contains the number of tokens of each chunk, counted in that chunk alone.
 */
export async function token(read: OptionReader): Promise<Chunker> {
  const common = read.common({ inTokens: true });
  const { count, requireAllowed } = await readTokenCounter(read);
  const options = { ...common, measure: count };
  return (text) => {
    requireAllowed(text);
    return packSpans(text, options, findWordCut(text, options)).map(({ start, end }) => ({
      start,
      end,
      metadata: { tokenCount: count(text.slice(start, end)) },
    }));
  };
}
