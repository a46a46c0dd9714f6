import {
  abortableItems,
  anyValue,
  checkOptions,
  numberIn,
  requireItems,
  signalValue,
  wholeNumber,
  type OptionChecks,
} from '@quiver/core/internal';
import { contentHash } from '../document/content-hash.js';
import type { RetrievalCase } from './cases.js';
import { evaluationInvalid, evaluationSettings } from './evaluation-error.js';
import { toLetters } from './letters.js';

/** A text that a question can be made of. */
export interface CasePassage {
  readonly text: string;
  /** `metadata.source`. */
  readonly source?: string | undefined;
}

/** Options of `makeCases()`. */
export interface MakeCasesOptions {
  /** Texts of the documents or of an index. */
  passages: Iterable<CasePassage> | AsyncIterable<CasePassage>;
  /** Number of cases. Default 100. */
  count?: number;
  /** Chooses passages and words: equal seeds choose equal ones. Default 1. */
  seed?: number;
  signal?: AbortSignal | undefined;
}

const checks: OptionChecks<MakeCasesOptions> = {
  passages: anyValue,
  count: wholeNumber(1),
  seed: numberIn({}),
  signal: signalValue,
};

/** Words of a sentence that a question is made of. A longer one is a list or a table. */
const [leastWords, mostWords] = [8, 40];

/**
 * Makes cases without a model: a question is half of the words of a sentence, in their order, and its answer is the sentence. Keyword search
 * finds nearly all of them, so they show whether vectors fit the documents at all, in their language, and how sizes and settings compare. They
 * do not show whether vectors are better than keywords.
 *
 * @throws `EVALUATION_INVALID` for invalid options, and passages without a sentence of 8 to 40 words; the abort reason
 * @example
 * const cases = await makeCases({ passages: chunks.map(({ text }) => ({ text })), count: 50 });
 */
export async function makeCases(options: MakeCasesOptions): Promise<RetrievalCase[]> {
  checkOptions('makeCases', options, checks, evaluationSettings);
  requireItems('makeCases', 'passages', options.passages, evaluationSettings);
  const { passages, count = 100, seed = 1, signal } = options;
  // Some passages have no sentence.
  const sample = await samplePassages(passages, { seed, count: 4 * count, signal });
  const cases = sample.flatMap(({ text }) => toCase(text, seed)).slice(0, count);
  if (cases.length > 0) return cases;
  throw evaluationInvalid(
    `No question can be made of these documents: none has a sentence of ${leastWords} to ${mostWords} words. Pass cases.`,
  );
}

/** Shorter passages, such as a heading alone, answer no question. */
const minLetters = 80;

/** Returns the passages with the smallest hashes: a random sample that does not depend on their order. */
export async function samplePassages(
  passages: MakeCasesOptions['passages'],
  { seed, count, signal }: { seed: number; count: number; signal: AbortSignal | undefined },
): Promise<CasePassage[]> {
  let sample = new Map<string, CasePassage>();
  const cut = (): void => {
    const sorted = [...sample].sort(([one], [other]) => (one < other ? -1 : 1));
    sample = new Map(sorted.slice(0, count));
  };
  for await (const { text, source } of abortableItems(passages, signal)) {
    const letters = toLetters(text);
    if (letters.length < minLetters) continue;
    const key = contentHash(String(seed), letters);
    const other = sample.get(key);
    const isOwn = source !== undefined && (!other || other.source === source);
    sample.set(key, isOwn ? { text, source } : { text });
    if (sample.size > 2 * count) cut();
  }
  cut();
  return [...sample.values()];
}

function toCase(text: string, seed: number): RetrievalCase[] {
  const orderOf = (part: string): string => contentHash('case', String(seed), part);
  const sentences = parts(text, 'sentence')
    .map(({ segment }) => ({ quote: segment.trim(), words: parts(segment, 'word').filter((word) => word.isWordLike) }))
    .filter(({ words }) => words.length >= leastWords && words.length <= mostWords)
    .map((sentence) => ({ ...sentence, order: orderOf(sentence.quote) }));
  const [chosen] = sentences.sort((one, other) => (one.order < other.order ? -1 : 1));
  if (!chosen) return [];
  const { quote, words } = chosen;
  const byOrder = words.map(({ segment }, place) => ({ segment, place, order: orderOf(`${place} ${segment}`) }));
  const half = byOrder.sort((one, other) => (one.order < other.order ? -1 : 1)).slice(0, words.length / 2);
  const kept = half.sort((one, other) => one.place - other.place).map(({ segment }) => segment);
  return [{ question: kept.join(' '), relevant: [{ quote }] }];
}

function parts(text: string, granularity: 'sentence' | 'word'): Intl.SegmentData[] {
  return [...new Intl.Segmenter('und', { granularity }).segment(text)];
}
