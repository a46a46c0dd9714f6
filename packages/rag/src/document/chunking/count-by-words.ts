import type { Measure } from './pack-spans.js';
import { isWhiteSpace } from './text-boundary.js';

/** Longer pieces hardly come again. */
const longestKept = 400;
/** Then what is kept is forgotten, so that a text of nothing but new words needs no more memory than others. */
const mostKept = 50_000;

/**
 * Counts tokens piece by piece and remembers the count of each: texts repeat their words, and a chunker counts each stretch of a
 * text several times.
 *
 * Pieces begin with a space that follows something else than white space. The encodings of OpenAI first split a text by a
 * pattern; every match of it that holds such a space begins with it, none before looks beyond it, and tokens never cross two
 * matches. So the sum of the pieces is the count of the text.
 *
 * @see [The patterns, in tiktoken](https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py)
 */
export function countByWords(count: Measure): Measure {
  const known = new Map<string, number>();

  function countPiece(piece: string): number {
    if (piece.length > longestKept) return count(piece);
    let tokens = known.get(piece);
    if (tokens === undefined) {
      tokens = count(piece);
      if (known.size >= mostKept) known.clear();
      known.set(piece, tokens);
    }
    return tokens;
  }

  return (text) => {
    let sum = 0;
    let start = 0;
    for (let at = text.indexOf(' ', 1); at !== -1; at = text.indexOf(' ', at + 1)) {
      if (isWhiteSpace(text.charCodeAt(at - 1))) continue;
      sum += countPiece(text.slice(start, at));
      start = at;
    }
    return sum + (start < text.length ? countPiece(text.slice(start)) : 0);
  };
}
