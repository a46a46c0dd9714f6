import type { ExtractParams } from '../extract/extract-options.js';
import type { CodeLanguage } from './code-languages.js';
import type { SeparatorPosition } from './separator-cut.js';
import type { TokenOptions } from './token-counter.js';

/** Options of every strategy. Sizes are UTF-16 code units, as in `string.length`, unless something else measures them. */
export interface CommonChunkOptions {
  /** No chunk is longer, unless a single character (grapheme cluster) is. Default 4000. */
  maxSize?: number;
  /** Another spelling of `maxSize`. */
  size?: number;
  /** How much of a chunk's end the next one repeats, at most; less than `maxSize`. Default 50, or a quarter of `maxSize` if that is less. */
  overlap?: number;
  /** Leaves out white space at both ends of a chunk; chunks of nothing else vanish. Default `true`. */
  stripWhitespace?: boolean;
  /** Accepted from older code; the place of a chunk is always in its metadata. */
  addStartIndex?: boolean;
  /** Titles, summaries and the like for each chunk, see `MDocument.extractMetadata`. */
  extract?: ExtractParams;
}

/** Measures sizes, instead of `text.length`. */
export interface MeasureOptions {
  /** The size of a text. Called several times for each chunk, so it should be fast. */
  lengthFunction?: (text: string) => number;
}

export interface SeparatorChunkOptions {
  /** Where to cut, best first; `''` stands for anywhere. */
  separators?: string | readonly string[];
  /** Another spelling of `separators`. */
  separator?: string | readonly string[];
  /** Separators are the sources of regular expressions. Default `false`. */
  isSeparatorRegex?: boolean;
  /** The side of the cut on which a separator stays. Default `'end'`: at the end of the chunk before the cut. */
  separatorPosition?: SeparatorPosition;
  /** Another spelling: `true` means `'start'`. `false` means `'end'`, because nothing but white space is ever left out. */
  keepSeparator?: boolean | SeparatorPosition;
}

/** Default separators: blank lines, line breaks, spaces, anywhere. */
export interface RecursiveChunkOptions extends CommonChunkOptions, MeasureOptions, SeparatorChunkOptions {
  strategy?: 'recursive';
  /** Cuts source code between its declarations; takes the place of `separators`. */
  language?: CodeLanguage;
}

/** Default separator: a blank line. What holds none is cut between words. */
export interface CharacterChunkOptions extends CommonChunkOptions, MeasureOptions, SeparatorChunkOptions {
  strategy?: 'character';
}

/** `maxSize` and `overlap` are numbers of tokens. */
export interface TokenChunkOptions extends CommonChunkOptions, TokenOptions {
  strategy?: 'token';
}

export interface SentenceChunkOptions extends CommonChunkOptions, MeasureOptions {
  strategy?: 'sentence';
  /** Chunks end before the sentence that would pass this size; one that is longer stands alone. Default 0.8 × `maxSize`. */
  targetSize?: number;
  /** Chunks smaller than this take one more sentence, if it fits. Default 0. */
  minSize?: number;
  /** What ends a sentence. Default: the rules of Unicode for all scripts, and common abbreviations. */
  sentenceEnders?: readonly string[];
  /** Divides a sentence longer than `maxSize` between words. Default `true`. */
  fallbackToWords?: boolean;
  /** Divides a word longer than `maxSize`; if not, such a word is an error. Default `true`. */
  fallbackToCharacters?: boolean;
}

export interface MarkdownChunkOptions extends CommonChunkOptions, MeasureOptions {
  strategy?: 'markdown';
  /** Headings that begin a chunk, and the metadata key for their titles: `[['#', 'title'], ['##', 'section']]`. Default: all, without keys. */
  headers?: readonly (readonly [mark: string, key: string])[];
  /** With `headers`, leaves the headings themselves out of the text: they are in the metadata. Default `true`. */
  stripHeaders?: boolean;
  /** Makes a chunk of each line. Default `false`. */
  returnEachLine?: boolean;
}

/** `maxSize`, `overlap` and `joinThreshold` are numbers of tokens. */
export interface SemanticMarkdownChunkOptions extends CommonChunkOptions, TokenOptions {
  strategy?: 'semantic-markdown';
  /** Neighbouring sections are joined up to this size. Default 500, or `maxSize` if that is less. */
  joinThreshold?: number;
}

export interface HtmlChunkOptions extends CommonChunkOptions, MeasureOptions {
  strategy?: 'html';
  /** Headings that begin a chunk, and the metadata key for their titles: `[['h1', 'title']]`. Default: `h1` to `h6`, without keys. */
  headers?: readonly (readonly [tag: string, key: string])[];
  /** Elements that are sections, and the metadata key for their titles: `[['section', 'chapter']]`. */
  sections?: readonly (readonly [tag: string, key: string])[];
  /** Makes a chunk of each block, such as a paragraph or a list item. Default `false`. */
  returnEachLine?: boolean;
}

export interface JsonChunkOptions extends CommonChunkOptions, MeasureOptions {
  strategy?: 'json';
  /** Chunks smaller than this are joined with their neighbours if both fit, as all chunks are. At most `maxSize`. */
  minSize?: number;
  /** Writes characters beyond ASCII as escapes, such as `\u00e9`. Default `false`. */
  ensureAscii?: boolean;
  /** Writes several elements of a list as `{"3": …, "4": …}`, with their places in the list. Default `false`. */
  convertLists?: boolean;
}

export interface LatexChunkOptions extends CommonChunkOptions, MeasureOptions {
  strategy?: 'latex';
}

/** How to chunk a document. Without `strategy`, its type decides: see `DocumentType`. */
export type ChunkParams =
  | (RecursiveChunkOptions & { strategy: 'recursive' })
  | (CharacterChunkOptions & { strategy: 'character' })
  | (TokenChunkOptions & { strategy: 'token' })
  | (SentenceChunkOptions & { strategy: 'sentence' })
  | (MarkdownChunkOptions & { strategy: 'markdown' })
  | (SemanticMarkdownChunkOptions & { strategy: 'semantic-markdown' })
  | (HtmlChunkOptions & { strategy: 'html' })
  | (JsonChunkOptions & { strategy: 'json' })
  | (LatexChunkOptions & { strategy: 'latex' })
  | (CommonChunkOptions & MeasureOptions & { strategy?: never });
