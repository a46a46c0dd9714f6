import { invalidOptions } from '@quiver/core/internal';
import { recordText, textAbove } from '../store/record-text.js';
import type { VectorRecord } from '../store/vector-store.js';
import { englishAnalysis, hasUnspaced, termsOf } from '../words/analysis.js';
import { detectLanguage } from '../words/detect-language.js';
import { english } from '../words/languages.js';
import { questionWords } from '../words/question-words.js';
import { stopWordLists } from '../words/stop-word-lists.js';
import { TrigramSet } from './trigram-set.js';

/** Default of `maxQuestionLength`. A search takes time for each word: megabytes would block the process for seconds. */
const defaultMaxQuestionLength = 8000;

/** @throws `OPTIONS_INVALID` for a query that is blank or longer than `maxLength` */
export function checkQuestion(question: unknown, maxLength: number = defaultMaxQuestionLength): void {
  if (typeof question !== 'string' || question.trim() === '')
    throw invalidOptions('The question is empty. Pass a text to search for.');
  if (question.length > maxLength)
    throw invalidOptions(
      `The question has ${question.length} characters, and at most ${maxLength} are searched for. Shorten it, or raise maxQuestionLength.`,
    );
}

/** A word of a query that has a subject. */
export interface QuestionWord {
  /** In lower case. */
  readonly text: string;
  /** Weight for the confidence of a passage: 1, more for a name, less for a word of questions. */
  readonly weight: number;
  /** Numbers of its trigrams, without the last one of a longer word, which is often that of a form: “quotas”. */
  readonly trigrams: readonly number[];
}

/** Trigrams of a query that a record contains, as numbers. */
export interface QuestionMatches {
  /** In title, source and headings. */
  readonly above: readonly number[];
  /** By line or sentence of its text, without those of `above`. */
  readonly lines: readonly (readonly number[])[];
}

/** Weight of a word of a name, a number or an identifier: a passage without it is about something else. */
const nameWeight = 1.5;
/** Weight of a word that questions often have, and texts rarely. */
const questionWordWeight = 0.1;
const longWord = 5;
/** Of longer questions and texts, the beginning counts. */
const longestQuestion = 1000;
const longestText = 20_000;

/**
 * A query that texts are compared with, by three letters at a time, so that “hidden” resembles “hide”, and “PostgreSQL” “postgres”, in every
 * language. The order of candidates and the confidence of passages depend on nothing else of a text.
 */
export class Question {
  readonly words: readonly QuestionWord[];
  /** Lead of the vectors of records, by id, where they have a meaning. */
  readonly standsOut: Map<string, number> = new Map<string, number>();
  readonly #trigrams = new TrigramSet();
  readonly #known = new Map<string, QuestionMatches>();

  constructor(text: string) {
    this.words = weighWords(text.slice(0, longestQuestion)).flatMap(([word, weight]) => {
      const all = this.#trigrams.add(word);
      const trigrams = word.length < longWord ? all : all.slice(0, -1);
      return trigrams.length === 0 ? [] : [{ text: word, weight, trigrams }];
    });
  }

  get size(): number {
    return this.#trigrams.size;
  }

  /** Returns the parts of the query that a record contains. Each record is read once. */
  findIn(record: Pick<VectorRecord, 'id' | 'document' | 'metadata'>): QuestionMatches {
    const matches = this.#known.get(record.id) ?? this.#read(record);
    this.#known.set(record.id, matches);
    return matches;
  }

  #read(record: Pick<VectorRecord, 'document' | 'metadata'>): QuestionMatches {
    const { title, source, headings, context } = textAbove(record.metadata);
    const above = new Set(this.#trigrams.linesIn([title, source, ...headings].join('\n')).flat());
    const parts = [context, recordText(record)].filter((part) => part !== '');
    const text = parts.join('\n').slice(0, longestText);
    return { above: [...above], lines: this.#trigrams.linesIn(text, above) };
  }
}

const tokenExpression = /(?<![\p{L}\p{N}])[\p{L}\p{N}][\p{L}\p{M}\p{N}._'’-]*/gu;
const wordExpression = /[\p{L}\p{M}\p{N}]+/gu;
const hasDigitOrHump = /\p{N}|_|\p{Ll}\p{Lu}/u;
const startsWithCapital = /^\p{Lu}/u;

/** Returns the different words of a query with their weights, without words that have no subject; all of them if there are no others. */
function weighWords(question: string): [word: string, weight: number][] {
  const { language, isCertain } = detectLanguage(question);
  const languages = isCertain ? [language] : [language, english];
  const isAmong = (list: keyof CommonWords, word: string): boolean =>
    languages.some(({ code }) => wordsOf(code)[list].has(word));
  const weights = new Map<string, number>();
  for (const { 0: token, index } of question.matchAll(tokenExpression)) {
    // Every sentence begins with a capital letter.
    const isName = hasDigitOrHump.test(token) || (index > 0 && startsWithCapital.test(token));
    for (const part of token.toLowerCase().match(wordExpression) ?? []) {
      for (const word of splitUnspaced(part)) {
        const weight = isAmong('ofQuestions', word) ? questionWordWeight : isName ? nameWeight : 1;
        weights.set(word, Math.max(weight, weights.get(word) ?? 0));
      }
    }
  }
  const all = [...weights];
  const content = all.filter(([word]) => !isAmong('stopWords', word));
  return content.length > 0 ? content : all;
}

/** Words of questions and of grammar in Chinese, which no space separates from others. */
const chineseWords = /什么时候|为什么|什么|怎么样|怎么|如何|哪里|哪个|哪些|哪|谁|多少|几|吗|呢|的|了|是/u;

/** Returns the pairs of characters of a text without spaces, or its words of a dictionary; another word itself. */
function splitUnspaced(word: string): readonly string[] {
  return hasUnspaced(word) ? word.split(chineseWords).flatMap((part) => termsOf(part, englishAnalysis())) : [word];
}

interface CommonWords {
  readonly stopWords: ReadonlySet<string>;
  readonly ofQuestions: ReadonlySet<string>;
}

/** By code of the language: at most one for each. */
const knownWords = new Map<string, CommonWords>();

function wordsOf(code: string): CommonWords {
  const toSet = (words = ''): ReadonlySet<string> => new Set(words.split(' '));
  const words = knownWords.get(code) ?? {
    stopWords: toSet(stopWordLists[code]?.join(' ')),
    ofQuestions: toSet(questionWords[code]),
  };
  knownWords.set(code, words);
  return words;
}
