import { recordText } from '../store/record-text.js';
import type { VectorMatch } from '../store/vector-store.js';
import { detectLanguage } from './terms/detect-language.js';
import { stopWordLists } from './terms/stop-word-lists.js';
import { TrigramSet } from './trigram-set.js';

/** Number of candidates that are ranked anew. A search finds at least so many. */
export const candidateDepth = 20;

/**
 * Weight of what a candidate contains of the question, where the score of the search has 1. Scores of a fusion differ less from place to place.
 * These numbers were chosen on the visible half of the field benchmark and on the test collections, see decision 0180.
 */
const textWeights = { keyword: 1, fusion: 0.25 };
/** Weight of a line or sentence, where what is above the text has 1. */
const lineWeight = 0.6;
/** Of longer questions and texts, the beginning counts. */
const longestQuestion = 1000;
const longestText = 20_000;

/**
 * Ranks the candidates of a search anew, by how much of the question stands above the text (title, source, headings), and how much of the rest
 * stands in one line or sentence of it: a long text with one line that answers is not worse than a short one.
 *
 * Words are compared by three letters at a time, so that “hidden” resembles “hide”, and “PostgreSQL” “postgres”. Three letters count more, the fewer
 * candidates contain them. Nothing but the candidates is read, so that every store gives the same order for the same candidates.
 *
 * @param matches - best first; those after the first {@link candidateDepth} stay behind the others
 * @param scores - origin of their scores
 * @returns the same matches, best first, with new scores from 0 to 1
 */
export function rankCandidates<Match extends VectorMatch>(
  question: string,
  matches: readonly Match[],
  scores: keyof typeof textWeights,
): Match[] {
  const wanted = new TrigramSet(wordsOf(question.slice(0, longestQuestion)));
  const found = matches.slice(0, candidateDepth).map((match) => findIn(match, wanted));
  const rarities = raritiesAmong(found, wanted.size);
  const total = rarities.reduce((sum, rarity) => sum + rarity, 0) || 1;
  const shareOf = (numbers: readonly number[]): number =>
    numbers.reduce((sum, number) => sum + (rarities[number] as number), 0) / total;
  const weight = textWeights[scores];
  const largest = weight * (matches[0]?.score ?? 0);
  const ranked = matches.map((match, place) => {
    const { above = [], lines = [] } = found[place] ?? {};
    const line = lines.reduce((most, each) => Math.max(most, shareOf(each)), 0);
    const score = match.score + largest * (shareOf(above) + lineWeight * line);
    return { ...match, score: score / (1 + weight) };
  });
  const first = ranked.slice(0, candidateDepth).toSorted((a, b) => b.score - a.score);
  return [...first, ...ranked.slice(candidateDepth)];
}

function wordsOf(question: string): string[] {
  const stopWords = stopWordsOf(detectLanguage(question).language.code);
  const words = question.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.filter((word) => !stopWords.has(word));
}

/** By code of the language: at most one for each. */
const knownStopWords = new Map<string, ReadonlySet<string>>();

function stopWordsOf(code: string): ReadonlySet<string> {
  let stopWords = knownStopWords.get(code);
  if (!stopWords) knownStopWords.set(code, (stopWords = new Set((stopWordLists[code] ?? []).join(' ').split(' '))));
  return stopWords;
}

/** What a candidate contains of the question: numbers of trigrams. */
interface Found {
  readonly above: readonly number[];
  /** By line or sentence, without those of `above`. */
  readonly lines: readonly (readonly number[])[];
}

function findIn(match: VectorMatch, wanted: TrigramSet): Found {
  const { title, source, headings } = match.metadata;
  const names = [title, source, ...(Array.isArray(headings) ? (headings as unknown[]) : [])];
  const above = new Set(wanted.linesIn(names.filter((name) => typeof name === 'string').join('\n')).flat());
  return { above: [...above], lines: wanted.linesIn(recordText(match).slice(0, longestText), above) };
}

/** Returns how much each trigram counts. */
function raritiesAmong(found: readonly Found[], size: number): number[] {
  const frequencies = new Uint32Array(size);
  /** Candidate that contained a trigram last, plus 1. */
  const last = new Uint32Array(size);
  for (const [place, { above, lines }] of found.entries()) {
    for (const numbers of [above, ...lines]) {
      for (const number of numbers) {
        if (last[number] === place + 1) continue;
        last[number] = place + 1;
        (frequencies[number] as number) += 1;
      }
    }
  }
  return Array.from(frequencies, (frequency) => Math.log(1 + (found.length + 1) / (frequency + 0.5)));
}
