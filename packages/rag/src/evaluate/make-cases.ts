import {
  abortableItems,
  anyValue,
  checkOptions,
  numberIn,
  requireItems,
  signalValue,
  wholeNumber,
  type OptionChecks,
  invalidOptions,
} from '@quiver/core/internal';
import { contentHash } from '../document/content-hash.js';
import { toLetters, type RetrievalCase } from './cases.js';

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
  /** Aborts the run. */
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
 * @throws `OPTIONS_INVALID` for invalid options, and passages without a sentence of 8 to 40 words; the abort reason
 * @example
 * const cases = await makeCases({ passages: chunks.map(({ text }) => ({ text })), count: 50 });
 */
export async function makeCases(options: MakeCasesOptions): Promise<RetrievalCase[]> {
  checkOptions('makeCases', options, checks);
  requireItems('makeCases', 'passages', options.passages);
  const { passages, count = 100, seed = 1, signal } = options;
  // Some passages have no sentence.
  const sample = await samplePassages(passages, { seed, count: 4 * count, signal });
  // A second sentence of a passage follows the first ones of all.
  const ranked = sample.flatMap(({ text }) => toCases(text, seed).map((one, rank) => ({ one, rank })));
  const cases = ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ one }) => one);
  if (cases.length > 0) return cases;
  throw invalidOptions(
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

/** Returns a case for each sentence of a text, in an order of the seed. */
function toCases(text: string, seed: number): RetrievalCase[] {
  const quotes = parts(text, 'sentence').map(({ segment }) => segment.trim());
  return shuffle(quotes, seed).flatMap((quote) => {
    const words = parts(quote, 'word').flatMap(({ isWordLike, segment }) => (isWordLike ? [segment] : []));
    if (words.length < leastWords || words.length > mostWords) return [];
    const half = new Set(shuffle([...words.keys()], seed, quote).slice(0, words.length / 2));
    const question = words.filter((_, place) => half.has(place)).join(' ');
    return [{ question, relevant: [{ quote }] }];
  });
}

function shuffle<Item extends string | number>(items: readonly Item[], seed: number, salt = ''): Item[] {
  const hashed = items.map((item) => ({ item, hash: contentHash('case', String(seed), salt, String(item)) }));
  return hashed.sort((one, other) => (one.hash < other.hash ? -1 : 1)).map(({ item }) => item);
}

function parts(text: string, granularity: 'sentence' | 'word'): Intl.SegmentData[] {
  return [...new Intl.Segmenter('und', { granularity }).segment(text)];
}
