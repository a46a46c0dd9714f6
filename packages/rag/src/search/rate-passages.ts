import { confidenceOf } from './confidence.js';
import type { Question } from './question.js';
import type { VectorRecord } from '../store/vector-store.js';
import { passageTopic } from './passage-topic.js';

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
   * How much of what the question asks for is in the passage, between 0 and 1: .5 separates questions that the documents answer
   * from others best. Comparable between questions, modes and indexes, in contrast to `score`.
   */
  confidence: number;
};

const maxTopics = 5;
const digits = 1000;
/** Confidence of a passage whose topic is named. That of a passage with none of the words of the query is .001. */
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
