import { QuiverError } from '@quiver/core';
import { invalidOptions, requireOneOf, show, type OptionReader } from './chunk-options.js';
import type { Measure } from './pack-spans.js';
import { isWhiteSpace } from './text-boundary.js';

const encodingNames = ['cl100k_base', 'o200k_base', 'o200k_harmony', 'p50k_base', 'p50k_edit', 'r50k_base'] as const;

export type TokenEncoding = (typeof encodingNames)[number];

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

interface ParsedTokenOptions {
  readonly encodingName: TokenEncoding;
  readonly modelName: string | undefined;
  readonly allowedSpecial: 'all' | ReadonlySet<string>;
  readonly disallowedSpecial: 'all' | ReadonlySet<string>;
}

function readTokenOptions(read: OptionReader): ParsedTokenOptions {
  const encodingName = read.value('encodingName');
  const modelName = read.value('modelName');
  if (encodingName !== undefined && modelName !== undefined)
    throw invalidOptions('encodingName and modelName exclude each other: a model has its encoding.');
  if (modelName !== undefined && typeof modelName !== 'string')
    throw invalidOptions(`modelName must be the name of a model, not ${show(modelName)}.`);
  const encoding = encodingName === 'gpt2' ? 'r50k_base' : (encodingName ?? 'cl100k_base');
  return {
    encodingName: requireOneOf('encodingName', encoding, encodingNames),
    modelName,
    allowedSpecial: readSpecial('allowedSpecial', read),
    disallowedSpecial: readSpecial('disallowedSpecial', read),
  };
}

function readSpecial(name: string, read: OptionReader): 'all' | ReadonlySet<string> {
  const value = read.value(name) ?? [];
  if (value === 'all') return 'all';
  const marks: unknown[] | undefined =
    typeof value === 'string' ? [value] : Array.isArray(value) || value instanceof Set ? [...value] : undefined;
  if (marks?.every((mark) => typeof mark === 'string')) return new Set(marks as string[]);
  throw invalidOptions(`${name} must be 'all', or a list or Set of strings, not ${show(value)}.`);
}

/** Marks that have a token in each encoding. */
const specialMarks: Readonly<Record<TokenEncoding, readonly string[]>> = {
  cl100k_base: ['endoftext', 'fim_prefix', 'fim_middle', 'fim_suffix', 'endofprompt'],
  o200k_base: ['endoftext', 'endofprompt'],
  o200k_harmony: [
    'startoftext',
    'endoftext',
    'return',
    'constrain',
    'channel',
    'start',
    'end',
    'message',
    'call',
    'endofprompt',
  ],
  p50k_base: ['endoftext'],
  p50k_edit: ['endoftext', 'fim_prefix', 'fim_middle', 'fim_suffix'],
  r50k_base: ['endoftext'],
};

/** The functions of `gpt-tokenizer` that are called. */
interface Tokenizer {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

export interface TokenCounter {
  readonly count: Measure;
  /** @throws `TOKEN_NOT_ALLOWED` for a text that contains a mark of `disallowedSpecial`, with its position */
  requireAllowed(text: string): void;
}

/**
 * Reads the options of tokens, and returns a counter that uses `gpt-tokenizer`, an optional peer dependency.
 *
 * @throws `TOKENIZER_MISSING` when the package is not installed; `CHUNK_OPTIONS_INVALID` for an unknown model
 */
export async function readTokenCounter(read: OptionReader): Promise<TokenCounter> {
  const options = readTokenOptions(read);
  const encoding = await resolveEncoding(options);
  const tokenizer = await loadTokenizer(encoding);
  const all = specialMarks[encoding].map((name) => `<|${name}|>`);
  const allowed =
    options.allowedSpecial === 'all'
      ? all
      : all.filter((mark) => (options.allowedSpecial as ReadonlySet<string>).has(mark));
  const disallowed =
    options.disallowedSpecial === 'all'
      ? all.filter((mark) => !allowed.includes(mark))
      : [...options.disallowedSpecial];
  // Marks are handled here: the tokenizer itself finds them only at the start of a text.
  const ordinary = { disallowedSpecial: new Set<string>() };
  const countOrdinary = countByWords((text) => tokenizer.countTokens(text, ordinary));
  const marks = toPattern(allowed);
  return {
    count: marks
      ? (text) => text.split(marks).reduce((sum, part, index) => sum + countOrdinary(part) + (index === 0 ? 0 : 1), 0)
      : countOrdinary,
    requireAllowed(text) {
      const found = toPattern(disallowed)?.exec(text);
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

async function resolveEncoding({ modelName, encodingName }: ParsedTokenOptions): Promise<TokenEncoding> {
  if (modelName === undefined) return encodingName;
  const { modelToEncodingMap } = await import('gpt-tokenizer/mapping').catch(explainMissing);
  const encodings: Readonly<Record<string, string>> = modelToEncodingMap;
  if (Object.hasOwn(encodings, modelName)) {
    const name = encodings[modelName];
    return name === 'gpt2' ? 'r50k_base' : requireOneOf('encodingName', name, encodingNames);
  }
  // The package lists older models; what came later has one encoding.
  if (/^(?:chatgpt-4o|gpt-4o|gpt-4\.[15]|gpt-5|o[1-9])(?![a-z0-9])/.test(modelName)) return 'o200k_base';
  throw invalidOptions(
    `The encoding of the model ${show(modelName)} is not known. Name it with encodingName: ${encodingNames.join(', ')}.`,
  );
}

/** One `import` for each, so that bundlers see them. */
async function loadTokenizer(name: TokenEncoding): Promise<Tokenizer> {
  try {
    switch (name) {
      case 'cl100k_base':
        return await import('gpt-tokenizer/encoding/cl100k_base');
      case 'o200k_base':
        return await import('gpt-tokenizer/encoding/o200k_base');
      case 'o200k_harmony':
        return await import('gpt-tokenizer/encoding/o200k_harmony');
      case 'p50k_base':
        return await import('gpt-tokenizer/encoding/p50k_base');
      case 'p50k_edit':
        return await import('gpt-tokenizer/encoding/p50k_edit');
      case 'r50k_base':
        return await import('gpt-tokenizer/encoding/r50k_base');
    }
  } catch (error) {
    return explainMissing(error);
  }
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
