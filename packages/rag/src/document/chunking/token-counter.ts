import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import type { Measure } from './pack-spans.js';
import { isWhiteSpace, nextGraphemeBoundary } from './text-boundary.js';

/** Encoding of OpenAI models. */
export type TokenEncoding = 'cl100k_base' | 'o200k_base' | 'o200k_harmony' | 'p50k_base' | 'p50k_edit' | 'r50k_base';

interface Tokenizer {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

interface Encoding {
  /** One `import` with its own `catch` for each: bundlers see them, and accept that the package is missing. */
  readonly load: () => Promise<Tokenizer>;
  /** Marks that have a token, without their brackets. */
  readonly marks: string;
}

const encodings: Readonly<Record<TokenEncoding, Encoding>> = {
  cl100k_base: {
    load: () => import('gpt-tokenizer/encoding/cl100k_base').catch(explainMissing),
    marks: 'endoftext fim_prefix fim_middle fim_suffix endofprompt',
  },
  o200k_base: {
    load: () => import('gpt-tokenizer/encoding/o200k_base').catch(explainMissing),
    marks: 'endoftext endofprompt',
  },
  o200k_harmony: {
    load: () => import('gpt-tokenizer/encoding/o200k_harmony').catch(explainMissing),
    marks: 'startoftext endoftext return constrain channel start end message call endofprompt',
  },
  p50k_base: { load: () => import('gpt-tokenizer/encoding/p50k_base').catch(explainMissing), marks: 'endoftext' },
  p50k_edit: {
    load: () => import('gpt-tokenizer/encoding/p50k_edit').catch(explainMissing),
    marks: 'endoftext fim_prefix fim_middle fim_suffix',
  },
  r50k_base: { load: () => import('gpt-tokenizer/encoding/r50k_base').catch(explainMissing), marks: 'endoftext' },
};
export const encodingNames = Object.keys(encodings) as TokenEncoding[];

/** Definition of a token. */
export interface TokenOptions {
  /** Encoding. Default `cl100k_base`. `gpt2` is an alias of `r50k_base`. */
  encodingName?: TokenEncoding | 'gpt2';
  /** Model whose encoding is used, for example `gpt-4o`. */
  modelName?: string;
  /** Marks such as `<|endoftext|>` that count as one token. Default: none; in a document they are ordinary text. */
  allowedSpecial?: 'all' | readonly string[] | ReadonlySet<string>;
  /** Marks that make `chunk()` throw if the text contains one. Default: none. */
  disallowedSpecial?: 'all' | readonly string[] | ReadonlySet<string>;
}

export interface TokenCounter {
  readonly count: Measure;
  /** @throws `TOKEN_NOT_ALLOWED` for a text that contains a mark of `disallowedSpecial`, with its position */
  requireAllowed(text: string): void;
}

/**
 * Returns a counter that uses `gpt-tokenizer`, an optional peer dependency.
 *
 * @throws `TOKENIZER_MISSING` when the package is not installed; `OPTIONS_INVALID` for an unknown model
 */
export async function createTokenCounter(options: TokenOptions): Promise<TokenCounter> {
  const { allowedSpecial = [], disallowedSpecial = [] } = options;
  const encoding = encodings[await readEncoding(options)];
  const tokenizer = await encoding.load();
  const all = encoding.marks.split(' ').map((name) => `<|${name}|>`);
  const toMarks = (marks: string | Iterable<string>): readonly string[] =>
    marks === 'all' ? all : typeof marks === 'string' ? [marks] : [...marks];
  const listed = toMarks(allowedSpecial);
  const allowed = all.filter((mark) => listed.includes(mark));
  const disallowed = toMarks(disallowedSpecial).filter((mark) => disallowedSpecial !== 'all' || !listed.includes(mark));
  // Marks are handled here: the tokenizer itself finds them only at the start of a text.
  const ordinary = { disallowedSpecial: new Set<string>() };
  const countOrdinary = countByWords((text) => tokenizer.countTokens(text, ordinary));
  const marks = toPattern(allowed);
  const forbidden = toPattern(disallowed);
  return {
    count: marks
      ? (text) => text.split(marks).reduce((sum, part, index) => sum + countOrdinary(part) + (index === 0 ? 0 : 1), 0)
      : countOrdinary,
    requireAllowed(text) {
      const found = forbidden?.exec(text);
      if (!found) return;
      throw new QuiverError(
        'TOKEN_NOT_ALLOWED',
        `The text contains '${found[0]}' at ${found.index}, which disallowedSpecial forbids. Remove it from one of them.`,
        { details: { mark: found[0], index: found.index } },
      );
    },
  };
}

function toPattern(marks: readonly string[]): RegExp | undefined {
  if (marks.length === 0) return undefined;
  return new RegExp(marks.map((mark) => mark.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'));
}

async function readEncoding({ encodingName, modelName }: TokenOptions): Promise<TokenEncoding> {
  const toEncoding = (name: TokenEncoding | 'gpt2'): TokenEncoding => (name === 'gpt2' ? 'r50k_base' : name);
  if (modelName === undefined) return toEncoding(encodingName ?? 'cl100k_base');
  if (encodingName !== undefined)
    throw invalidOptions("'encodingName' and 'modelName' exclude each other: a model has its encoding.");
  const { modelToEncodingMap } = await import('gpt-tokenizer/mapping').catch(explainMissing);
  const known: Readonly<Record<string, TokenEncoding | 'gpt2'>> = modelToEncodingMap;
  if (Object.hasOwn(known, modelName)) return toEncoding(known[modelName]!);
  // The package lists older models; later models have one encoding.
  if (/^(?:chatgpt-4o|gpt-4o|gpt-4\.[15]|gpt-5|o[1-9])(?![a-z0-9])/.test(modelName)) return 'o200k_base';
  throw invalidOptions(
    `The encoding of the model '${modelName}' is not known. Name it with 'encodingName': ${encodingNames.join(', ')}.`,
  );
}

function explainMissing(error: unknown): never {
  throw new QuiverError(
    'TOKENIZER_MISSING',
    'Counting tokens needs the package gpt-tokenizer. Install it: npm install gpt-tokenizer',
    { cause: error },
  );
}

/** Longer pieces hardly come again. */
const longestKept = 400;
/** Then what is kept is forgotten, so that a text of nothing but new words needs no more memory than others. */
const mostKept = 50_000;

/**
 * A longer character (grapheme cluster), such as a letter with thousands of accents, cannot be cut, and the tokenizer needs quadratic time
 * for it. It is counted in parts, which together have a few tokens more.
 */
const longestCluster = 1000;

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
    if (piece.length > longestKept) return countLongPiece(piece);
    let tokens = known.get(piece);
    if (tokens === undefined) {
      tokens = count(piece);
      if (known.size >= mostKept) known.clear();
      known.set(piece, tokens);
    }
    return tokens;
  }

  function countLongPiece(piece: string): number {
    const end = piece.length > longestCluster ? nextGraphemeBoundary(piece, 0) : 0;
    if (end <= longestCluster) return count(piece);
    let sum = end < piece.length ? countPiece(piece.slice(end)) : 0;
    for (let at = 0; at < end; at += longestCluster) sum += count(piece.slice(at, Math.min(end, at + longestCluster)));
    return sum;
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
