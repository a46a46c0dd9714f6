import { oneOf } from '@quiver/core/options';
import type { CommonChunkOptions, MeasureOptions, OptionReader } from './chunk-options.js';
import { invalidOptions } from './chunk-options.js';
import { codeLanguages, codeSeparators, type CodeLanguage } from './code-languages.js';
import { packSpans, type Chunker } from './pack-spans.js';
import { findSeparatorCut, readSeparators, type Separator, type SeparatorChunkOptions } from './separator-cut.js';

/** Default separators: blank lines, line breaks, full stops of Chinese and Japanese, spaces, anywhere. */
export interface RecursiveChunkOptions extends CommonChunkOptions, MeasureOptions, SeparatorChunkOptions {
  strategy?: 'recursive';
  /**
   * Language of source code, which is cut between declarations; excludes `separators`. Chunks have it in their metadata as `codeLanguage`:
   * `language` is the natural language of their words.
   */
  language?: CodeLanguage;
}

const anyLanguage = oneOf(...codeLanguages);

/** Matches behind the full stop and its closing quotation marks. */
const cjkSentenceEnd = /(?<=[。！？][」』）”’]*)(?![。！？」』）”’])/g;

const prose: readonly Separator[] = ['\n\n', '\r\n\r\n', '\n', cjkSentenceEnd, ' ', ''];

/**
 * The `recursive` strategy: a chunk is as long as fits and ends at the best separator: paragraphs before lines before words before
 * characters; in source code, declarations first.
 */
export function recursive(read: OptionReader): Chunker {
  const language = read.value<CodeLanguage>('language', anyLanguage);
  const common = read.common(language === undefined ? {} : { separatorPosition: 'start' });
  const given = readSeparators(read);
  if (language !== undefined && given !== undefined)
    throw invalidOptions("'language' and 'separators' exclude each other: a language brings its own separators.");
  const separators = language === undefined ? (given ?? prose) : codeSeparators(language);
  return (text) => {
    // The look-behind runs at every position of a text, also of those without such sentences.
    const used = separators.filter((separator) => separator !== cjkSentenceEnd || /[。！？]/.test(text));
    const options = { ...common, separators: used };
    const spans = packSpans(text, options, findSeparatorCut(text, options));
    return language === undefined ? spans : spans.map((span) => ({ ...span, metadata: { codeLanguage: language } }));
  };
}
