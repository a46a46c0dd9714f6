import { QuiverError } from '@quiver/core';
import type { PackOptions } from './pack-spans.js';
import type { SeparatorOptions, SeparatorPosition } from './separator-cut.js';

/** Options of every strategy. Sizes are UTF-16 code units, as in `string.length`. */
export interface CommonChunkOptions {
  /** No chunk is longer, unless a single character (grapheme cluster) is. Default 4000. */
  maxSize?: number;
  /** Another spelling of `maxSize`. */
  size?: number;
  /** How much of a chunk's end the next one repeats, at most; less than `maxSize`. Default 50, or a quarter of `maxSize` if that is less. */
  overlap?: number;
  /** Leaves out white space at both ends of a chunk; chunks of nothing else vanish. Default `true`. */
  stripWhitespace?: boolean;
}

export interface RecursiveChunkOptions extends CommonChunkOptions {
  strategy?: 'recursive';
  /** Where to cut, best first; `''` stands for anywhere. Default: blank lines, line breaks, spaces, anywhere. */
  separators?: string | readonly string[];
  /** Another spelling of `separators`. */
  separator?: string | readonly string[];
  /** The side of the cut on which a separator stays. Default `'end'`: at the end of the chunk before the cut. */
  separatorPosition?: SeparatorPosition;
  /** Another spelling: `true` means `'start'`. `false` means `'end'`, because nothing but white space is ever left out. */
  keepSeparator?: boolean | SeparatorPosition;
}

export interface MarkdownChunkOptions extends CommonChunkOptions {
  strategy?: 'markdown';
}

/** How to chunk a document. Without `strategy`, its type decides: `recursive` for text, `markdown` for Markdown. */
export type ChunkParams =
  | (RecursiveChunkOptions & { strategy: 'recursive' })
  | (MarkdownChunkOptions & { strategy: 'markdown' })
  | (CommonChunkOptions & { strategy?: never });

export type RecursiveOptions = PackOptions & SeparatorOptions;

const defaultMaxSize = 4000;
const defaultOverlap = 50;
const defaultSeparators = ['\n\n', '\r\n\r\n', '\n', ' ', ''];

/** An option object from outside, before anything is known about it. */
export type RawOptions = Readonly<Record<string, unknown>>;

const commonNames = ['strategy', 'maxSize', 'size', 'overlap', 'stripWhitespace'];

function parseCommonOptions(options: RawOptions, strategy: string, ownNames: readonly string[] = []): PackOptions {
  requireKnownNames(options, strategy, [...commonNames, ...ownNames]);
  const maxSize = oneSpelling(options, ['maxSize', 'size']) ?? defaultMaxSize;
  if (!Number.isSafeInteger(maxSize) || (maxSize as number) < 1) {
    throw invalid(`maxSize must be a whole number of at least 1, not ${show(maxSize)}.`);
  }
  const size = maxSize as number;
  const overlap = options['overlap'] ?? Math.min(defaultOverlap, Math.floor(size / 4));
  if (!Number.isSafeInteger(overlap) || (overlap as number) < 0) {
    throw invalid(`overlap must be a whole number of at least 0, not ${show(overlap)}.`);
  }
  if ((overlap as number) >= size) {
    throw invalid(
      `overlap (${show(overlap)}) must be less than maxSize (${size}), or chunks would only repeat each other.`,
    );
  }
  const stripWhitespace = options['stripWhitespace'] ?? true;
  if (typeof stripWhitespace !== 'boolean')
    throw invalid(`stripWhitespace must be true or false, not ${show(stripWhitespace)}.`);
  return { maxSize: size, overlap: overlap as number, stripWhitespace };
}

export function parseRecursiveOptions(options: RawOptions): RecursiveOptions {
  const own = ['separators', 'separator', 'separatorPosition', 'keepSeparator'];
  return {
    ...parseCommonOptions(options, 'recursive', own),
    separators: parseSeparators(oneSpelling(options, ['separators', 'separator']) ?? defaultSeparators),
    separatorPosition: parsePosition(oneSpelling(options, ['separatorPosition', 'keepSeparator']) ?? 'end'),
  };
}

export function parseMarkdownOptions(options: RawOptions): PackOptions {
  return parseCommonOptions(options, 'markdown');
}

function parseSeparators(value: unknown): readonly string[] {
  const list: unknown = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || list.length === 0 || !list.every((item) => typeof item === 'string')) {
    throw invalid(`separators must be a string or a list of strings, not ${show(value)}.`);
  }
  return list as string[];
}

function parsePosition(value: unknown): SeparatorPosition {
  if (value === true || value === 'start') return 'start';
  if (value === false || value === 'end') return 'end';
  throw invalid(`separatorPosition must be 'start' or 'end', not ${show(value)}.`);
}

function requireKnownNames(options: RawOptions, strategy: string, known: readonly string[]): void {
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw invalid(
    `Invalid parameters for ${strategy} strategy: '${unknown.join(', ')}' not supported. Known: ${known.join(', ')}.`,
  );
}

/** The value of an option with two spellings. Both at once must agree. */
function oneSpelling(options: RawOptions, [first, second]: readonly [string, string]): unknown {
  const a = options[first];
  const b = options[second];
  if (a !== undefined && b !== undefined && a !== b) {
    throw invalid(`${first} and ${second} are two spellings of one option and were given different values.`);
  }
  return a ?? b;
}

function invalid(message: string): QuiverError {
  return new QuiverError('CHUNK_OPTIONS_INVALID', message);
}

function show(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
