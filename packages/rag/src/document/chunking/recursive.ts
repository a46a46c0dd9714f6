import { invalidOptions } from '@quiver/core/internal';
import { Bond, findBond } from './bonds.js';
import { defaultMinSize, toPackOptions, type MinSizeOptions } from './chunk-options.js';
import { codeSeparators, type CodeLanguage } from './code-languages.js';
import { packSpans, type Chunker } from './pack-spans.js';
import { findSeparatorCut, readSeparators, type Separator, type SeparatorChunkOptions } from './separator-cut.js';

/** Default separators: blank lines, line breaks, full stops of Chinese and Japanese, spaces, anywhere. */
export interface RecursiveChunkOptions extends MinSizeOptions, SeparatorChunkOptions {
  strategy?: 'recursive';
  /**
   * Language of source code, which is cut between declarations; excludes `separators`. Chunks have it in their metadata as `codeLanguage`:
   * `language` is the natural language of their words.
   */
  language?: CodeLanguage;
}

/** Matches behind the full stop and its closing quotation marks, of which it reads eight: it looks back from every position. */
const cjkSentenceEnd = /(?<=[。！？][」』）”’]{0,8})(?![。！？」』）”’])/g;

const prose: readonly Separator[] = ['\n\n', '\r\n\r\n', '\n', cjkSentenceEnd, ' ', ''];

/**
 * The `recursive` strategy: a chunk is as long as fits and ends at the best separator: paragraphs before lines before words before
 * characters; in source code, declarations first. With the default separators, a term stays with its definition, and a line that ends with
 * a colon with the next one.
 */
export function recursive(given: RecursiveChunkOptions): Chunker {
  const { language } = given;
  const named = readSeparators(given);
  const isProse = language === undefined && named === undefined;
  const common = toPackOptions(given, {
    // Between the parts that a caller or a language names, a small chunk is better than a cut at another place.
    minSize: isProse ? defaultMinSize : 0,
    ...(language && { separatorPosition: 'start' }),
  });
  if (language !== undefined && named !== undefined)
    throw invalidOptions("'language' and 'separators' exclude each other: a language brings its own separators.");
  const separators = language === undefined ? (named ?? prose) : codeSeparators(language);
  return (text) => {
    // The look-behind runs at every position of a text, also of those without such sentences.
    const used = separators.filter((separator) => separator !== cjkSentenceEnd || /[。！？]/.test(text));
    const mayCut = (cut: number): boolean => findBond(text, cut) < Bond.strong;
    const options = { ...common, separators: used, ...(isProse && { mayCut }) };
    const spans = packSpans(text, options, findSeparatorCut(text, options));
    return language === undefined ? spans : spans.map((span) => ({ ...span, metadata: { codeLanguage: language } }));
  };
}
