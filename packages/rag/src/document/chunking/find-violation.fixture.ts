import type { Span } from './pack-spans.js';

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

export interface ExpectedSizes {
  maxSize: number;
  overlap: number;
  stripWhitespace: boolean;
  measure: (text: string) => number;
}

/** Checks the property of every strategy: spans cover the text, in order, within size, in whole characters. Returns what is wrong. */
export function findViolation(source: string, spans: readonly Span[], sizes: ExpectedSizes): string | undefined {
  const { maxSize, overlap, stripWhitespace, measure } = sizes;
  const boundaries = new Set([...Array.from(segmenter.segment(source), ({ index }) => index), source.length]);
  const isMissing = (text: string): boolean => (stripWhitespace ? text.trim() : text) !== '';
  let covered = 0;
  for (const { start, end } of spans) {
    const text = source.slice(start, end);
    const repeated = source.slice(start, Math.max(start, covered));
    const problems = {
      'is empty': text === '',
      'cuts a character': !boundaries.has(start) || !boundaries.has(end),
      'is too large': measure(text) > maxSize && [...segmenter.segment(text)].length > 1,
      'repeats too much': repeated !== '' && measure(repeated) > overlap,
      'adds nothing new': end <= covered,
      'leaves out the text before': isMissing(source.slice(covered, start)),
    };
    for (const [problem, isPresent] of Object.entries(problems))
      if (isPresent) return `The span from ${start} to ${end} ${problem}.`;
    covered = end;
  }
  return isMissing(source.slice(covered)) ? `The text from ${covered} is missing.` : undefined;
}
