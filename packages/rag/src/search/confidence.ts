import { textAbove } from '../store/record-text.js';
import type { VectorMetadata, VectorRecord } from '../store/vector-store.js';
import type { Question, QuestionMatches } from './question.js';

/** Members of a result that is empty. */
export interface NothingFound {
  /** Present if no passage was found, or none with the required confidence. */
  nothingFound?: true;
  /** With `nothingFound`: documents and headings of the nearest passages, best first. At most 5; absent if no passage is near. */
  nearestTopics?: string[];
}

/** A passage with its confidence. */
export type RatedPassage<Passage> = Passage & {
  /**
   * How much of what the query asks for is in the passage, between 0 and 1: .5 separates questions that the documents answer
   * from others best. Comparable between questions, modes and indexes, in contrast to `score`.
   */
  confidence: number;
};

const maxTopics = 5;
const digits = 1000;
/** Confidence of a passage whose topic is named. A passage with none of the words of the query has .001. */
const leastNear = 0.01;

/**
 * Adds the confidence of each passage, and removes the passages below `minConfidence`.
 *
 * @param passages - best first; their order does not change
 */
export function ratePassages<Passage extends Pick<VectorRecord, 'id' | 'document' | 'metadata'>>(
  passages: readonly Passage[],
  { question, minConfidence = 0 }: { question: Question; minConfidence?: number | undefined },
): { passages: RatedPassage<Passage>[] } & NothingFound {
  const rated = passages.map((passage) => {
    const confidence = confidenceOf(question, question.findIn(passage), question.standsOut.get(passage.id));
    return { ...passage, confidence: Math.round(confidence * digits) / digits };
  });
  const accepted = rated.filter(({ confidence }) => confidence >= minConfidence);
  if (accepted.length > 0) return { passages: accepted };
  const nearest = rated
    .filter(({ confidence }) => confidence >= leastNear)
    .toSorted((a, b) => b.confidence - a.confidence)
    .map(({ metadata }) => passageTopic(metadata));
  const topics = [...new Set(nearest.filter((topic) => topic !== undefined))].slice(0, maxTopics);
  return { passages: [], nothingFound: true, ...(topics.length > 0 && { nearestTopics: topics }) };
}

/** Returns the topic of a passage: the name of its document, and its last heading. */
function passageTopic(metadata: VectorMetadata): string | undefined {
  const { title, documentTitle, fileName, headings } = textAbove(metadata);
  const names = new Set([title || documentTitle || fileName, headings.at(-1) ?? '']);
  names.delete('');
  return names.size === 0 ? undefined : [...names].join(' › ');
}

/** A word with half of its trigrams is another word; with all of them, it is the same. */
const leastShare = 0.5;

/**
 * Coefficients of a logistic regression. Question sets with and without answers in the documents have the same weight, so that .5
 * separates them. Decision 0195 has the sets and the figures.
 */
const coefficients = { coverage: 4.7, nearness: 5.9, matched: 1.9, constant: -7.5 };

/**
 * Confidence that a vector adds when it is nearer than random ones are. The weight is that of an exponential distribution, whose density halves with each unit. It is
 * limited, so that a passage without any word of the query has .08 at most: encoders put texts of one language or form together, too.
 */
const ofVector = { usual: 3, weight: Math.LN2, most: 5 };

/**
 * Returns the confidence that a passage is about what a query asks for, between 0 and 1: .5 separates answered from unanswered
 * questions best.
 *
 * It depends on the share of the query's words that the passage contains, on the share that one line or sentence of it contains together
 * with title, source and headings (words far apart are rarely an answer), and on their number: six of twelve words are more than one of two.
 *
 * @param standsOut - lead of the vector of the passage in the index, see `VectorMatch`; 0 where vectors have no meaning
 */
export function confidenceOf(question: Question, matches: QuestionMatches, standsOut = 0): number {
  const { usual, weight, most } = ofVector;
  const gain = Math.min(most, weight * Math.max(0, standsOut - usual));
  return 1 / (1 + Math.exp(-logarithmOfOdds(question, matches) - gain));
}

function logarithmOfOdds({ words, size }: Question, { above, lines }: QuestionMatches): number {
  const { coverage, nearness, matched, constant } = coefficients;
  const total = words.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return constant;
  const isFound = new Uint8Array(size);
  for (const number of above) isFound[number] = 1;
  const best = words.map(() => 0);
  let nearest = 0;
  for (const line of lines.length === 0 ? [[]] : lines) {
    for (const number of line) isFound[number] = 1;
    let sum = 0;
    for (const [place, { weight, trigrams }] of words.entries()) {
      let count = 0;
      for (const number of trigrams) count += isFound[number] as number;
      const found = (weight * Math.max(0, count / trigrams.length - leastShare)) / (1 - leastShare);
      best[place] = Math.max(best[place] as number, found);
      sum += found;
    }
    nearest = Math.max(nearest, sum);
    // No line has numbers of what is above the text.
    for (const number of line) isFound[number] = 0;
  }
  const all = best.reduce((sum, found) => sum + found, 0);
  return (coverage * all + nearness * nearest) / total + matched * Math.log1p(all) + constant;
}
