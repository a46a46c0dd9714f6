import { codeLanguages, codeSeparators } from './code-languages.js';
import {
  invalidOptions,
  oneSpelling,
  parseBoolean,
  parseNamePairs,
  parseOneOf,
  parseStrings,
  parseWholeNumber,
  requireKnownNames,
  show,
  type RawOptions,
} from './option-values.js';
import type { PackOptions } from './pack-spans.js';
import type { Separator, SeparatorOptions, SeparatorPosition } from './separator-cut.js';
import type { Measure } from './size-limit.js';
import { parseTokenOptions, tokenOptionNames, type ParsedTokenOptions } from './token-counter.js';

/** The parsed options of each strategy, every default filled in. */
export type RecursiveOptions = PackOptions & SeparatorOptions & { readonly language?: string };
export type TokenStrategyOptions = PackOptions & { readonly tokens: ParsedTokenOptions };
export type SemanticMarkdownOptions = TokenStrategyOptions & { readonly joinThreshold: number };

export interface SentenceOptions extends PackOptions {
  readonly targetSize: number;
  readonly minSize: number;
  readonly sentenceEnders: readonly string[] | undefined;
  readonly fallbackToWords: boolean;
  readonly fallbackToCharacters: boolean;
}

export interface MarkdownOptions extends PackOptions {
  /** Metadata keys by level; `undefined`: every heading begins a section. */
  readonly headers: ReadonlyMap<number, string> | undefined;
  readonly stripHeaders: boolean;
  readonly returnEachLine: boolean;
}

export interface HtmlOptions extends Omit<MarkdownOptions, 'stripHeaders'> {
  /** Metadata keys by tag name. */
  readonly sections: ReadonlyMap<string, string>;
}

export interface JsonOptions extends PackOptions {
  readonly ensureAscii: boolean;
  readonly convertLists: boolean;
}

const defaultMaxSize = 4000;
const defaultOverlap = 50;
const defaultSeparators = ['\n\n', '\r\n\r\n', '\n', ' ', ''];
const commonNames = ['strategy', 'maxSize', 'size', 'overlap', 'stripWhitespace', 'addStartIndex'];
const separatorNames = ['separators', 'separator', 'isSeparatorRegex', 'separatorPosition', 'keepSeparator'];

interface Names {
  strategy: string;
  own?: readonly string[];
  /** Sizes in tokens leave no place for another measure. */
  measured?: boolean;
  overlap?: number;
}

function parseCommon(
  options: RawOptions,
  { strategy, own = [], measured = true, overlap: preset }: Names,
): PackOptions {
  requireKnownNames(options, strategy, [...commonNames, ...(measured ? ['lengthFunction'] : []), ...own]);
  const maxSize = parseWholeNumber('maxSize', oneSpelling(options, ['maxSize', 'size']) ?? defaultMaxSize, 1);
  const usual = Math.min(preset ?? defaultOverlap, Math.floor(maxSize / 4));
  const overlap = parseWholeNumber('overlap', options['overlap'] ?? usual, 0);
  if (overlap >= maxSize) {
    throw invalidOptions(
      `overlap (${overlap}) must be less than maxSize (${maxSize}), or chunks would only repeat each other.`,
    );
  }
  const { lengthFunction: measure } = options;
  if (measure !== undefined && typeof measure !== 'function') {
    throw invalidOptions(`lengthFunction must be a function from a text to its size, not ${show(measure)}.`);
  }
  parseBoolean(options, 'addStartIndex', true);
  const stripWhitespace = parseBoolean(options, 'stripWhitespace', true);
  // What a function from outside returns is checked whenever it is called.
  return { maxSize, overlap, stripWhitespace, ...(measure !== undefined && { measure: measure as Measure }) };
}

export function parseRecursiveOptions(options: RawOptions): RecursiveOptions {
  const common = parseCommon(options, { strategy: 'recursive', own: [...separatorNames, 'language'] });
  const given = oneSpelling(options, ['separators', 'separator']);
  if (options['language'] === undefined) {
    return {
      ...common,
      separators: parseSeparators(options, given ?? defaultSeparators),
      separatorPosition: parsePosition(options, 'end'),
    };
  }
  if (given !== undefined)
    throw invalidOptions('language and separators exclude each other: a language brings its own separators.');
  const language = parseOneOf('language', options['language'], codeLanguages);
  return {
    ...common,
    separators: codeSeparators(language),
    separatorPosition: parsePosition(options, 'start'),
    language,
  };
}

export function parseCharacterOptions(options: RawOptions): RecursiveOptions {
  const common = parseCommon(options, { strategy: 'character', own: separatorNames });
  const separators = parseSeparators(options, oneSpelling(options, ['separators', 'separator']) ?? ['\n\n']);
  return { ...common, separators, separatorPosition: parsePosition(options, 'end') };
}

export function parseTokenStrategyOptions(options: RawOptions): TokenStrategyOptions {
  const common = parseCommon(options, { strategy: 'token', own: tokenOptionNames, measured: false });
  return { ...common, tokens: parseTokenOptions(options) };
}

