/**
 * Sequences of letters and digits, joined by characters that are part of names and numbers: `E-1042`, `v1.2.3`, `max_tokens`, `don't`, `C++`.
 * An initial such as “J.” includes its point. The expression for ASCII is several times as fast.
 */
export const chunks: Readonly<Record<'ascii' | 'unicode', RegExp>> = {
  ascii: /\b[A-Z]\.(?![A-Za-z0-9])|[A-Za-z0-9]+(?:[-._'][A-Za-z0-9]+)*(?:\+\+|#(?![A-Za-z0-9]))?/g,
  unicode:
    /(?<![\p{L}\p{N}\p{M}])\p{Lu}\.(?![\p{L}\p{N}])|[\p{L}\p{N}\p{M}]+(?:[-._'’][\p{L}\p{N}\p{M}]+)*(?:\+\+|#(?![\p{L}\p{N}]))?/gu,
};

const plain = /^(?:[a-z]{2,}|[A-Z][a-z]+)$/;
/** Lowercase letters and digits alone are variables and parts of lists. */
const meaningless = /^(?:[a-z0-9]|.\.)$/;
const version = /^(?:v(?=\d+\.)|(?=\d+\.\d+\.))(\d+(?:\.\d+)+)(?=-|$)/i;
/** Two parts of one name: `E-1042`, `COVID-19`. */
const numbered = /^\p{L}+-\d+\p{L}*$/u;
const lettersAndDigits = /^\p{L}+(\d{3,})\p{L}*$/u;
/** `maxTokens`, `XMLHttpRequest`; not `IPhone` and not `PDFs`. */
const camelCase = /\p{Ll}\p{Lu}|\p{Lu}{3}\p{Ll}{2}/u;
const humps = /\p{Lu}+(?![\p{Ll}\p{M}])|\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{N}+/gu;

/** A part of a chunk. */
export interface ChunkPart {
  readonly text: string;
  /** Whether it is a word of a language, which has a stem, rather than a name or a number. */
  readonly isWord: boolean;
}

/**
 * Splits a chunk into the words and names that it consists of. Names with several spellings give the same parts: `E-1042` and `E1042`,
 * `v1.2.3` and `1.2.3`, `max_tokens` and `maxTokens`.
 */
export function splitChunk(chunk: string): ChunkPart[] {
  if (plain.test(chunk)) return [{ text: chunk, isWord: true }];
  if (meaningless.test(chunk)) return [];
  const bare = chunk.replace(/(?:\+\+|#)$/, '');
  // “C++” and “C#” are not “C”.
  if (bare !== chunk && bare.length === 1) return [{ text: chunk, isWord: false }];
  const names: string[] = bare === chunk ? [] : [chunk];
  const words: string[] = [];
  const number = version.exec(bare)?.[1];
  if (number !== undefined) names.push(number);
  const pieces = bare.split(/[-._'’]/);
  if (pieces.length === 1) addPiece(bare, words, names);
  else if (numbered.test(bare)) {
    addPiece(pieces.join(''), words, names);
    words.push(...pieces.slice(0, 1));
  } else {
    if (bare.includes('_') && /\p{L}/u.test(bare)) names.push(pieces.join(''));
    for (const piece of number === undefined
      ? pieces
      : [...number.split('.'), ...pieces.slice(number.split('.').length)])
      addPiece(piece, words, names);
  }
  return [
    ...names.map((text) => ({ text, isWord: false })),
    // “s” of “it's”, “1” of “1.2.3”, “E” of “E-1042”.
    ...words.filter((word) => word.length > 1 || word === bare).map((text) => ({ text, isWord: true })),
  ];
}

function addPiece(piece: string, words: string[], names: string[]): void {
  words.push(piece);
  const digits = lettersAndDigits.exec(piece)?.[1];
  if (digits !== undefined) names.push(digits);
  else if (camelCase.test(piece)) for (const [hump] of piece.matchAll(humps)) words.push(hump);
}
