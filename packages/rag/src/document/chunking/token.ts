import { toPackOptions, type CommonChunkOptions } from './chunk-options.js';
import { packSpans, type Chunker } from './pack-spans.js';
import { findWordCut } from './separator-cut.js';
import { createTokenCounter, type TokenOptions } from './token-counter.js';

/** `maxSize` and `overlap` are numbers of tokens. */
export interface TokenChunkOptions extends CommonChunkOptions, TokenOptions {
  strategy?: 'token';
}

/**
 * The `token` strategy: chunks of as many tokens as fit, cut between words, or between characters where there are none. The metadata
 * contains the number of tokens of each chunk, counted in that chunk alone.
 */
export async function token(given: TokenChunkOptions): Promise<Chunker> {
  const { count, requireAllowed } = await createTokenCounter(given);
  const options = { ...toPackOptions(given), measure: count };
  return (text) => {
    requireAllowed(text);
    return packSpans(text, options, findWordCut(text, options)).map(({ start, end }) => ({
      start,
      end,
      metadata: { tokenCount: count(text.slice(start, end)) },
    }));
  };
}