export function parseSentenceOptions(options: RawOptions): SentenceOptions {
  const own = ['minSize', 'targetSize', 'sentenceEnders', 'fallbackToWords', 'fallbackToCharacters'];
  const common = parseCommon(options, { strategy: 'sentence', own, overlap: 0 });
  const targetSize = parseWholeNumber('targetSize', options['targetSize'] ?? Math.ceil(common.maxSize * 0.8), 1);
  const minSize = parseWholeNumber('minSize', options['minSize'] ?? 0, 0);
  requireUpTo(common.maxSize, { targetSize, minSize });
  const enders = options['sentenceEnders'];
  return {
    ...common,
    targetSize,
    minSize,
    sentenceEnders: enders === undefined ? undefined : parseSentenceEnders(enders),
    fallbackToWords: parseBoolean(options, 'fallbackToWords', true),
    fallbackToCharacters: parseBoolean(options, 'fallbackToCharacters', true),
  };
}

/** The empty ones among others have no effect. */
function parseSentenceEnders(value: unknown): readonly string[] {
  const enders = parseStrings('sentenceEnders', value).filter((ender) => ender !== '');
  if (enders.length > 0) return enders;
  throw invalidOptions('sentenceEnders must name what ends a sentence. Leave it out for the rules of Unicode.');
}

export function parseMarkdownOptions(options: RawOptions): MarkdownOptions {
  const common = parseCommon(options, { strategy: 'markdown', own: ['headers', 'stripHeaders', 'returnEachLine'] });
  const headers =
    options['headers'] === undefined
      ? undefined
      : parseNamePairs('headers', options['headers'], (mark) => (/^#{1,6}$/.test(mark) ? mark.length : undefined));
  return {
    ...common,
    headers,
    stripHeaders: parseBoolean(options, 'stripHeaders', true),
    returnEachLine: parseBoolean(options, 'returnEachLine', false),
  };
}

export function parseSemanticMarkdownOptions(options: RawOptions): SemanticMarkdownOptions {
  const own = ['joinThreshold', ...tokenOptionNames];
  const common = parseCommon(options, { strategy: 'semantic-markdown', own, measured: false });
  const usual = Math.min(500, common.maxSize);
  const joinThreshold = parseWholeNumber('joinThreshold', options['joinThreshold'] ?? usual, 0);
  return { ...common, joinThreshold: Math.min(joinThreshold, common.maxSize), tokens: parseTokenOptions(options) };
}

export function parseHtmlOptions(options: RawOptions): HtmlOptions {
  const common = parseCommon(options, { strategy: 'html', own: ['headers', 'sections', 'returnEachLine'] });
  const headers = options['headers'];
  const sections = parseNamePairs('sections', options['sections'] ?? [], toTagName);
  // Older code lists headings among the sections.
  const levels = new Map(
    [...sections].flatMap(([tag, key]) => (toLevel(tag) ? [[toLevel(tag) as number, key] as const] : [])),
  );
  if (headers !== undefined)
    for (const [level, key] of parseNamePairs('headers', headers, toLevel)) levels.set(level, key);
  return {
    ...common,
    headers: headers === undefined && levels.size === 0 ? undefined : levels,
    sections: new Map([...sections].filter(([tag]) => !toLevel(tag))),
    returnEachLine: parseBoolean(options, 'returnEachLine', false),
  };
}

export function parseJsonOptions(options: RawOptions): JsonOptions {
  const common = parseCommon(options, {
    strategy: 'json',
    own: ['minSize', 'ensureAscii', 'convertLists'],
    overlap: 0,
  });
  requireUpTo(common.maxSize, { minSize: parseWholeNumber('minSize', options['minSize'] ?? 0, 0) });
  return {
    ...common,
    ensureAscii: parseBoolean(options, 'ensureAscii', false),
    convertLists: parseBoolean(options, 'convertLists', false),
  };
}

export function parseLatexOptions(options: RawOptions): PackOptions {
  return parseCommon(options, { strategy: 'latex' });
}

function requireUpTo(maxSize: number, sizes: Readonly<Record<string, number>>): void {
  for (const [name, size] of Object.entries(sizes)) {
    if (size > maxSize) throw invalidOptions(`${name} (${size}) must not exceed maxSize (${maxSize}).`);
  }
}

function parseSeparators(options: RawOptions, value: unknown): readonly Separator[] {
  const separators = parseStrings('separators', value);
  if (!parseBoolean(options, 'isSeparatorRegex', false)) return separators;
  return separators.map((source) => {
    if (source === '') return '';
    try {
      return new RegExp(source, 'g');
    } catch (error) {
      throw invalidOptions(
        `The separator ${show(source)} is not a regular expression: ${(error as Error).message}`,
        error,
      );
    }
  });
}

function parsePosition(options: RawOptions, usual: SeparatorPosition): SeparatorPosition {
  const value = oneSpelling(options, ['separatorPosition', 'keepSeparator']) ?? usual;
  if (value === true || value === 'start') return 'start';
  if (value === false || value === 'end') return 'end';
  throw invalidOptions(`separatorPosition must be 'start' or 'end', not ${show(value)}.`);
}

function toTagName(tag: string): string | undefined {
  return /^[a-z][a-z0-9-]*$/i.test(tag) ? tag.toLowerCase() : undefined;
}

function toLevel(tag: string): number | undefined {
  return /^h[1-6]$/i.test(tag) ? Number(tag[1]) : undefined;
}
