import { packSpans, type FindCut } from './pack-spans.js';
import type { SentenceOptions } from './parse-options.js';
import { QuiverError } from '@quiver/core';
import { readSentenceStarts, type SentenceStarts } from './sentence-starts.js';
import { createSizeLimit } from './size-limit.js';
import { lastAtOrBefore } from './sorted-search.js';
import type { Span } from './span.js';
import { findWordCut } from './word-cut.js';

/**
 * The `sentence` strategy: whole sentences up to `targetSize`. A sentence longer than that stands alone, and one longer than
 * `maxSize` is divided between words. What is left at the end is one chunk if it fits.
 */
export function chunkBySentence(text: string, options: SentenceOptions): Span[] {
  const { targetSize, minSize } = options;
  let sentences: SentenceStarts | undefined;
  const target = createSizeLimit(text, { ...options, maxSize: targetSize });
  const small = createSizeLimit(text, { ...options, maxSize: Math.max(0, minSize - 1) });
  const within = cutWithinSentence(text, options);
  const findCut: FindCut = (window) => {
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
  return packSpans(text, 0, text.length, options, findCut);
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
