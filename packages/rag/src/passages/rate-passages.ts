import { confidenceOf, weighTerms, type WeightedTerm } from '../retrieval/confidence.js';
import { isFunctionTerm } from '../retrieval/terms/analysis.js';
import { english, type Language } from '../retrieval/terms/languages.js';
import { loadAnalyzer, toAnalyzerId } from '../retrieval/terms/term-analyzer.js';
import { keywordText, recordText } from '../store/record-text.js';
import type { VectorRecord } from '../store/vector-store.js';
import { passageTopic } from './passage-topic.js';

/** Members of a result that is empty. */
export interface NothingFound {
  /** Present if no passage was found, or none with the required confidence. */
  nothingFound?: true;
  /** With `nothingFound`: documents and headings of the best passages that were rejected, best first. At most 5. */
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

/**
 * Adds the confidence of each passage, and removes the passages below `minConfidence`.
 *
 * @param passages - best first; their order does not change
 */
export async function ratePassages<Passage extends Pick<VectorRecord, 'document' | 'metadata'>>(
  passages: readonly Passage[],
  { question, minConfidence = 0 }: { question: string; minConfidence?: number | undefined },
): Promise<{ passages: RatedPassage<Passage>[] } & NothingFound> {
  const confidences = await ratesOf(passages, question);
  const rated = passages.map((passage, place) => ({ ...passage, confidence: confidences[place] as number }));
  const accepted = rated.filter(({ confidence }) => confidence >= minConfidence);
  if (accepted.length > 0) return { passages: accepted };
  const nearest = rated.toSorted((a, b) => b.confidence - a.confidence).map(({ metadata }) => passageTopic(metadata));
  const topics = new Set(nearest.filter((topic) => topic !== undefined));
  return { passages: [], nothingFound: true, nearestTopics: [...topics].slice(0, maxTopics) };
}

/** Each passage is compared with the question in its own language. */
async function ratesOf(
  passages: readonly Pick<VectorRecord, 'document' | 'metadata'>[],
  question: string,
): Promise<number[]> {
  const analyzer = await loadAnalyzer(toAnalyzerId('auto'));
  const languages = passages.map(
    (passage) => analyzer.languageOf(recordText(passage), passage.metadata['language']) ?? english,
  );
  await analyzer.load(languages);
  const questions = new Map<Language, readonly WeightedTerm[]>();
  return passages.map((passage, place) => {
    const language = languages[place] as Language;
    const terms = questions.get(language) ?? weighTerms(question, (text) => analyzer.toContentTerms(text, language));
    questions.set(language, terms);
    const hasContent = terms.some(({ term }) => !isFunctionTerm(term));
    const text = keywordText(passage);
    const confidence = confidenceOf({
      question: terms,
      // A question such as "The Who" has no other words.
      passage: hasContent ? analyzer.toContentTerms(text, language) : analyzer.toTerms(text, language),
    });
    return Math.round(confidence * digits) / digits;
  });
}
