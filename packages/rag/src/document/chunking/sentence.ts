import { QuiverError } from '@quiver/core';
import {
  invalidOptions,
  requireUpTo,
  type CommonChunkOptions,
  type MeasureOptions,
  type OptionReader,
} from './chunk-options.js';
import type { Chunker } from './span.js';
import { packSpans, type FindCut, type PackOptions, createSizeLimit } from './pack-spans.js';
import { readSentenceStarts, type SentenceStarts } from './sentence-starts.js';
import { findWordCut } from './separator-cut.js';
import { lastAtOrBefore } from './sorted-search.js';

export interface SentenceChunkOptions extends CommonChunkOptions, MeasureOptions {
  strategy?: 'sentence';
  /** Size that a chunk may not exceed by another sentence. A longer sentence becomes a chunk. Default 0.8 × `maxSize`. */
  targetSize?: number;
  /** Size below which a chunk takes one more sentence, if it fits. Default 0. */
  minSize?: number;
  /** Texts that end a sentence. Default: the sentence terminals of all scripts, without common abbreviations. */
  sentenceEnders?: readonly string[];
  /** Whether a sentence longer than `maxSize` is cut between words. Default `true`. */
  fallbackToWords?: boolean;
  /** Whether a word longer than `maxSize` is cut. Otherwise it is an error, `CHUNK_SIZE_UNREACHABLE`. Default `true`. */
  fallbackToCharacters?: boolean;
}

/**
 * The `sentence` strategy: whole sentences up to `targetSize`. A longer sentence becomes a chunk, and a sentence longer than `maxSize`
 * is cut between words. The rest at the end is one chunk if it fits.
 */
export function sentence(read: OptionReader): Chunker {
  const common = read.common({ overlap: 0 });
  const { maxSize } = common;
  const targetSize = read.wholeNumber('targetSize', { fallback: Math.ceil(maxSize * 0.8), least: 1 });
  const minSize = read.wholeNumber('minSize', { fallback: 0 });
  requireUpTo(maxSize, { targetSize, minSize });
  // Empty texts among others have no effect.
  const sentenceEnders = read.strings('sentenceEnders')?.filter((ender) => ender !== '');
  if (sentenceEnders?.length === 0)
    throw invalidOptions(
      'sentenceEnders must name what ends a sentence. Omit it for the sentence terminals of Unicode.',
    );
  const fallbackToWords = read.boolean('fallbackToWords', true);
  const fallbackToCharacters = read.boolean('fallbackToCharacters', true);
  const options = { ...common, targetSize, minSize, sentenceEnders, fallbackToWords, fallbackToCharacters };
  return (text) => packSpans(text, options, findSentenceCut(text, options));
}

interface SentenceOptions extends PackOptions {
  readonly targetSize: number;
  readonly minSize: number;
  readonly sentenceEnders: readonly string[] | undefined;
  readonly fallbackToWords: boolean;
  readonly fallbackToCharacters: boolean;
}

function findSentenceCut(text: string, options: SentenceOptions): FindCut {
  const { targetSize, minSize } = options;
  let sentences: SentenceStarts | undefined;
  const target = createSizeLimit(text, { ...options, maxSize: targetSize });
  const small = createSizeLimit(text, { ...options, maxSize: Math.max(0, minSize - 1) });
  const within = cutWithinSentence(text, options);
  return (window) => {
    const { start, first, last } = window;
    const wanted = Math.max(first - 1, Math.min(last, target.reach(start, last)));
    const { candidates, isStart } = (sentences ??= readSentenceStarts(text, options.sentenceEnders));
    const index = lastAtOrBefore(candidates, wanted);
    let previous = index;
    while (previous >= 0 && candidates[previous]! >= first && !isStart(candidates[previous]!, start)) previous--;
    const cut = previous >= 0 && candidates[previous]! >= first ? candidates[previous] : undefined;
    if (cut !== undefined && (minSize === 0 || !small.fits(start, cut))) return cut;
    let next = index + 1;
    while (next < candidates.length && candidates[next]! <= last && !isStart(candidates[next]!, start)) next++;
    return next < candidates.length && candidates[next]! <= last ? candidates[next] : (cut ?? within(window));
  };
}

function cutWithinSentence(text: string, options: SentenceOptions): FindCut {
  const { fallbackToWords, fallbackToCharacters, maxSize } = options;
  const betweenWords = findWordCut(text, options);
  return (window) => {
    const cut = fallbackToWords ? betweenWords(window) : undefined;
    if (cut !== undefined || fallbackToCharacters) return cut;
    throw new QuiverError(
      'CHUNK_SIZE_UNREACHABLE',
      `The text at ${window.start} has no place to cut within maxSize (${maxSize}). Allow fallbackToWords and fallbackToCharacters, or raise maxSize.`,
      { details: { index: window.start, maxSize } },
    );
  };
}
